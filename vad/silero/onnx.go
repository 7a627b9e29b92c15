package silero

import (
	"encoding/binary"
	"fmt"
	"math"
)

// tensor is one named float32 initialiser of an ONNX graph.
type tensor struct {
	dims []int
	data []float32
}

// Field numbers of onnx.proto, the only ones read here.
const (
	modelGraph       = 7
	graphInitializer = 5
	tensorDims       = 1
	tensorDataType   = 2
	tensorName       = 8
	tensorRawData    = 9

	dataTypeFloat = 1
)

// Wire types of the protocol buffers encoding.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// readInitialisers returns the float32 initialisers of the main graph in an ONNX file. Everything else is skipped.
func readInitialisers(model []byte) (map[string]tensor, error) {
	out := make(map[string]tensor)
	err := eachField(model, func(field int, _ uint64, graph []byte) error {
		if field != modelGraph {
			return nil
		}
		return eachField(graph, func(field int, _ uint64, init []byte) error {
			if field != graphInitializer {
				return nil
			}
			name, t, err := readTensor(init)
			if err == nil && t.data != nil {
				out[name] = t
			}
			return err
		})
	})
	return out, err
}

func readTensor(b []byte) (name string, t tensor, err error) {
	var raw []byte
	var dataType uint64
	err = eachField(b, func(field int, v uint64, data []byte) error {
		switch field {
		case tensorDims:
			if data == nil {
				t.dims = append(t.dims, int(v))
				return nil
			}
			for len(data) > 0 { // packed
				d, n := binary.Uvarint(data)
				if n <= 0 {
					return fmt.Errorf("%w: dimension", ErrFormat)
				}
				t.dims, data = append(t.dims, int(d)), data[n:]
			}
		case tensorDataType:
			dataType = v
		case tensorName:
			name = string(data)
		case tensorRawData:
			raw = data
		}
		return nil
	})
	if err != nil || dataType != dataTypeFloat || len(raw)%4 != 0 {
		return name, t, err
	}
	t.data = make([]float32, len(raw)/4)
	for i := range t.data {
		t.data[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return name, t, nil
}

// eachField calls f for every field of one protocol buffers message: v for varints, data (never nil) for bytes.
func eachField(b []byte, f func(field int, v uint64, data []byte) error) error {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return fmt.Errorf("%w: field key", ErrFormat)
		}
		b = b[n:]
		var v uint64
		var data []byte
		switch key & 7 {
		case wireVarint:
			if v, n = binary.Uvarint(b); n <= 0 {
				return fmt.Errorf("%w: varint", ErrFormat)
			}
		case wireFixed64:
			n = 8
		case wireFixed32:
			n = 4
		case wireBytes:
			size, m := binary.Uvarint(b)
			if m <= 0 || size > uint64(len(b)-m) {
				return fmt.Errorf("%w: length", ErrFormat)
			}
			n = m + int(size)
			data = b[m:n:n]
		default:
			return fmt.Errorf("%w: wire type", ErrFormat)
		}
		if n > len(b) {
			return fmt.Errorf("%w: cut short", ErrFormat)
		}
		b = b[n:]
		if err := f(int(key>>3), v, data); err != nil {
			return err
		}
	}
	return nil
}
