package wav

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
	"time"
)

func chunk(id string, size uint32, body []byte) []byte {
	b := append([]byte(id), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[4:], size)
	return append(b, body...)
}

func fmtBody(tag, channels uint16, rate uint32, bits uint16) []byte {
	b := binary.LittleEndian.AppendUint16(nil, tag)
	b = binary.LittleEndian.AppendUint16(b, channels)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate*uint32(channels)*uint32(bits)/8)
	b = binary.LittleEndian.AppendUint16(b, channels*bits/8)
	return binary.LittleEndian.AppendUint16(b, bits)
}

func file(chunks ...[]byte) []byte {
	b := []byte("RIFF\xff\xff\xff\xffWAVE") // the outer size lies; nobody needs it
	for _, c := range chunks {
		b = append(b, c...)
	}
	return b
}

func mono(rate uint32) []byte { return chunk("fmt ", 16, fmtBody(1, 1, rate, 16)) }

func TestReadsEveryRateOpusTakes(t *testing.T) {
	for _, rate := range []uint32{8000, 16000, 24000, 48000} {
		data := make([]byte, rate/5*2) // 200 ms
		data[0] = 7
		a, err := Read(bytes.NewReader(file(chunk("LIST", 3, []byte("abc\x00")), mono(rate), chunk("data", uint32(len(data)), data))))
		if err != nil {
			t.Fatalf("%d Hz: %v", rate, err)
		}
		if a.Rate != int(rate) || a.Duration() != 200*time.Millisecond || a.PCM[0] != 7 {
			t.Fatalf("%d Hz: read as %d Hz, %v", rate, a.Rate, a.Duration())
		}
	}
}

func TestStereoIsMixedDown(t *testing.T) {
	body := binary.LittleEndian.AppendUint16(nil, 100)
	right := int16(-300)
	body = binary.LittleEndian.AppendUint16(body, uint16(right))
	a, err := Read(bytes.NewReader(file(chunk("fmt ", 16, fmtBody(1, 2, 48000, 16)), chunk("data", 4, body))))
	if err != nil || len(a.PCM) != 1 || a.PCM[0] != -100 {
		t.Fatalf("got %v, %v", a, err)
	}
}

func TestStreamedFileRunsToItsEnd(t *testing.T) {
	for _, size := range []uint32{0, 0x7FFFFFFF, 0xFFFFFFFF} {
		a, err := Read(bytes.NewReader(file(mono(8000), chunk("data", size, make([]byte, 1600)))))
		if err != nil || a.Duration() != 100*time.Millisecond {
			t.Fatalf("size %#x: %v, %v", size, a, err)
		}
	}
}

func TestHostileHeaders(t *testing.T) {
	ext := append(fmtBody(0xFFFE, 1, 16000, 16), make([]byte, 24)...)
	ext[24] = 3 // IEEE float inside the extensible form
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"empty":               {nil, ErrNotWAV},
		"not riff":            {[]byte("OggS00000000000000000"), ErrNotWAV},
		"riff only":           {[]byte("RIFF"), ErrNotWAV},
		"no chunks":           {file(), ErrNotWAV},
		"fmt too small":       {file(chunk("fmt ", 4, make([]byte, 4))), ErrNotWAV},
		"fmt huge":            {file(chunk("fmt ", 0xFFFFFFFF, nil)), ErrNotWAV},
		"fmt cut":             {file(chunk("fmt ", 16, make([]byte, 3))), ErrTruncated},
		"extensible short":    {file(chunk("fmt ", 16, fmtBody(0xFFFE, 1, 16000, 16))), ErrNotWAV},
		"extensible float":    {file(chunk("fmt ", 40, ext)), ErrFormat},
		"float":               {file(chunk("fmt ", 16, fmtBody(3, 1, 16000, 32))), ErrFormat},
		"8 bits":              {file(chunk("fmt ", 16, fmtBody(1, 1, 16000, 8))), ErrFormat},
		"no channel":          {file(chunk("fmt ", 16, fmtBody(1, 0, 16000, 16))), ErrFormat},
		"6 channels":          {file(chunk("fmt ", 16, fmtBody(1, 6, 16000, 16))), ErrFormat},
		"rate zero":           {file(chunk("fmt ", 16, fmtBody(1, 1, 0, 16))), ErrRate},
		"cd rate":             {file(chunk("fmt ", 16, fmtBody(1, 1, 44100, 16))), ErrRate},
		"data before fmt":     {file(chunk("data", 2, []byte{1, 2})), ErrNotWAV},
		"no data":             {file(mono(8000)), ErrNotWAV},
		"data cut":            {file(mono(8000), chunk("data", 1000, make([]byte, 10))), ErrTruncated},
		"data of half a word": {file(mono(8000), chunk("data", 1, []byte{1})), ErrEmpty},
		"data empty":          {file(mono(8000), chunk("data", 0, nil)), ErrEmpty},
		"data claims hours":   {file(mono(8000), chunk("data", 0x7FFFFE00, make([]byte, 10))), ErrTooLong},
		"skip runs past end":  {file(mono(8000), chunk("junk", 0xFFFFFFFF, make([]byte, 10))), ErrTruncated},
	} {
		if a, err := Read(bytes.NewReader(c.data)); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, %v; want %v", name, a, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file(mono(8000), chunk("data", 4, make([]byte, 4))))
	f.Add(file(chunk("fmt ", 16, fmtBody(1, 2, 48000, 16)), chunk("data", 0, make([]byte, 8))))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := Read(bytes.NewReader(b)); err == nil && len(a.PCM) == 0 {
			t.Fatal("no error and no sound")
		}
	})
}
