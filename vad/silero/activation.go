package silero

import "math"

// exp is e^x in float32: range reduction by ln 2 in two parts, then a polynomial of degree 6. Relative error below
// 2e-7 over the clamped range, which covers all that a float32 sigmoid or tanh can tell from its limit.
func exp(x float32) float32 {
	x = min(max(x, -87), 87)
	n := x*math.Log2E + 0.5
	k := int32(n)
	if n < 0 {
		k-- // towards minus infinity
	}
	f := float32(k)
	x -= f * 0.693359375
	x -= f * -2.12194440e-4
	p := float32(1.0/720)*x + 1.0/120
	p = p*x + 1.0/24
	p = p*x + 1.0/6
	p = p*x + 0.5
	p = p*x + 1
	p = p*x + 1
	return p * math.Float32frombits(uint32(k+127)<<23)
}

// sigmoid and tanh take their exponential ready-made: of minus their argument, and of twice their argument.
func sigmoid(expMinusX float32) float32 { return 1 / (1 + expMinusX) }

func tanh(expTwiceX float32) float32 { return 1 - 2/(1+expTwiceX) }
