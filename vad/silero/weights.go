package silero

import "fmt"

// The network at 16 kHz, as its ONNX graph has it: 576 samples, reflected by 64 on the right; a short-time Fourier
// transform as a convolution (256 wide, hop 128: 4 frames of 129 magnitudes); four convolutions of width 3 with ReLU
// (strides 1, 2, 2, 1: 4, 2, 1, 1 frames of 128, 64, 64, 128 channels); one LSTM cell; one dense layer; a sigmoid.
const (
	context  = 64  // samples of the previous window before each window
	hop      = 128 // samples between frames
	basisLen = 256 // samples per frame
	frames   = 4
	bins     = 129
	binGroup = panelRows / 2 // bins per panel: their real parts, then their imaginary parts
	binPad   = (bins + binGroup - 1) / binGroup * binGroup
	ch1      = 128
	ch2      = 64
	ch3      = 64
	ch4      = 128
	hidden   = 128
	gates    = 4 * hidden // input, forget, cell, output
)

// layer is a matrix in panels of panelRows rows: [row / panelRows][column][row % panelRows], with its bias by row.
type layer struct {
	w, bias []float32
	cols    int
}

// newLayer packs rows × cols weights given by at. rows is a multiple of panelRows.
func newLayer(rows, cols int, at func(r, c int) float32, bias func(r int) float32) layer {
	l := layer{w: make([]float32, rows*cols), bias: make([]float32, rows), cols: cols}
	for r := range rows {
		for c := range cols {
			l.w[(r/panelRows*cols+c)*panelRows+r%panelRows] = at(r, c)
		}
		if bias != nil {
			l.bias[r] = bias(r)
		}
	}
	return l
}

// network is every weight, read-only.
type network struct {
	stft                       layer // rows in groups of binGroup real parts and the same bins' imaginary parts
	conv1, conv2, conv3, conv4 layer // columns: tap by tap, channels within; taps that only ever meet padding left out
	lstm                       layer // columns: input, then hidden state; rows scaled, see newNetwork
	out                        [hidden]float32
	outBias                    float32
}

func newNetwork(t map[string]tensor) (*network, error) {
	var bad string
	get := func(name string, dims ...int) []float32 {
		name = "model." + name
		v, ok := t[name]
		size := 1
		for i, d := range dims {
			ok = ok && i < len(v.dims) && v.dims[i] == d
			size *= d
		}
		if !ok || len(v.dims) != len(dims) || len(v.data) != size {
			if bad == "" {
				bad = name
			}
			return make([]float32, size)
		}
		return v.data
	}
	n := &network{}

	basis := get("stft.forward_basis_buffer", 2*bins, 1, basisLen)
	n.stft = newLayer(2*binPad, basisLen, func(r, c int) float32 {
		bin := r/panelRows*binGroup + r%binGroup
		if bin >= bins {
			return 0
		}
		if r%panelRows >= binGroup {
			bin += bins
		}
		return basis[bin*basisLen+c]
	}, nil)

	conv := func(i, out, in, firstTap, taps int) layer {
		w := get(fmt.Sprintf("encoder.%d.reparam_conv.weight", i), out, in, 3)
		b := get(fmt.Sprintf("encoder.%d.reparam_conv.bias", i), out)
		return newLayer(out, in*taps, func(r, c int) float32 {
			return w[(r*in+c%in)*3+firstTap+c/in]
		}, func(r int) float32 { return b[r] })
	}
	n.conv1 = conv(0, ch1, bins, 0, 3)
	n.conv2 = conv(1, ch2, ch1, 0, 3)
	n.conv3 = conv(2, ch3, ch2, 1, 2) // two frames in, one out: the first tap meets the padding
	n.conv4 = conv(3, ch4, ch3, 1, 1) // one frame in, one out

	wi, wh := get("decoder.rnn.weight_ih", gates, hidden), get("decoder.rnn.weight_hh", gates, hidden)
	bi, bh := get("decoder.rnn.bias_ih", gates), get("decoder.rnn.bias_hh", gates)
	scale := func(r int) float32 { // exact: what sigmoid and tanh need the exponential of
		if r/hidden == 2 {
			return 2
		}
		return -1
	}
	n.lstm = newLayer(gates, 2*hidden, func(r, c int) float32 {
		if c < hidden {
			return scale(r) * wi[r*hidden+c]
		}
		return scale(r) * wh[r*hidden+c-hidden]
	}, func(r int) float32 { return scale(r) * (bi[r] + bh[r]) })

	copy(n.out[:], get("decoder.decoder.2.weight", 1, hidden, 1))
	n.outBias = get("decoder.decoder.2.bias", 1)[0]
	if bad != "" {
		return nil, fmt.Errorf("%w: %s", ErrFormat, bad)
	}
	return n, nil
}
