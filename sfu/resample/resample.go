package resample

/*
#cgo pkg-config: speexdsp
#include <speex/speex_resampler.h>

// resample_run converts n samples and returns how many came out. The room is always enough, so all are consumed.
static int resample_run(SpeexResamplerState *st, const spx_int16_t *in, int n, spx_int16_t *out, int room) {
	spx_uint32_t consumed = n, made = room;
	if (speex_resampler_process_int(st, 0, in, &consumed, out, &made) != RESAMPLER_ERR_SUCCESS || (int)consumed != n)
		return -1;
	return made;
}

#cgo noescape resample_run
#cgo nocallback resample_run
*/
import "C"

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

const (
	// quality is speexdsp's, 0 to 10; doc.go has the measurements behind it.
	quality = 5
	maxRate = 192000
)

// Resampler converts one stream. Not safe for concurrent use. Its memory outside Go's heap (about 10 KB) is given
// back when it is no longer referenced.
type Resampler struct {
	st      *C.SpeexResamplerState // nil when the rates are equal
	in, out int
	delay   int // of the filter, in input samples
	zeros   []int16
}

// New starts a converter between two rates in Hz. Error: ErrRate.
func New(in, out int) (*Resampler, error) {
	if in <= 0 || out <= 0 || in > maxRate || out > maxRate {
		return nil, fmt.Errorf("%w: %d to %d Hz", ErrRate, in, out)
	}
	r := &Resampler{in: in, out: out}
	if in == out {
		return r, nil
	}
	var code C.int
	r.st = C.speex_resampler_init(1, C.spx_uint32_t(in), C.spx_uint32_t(out), quality, &code)
	if r.st == nil {
		return nil, fmt.Errorf("%w: %d to %d Hz: %s", ErrRate, in, out, C.GoString(C.speex_resampler_strerror(code)))
	}
	r.delay = int(C.speex_resampler_get_input_latency(r.st))
	runtime.AddCleanup(r, func(st *C.SpeexResamplerState) { C.speex_resampler_destroy(st) }, r.st)
	return r, nil
}

// Append converts src and appends the result to dst. Chunks may have any size: the output is the same as for one
// piece. In total n input samples have given n*out/in output samples, rounded up. It allocates only when dst has too
// little capacity.
func (r *Resampler) Append(dst, src []int16) []int16 {
	if r.st == nil {
		return append(dst, src...)
	}
	if len(src) == 0 {
		return dst
	}
	room := len(src)*r.out/r.in + 2
	dst = slices.Grow(dst, room)
	n := len(dst)
	made := C.resample_run(r.st, (*C.spx_int16_t)(&src[0]), C.int(len(src)), (*C.spx_int16_t)(&dst[n : n+1][0]), C.int(room))
	runtime.KeepAlive(r) // the cleanup must not free the state under the call
	return dst[:n+max(int(made), 0)]
}

// Flush appends what is still inside the filter, Delay of audio, and leaves silence behind.
func (r *Resampler) Flush(dst []int16) []int16 {
	if r.zeros == nil {
		r.zeros = make([]int16, r.delay)
	}
	return r.Append(dst, r.zeros)
}

// Delay is how much later a sound comes out than it went in.
func (r *Resampler) Delay() time.Duration {
	return time.Duration(r.delay) * time.Second / time.Duration(r.in)
}

// Reset forgets the past, as at the start of an unrelated stream.
func (r *Resampler) Reset() {
	if r.st != nil {
		C.speex_resampler_reset_mem(r.st)
		runtime.KeepAlive(r)
	}
}
