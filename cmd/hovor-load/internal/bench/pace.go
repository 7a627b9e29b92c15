package bench

import (
	"context"
	"time"

	"github.com/pion/rtp"

	"hovor/cmd/hovor-load/internal/clip"
	"hovor/cmd/hovor-load/internal/measure"
)

type rtpWriter interface {
	WriteRTP(*rtp.Packet) error
}

// stream sends marked packets in a circle, one every 20 ms of an absolute schedule that begins now, until ctx ends or the line is gone.
func stream(ctx context.Context, out rtpWriter, packets [][]byte, f *flow, id uint32, late *measure.Hist) {
	// Each stream writes its marks into packets of its own.
	own := make([][]byte, len(packets))
	for i, p := range packets {
		own[i] = append([]byte(nil), p...)
	}
	p := &rtp.Packet{Header: rtp.Header{Version: 2, Marker: true}}
	timer := time.NewTimer(0)
	defer timer.Stop()
	start := time.Now()
	for k := 0; ; k++ {
		due := start.Add(time.Duration(k) * clip.Frame)
		timer.Reset(time.Until(due))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		p.Payload = own[k%len(own)]
		late.Add(time.Since(due))
		f.leave(p.Payload, id, uint32(k+1))
		if out.WriteRTP(p) != nil {
			return
		}
		p.SequenceNumber++
		p.Timestamp += 960
		p.Marker = false
	}
}
