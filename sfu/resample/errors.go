package resample

import "errors"

// ErrRate: a sample rate is zero, negative or larger than speexdsp's arithmetic takes (192 kHz here).
var ErrRate = errors.New("bad sample rate")
