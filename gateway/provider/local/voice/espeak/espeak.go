package espeak

/*
#cgo LDFLAGS: -ldl -lpthread
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"hovor/gateway/provider/local/voice"
)

// one is held while the library speaks: it has one state per process.
var one sync.Mutex

// Voice speaks with eSpeak NG.
type Voice struct {
	rate int // Hz the library makes
}

// New opens the library. Error: ErrMissing, which names the package.
func New() (*Voice, error) {
	one.Lock()
	defer one.Unlock()
	var rate C.int
	if why := C.hs_espeak_open(&rate); why != nil {
		return nil, fmt.Errorf("%w: install it with apt-get install libespeak-ng1 espeak-ng-data: %s", ErrMissing, C.GoString(why))
	}
	return &Voice{rate: int(rate)}, nil
}

// wordsPerMinute at speed 1: brisk, but clear to a person who does not speak the language as their first.
const wordsPerMinute = 160

// languages the library is asked for, by ours.
var languages = map[string]string{"en": "en-us", "cs": "cs", "de": "de", "ru": "ru"}

// female are the voice names of the Realtime API that are spoken with a female variant.
var female = map[string]bool{"marin": true, "coral": true, "sage": true, "shimmer": true, "nova": true, "ballad": true}

// Speak implements voice.Voice.
func (v *Voice) Speak(ctx context.Context, s voice.Sentence) (*voice.Speech, error) {
	name, ok := languages[s.Language]
	if !ok {
		name = languages["en"]
	}
	pitch := 45
	if female[s.Variant] {
		name, pitch = name+"+f2", 55
	}
	speed := s.Speed
	if speed == 0 {
		speed = 1
	}
	raw, words, err := v.synthesize(ctx, name, s.Text, int(wordsPerMinute*speed), pitch)
	if err != nil {
		return nil, err
	}
	speech := &voice.Speech{PCM: voice.Resample(raw, v.rate, voice.Rate)}
	speech.Words = align(s.Text, words, speech.Duration())
	return speech, nil
}

func (v *Voice) synthesize(ctx context.Context, name, text string, rate, pitch int) ([]int16, []mark, error) {
	one.Lock()
	defer one.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	stop := (*C.int)(C.calloc(1, C.sizeof_int))
	defer C.free(unsafe.Pointer(stop))
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-ctx.Done():
			atomic.StoreInt32((*int32)(unsafe.Pointer(stop)), 1)
		case <-done:
		}
	})
	defer watch.Wait()
	defer close(done)

	cname, ctext := C.CString(name), C.CString(text)
	defer C.free(unsafe.Pointer(cname))
	defer C.free(unsafe.Pointer(ctext))
	var pcm *C.int16_t
	var words *C.hs_word
	var samples, count C.size_t
	rc := C.hs_speak(cname, ctext, C.int(max(80, min(rate, 450))), C.int(pitch), &pcm, &samples, &words, &count, stop)
	defer C.free(unsafe.Pointer(pcm))
	defer C.free(unsafe.Pointer(words))
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if rc != 0 {
		return nil, nil, fmt.Errorf("%w: voice %s: code %d", ErrSpeak, name, int(rc))
	}
	out := make([]int16, int(samples))
	for i, s := range unsafe.Slice((*int16)(unsafe.Pointer(pcm)), int(samples)) {
		out[i] = s
	}
	marks := make([]mark, int(count))
	for i, w := range unsafe.Slice(words, int(count)) {
		marks[i] = mark{char: int(w.text) - 1, ms: int(w.ms)}
	}
	return out, marks, nil
}
