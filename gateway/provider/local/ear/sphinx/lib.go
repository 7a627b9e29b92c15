package sphinx

/*
#cgo LDFLAGS: -ldl -lpthread
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"unsafe"
)

const (
	searchCommand = "command"
	searchSounds  = "sounds"
)

// open loads the library. It is cheap after the first time.
func open() error {
	if why := C.hs_open(); why != nil {
		return fmt.Errorf("%w: install libpocketsphinx3 (apt-get install libpocketsphinx3): %s", ErrMissing, C.GoString(why))
	}
	return nil
}

// decoder is one PocketSphinx decoder. It serves one utterance at a time.
type decoder struct{ ps unsafe.Pointer }

func newDecoder(hmm, dict string, grammars map[string]string) (*decoder, error) {
	chmm, cdict := C.CString(hmm), C.CString(dict)
	defer C.free(unsafe.Pointer(chmm))
	defer C.free(unsafe.Pointer(cdict))
	ps := C.hs_new(chmm, cdict)
	if ps == nil {
		return nil, fmt.Errorf("%w: the decoder did not start with the model in %s", ErrMissing, hmm)
	}
	d := &decoder{ps: ps}
	for name, text := range grammars {
		cname, ctext := C.CString(name), C.CString(text)
		rc := C.hs_grammar(ps, cname, ctext)
		C.free(unsafe.Pointer(cname))
		C.free(unsafe.Pointer(ctext))
		if rc != 0 {
			d.close()
			return nil, fmt.Errorf("%w: %s", ErrGrammar, name)
		}
	}
	return d, nil
}

func (d *decoder) close() {
	if d.ps != nil {
		C.hs_free(d.ps)
		d.ps = nil
	}
}

// segment is one word, or silence, of a hypothesis.
type segment struct {
	word        string
	first, last int // 10 ms frames, inclusive
	score       int // acoustic, in the library's log units
	silence     bool
}

const maxSegments = 1024

// decode searches one whole utterance. The text is empty when the grammar's end was not reached.
func (d *decoder) decode(search string, pcm []int16) (string, []segment, error) {
	if len(pcm) == 0 {
		return "", nil, nil
	}
	name := C.CString(search)
	defer C.free(unsafe.Pointer(name))
	var hyp [4096]C.char
	raw := make([]C.hs_segment, maxSegments)
	n := int(C.hs_decode(d.ps, name, (*C.int16_t)(unsafe.Pointer(&pcm[0])), C.size_t(len(pcm)),
		&hyp[0], C.size_t(len(hyp)), &raw[0], maxSegments))
	if n < 0 {
		return "", nil, ErrDecode
	}
	segments := make([]segment, n)
	for i, s := range raw[:n] {
		segments[i] = segment{C.GoString(&s.word[0]), int(s.first), int(s.last), int(s.score), s.silence != 0}
	}
	return C.GoString(&hyp[0]), segments, nil
}
