// Package resample changes the sample rate of a mono stream of 16-bit PCM, chunk by chunk, through speexdsp.
//
// It owns filter state and nothing else: no codecs, no clocks, no goroutines. Opus needs it nowhere (libopus codes and
// decodes at 8, 16, 24 and 48 kHz by itself); it stands between G.711's 8 kHz and everybody else's rates.
//
// Why speexdsp. Measured on one core (EPYC, gcc -O2), 20 ms chunks, 24 to 8 kHz:
//
//	library, quality      µs/chunk  delay ms  at 3.4 kHz  at 3.7 kHz  alias of 4.3 kHz
//	speexdsp 3                3.8       3.0     -1.0 dB    -11.9 dB       -90 dB
//	speexdsp 5 (ours)         6.1       5.0      0.0 dB     -5.5 dB   below 16 bit
//	speexdsp 6                7.2       6.0      0.0 dB     -1.6 dB   below 16 bit
//	speexdsp 10              49        16        0.0 dB      0.0 dB   below 16 bit
//	soxr low                  2.2      40 *     -7.8 dB    -27.0 dB       -86 dB
//	soxr high                 3.1      73 *      0.0 dB      0.0 dB       -86 dB
//	libsamplerate fastest    47         2.4     -8.8 dB    -27.6 dB   below 16 bit
//	libsamplerate medium     72         5.8      0.0 dB     -6.3 dB   below 16 bit
//
// (*) withheld in blocks: a conversation cannot wait that long. speexdsp withholds nothing: n milliseconds in are n
// milliseconds out, shifted by half the filter. Quality 5 is flat to 3.4 kHz, G.711's band, and the next step costs
// another millisecond for what lies above it. libspeexdsp is one package of 41 KB with no dependency but libc.
package resample
