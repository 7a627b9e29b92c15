package sfu

import (
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"hovor/sfu/g711"
	"hovor/sfu/transcode"
)

// narrow lets a peer that speaks G.711 pass for one that speaks Opus: what comes in is handed out as Opus, what is
// written as Opus goes out as G.711. So taps, forwarders, gates and upstreams know one codec only.
type narrow struct {
	in, out *transcode.Stream
}

// speaks sets the peer up for its codec, before anything comes or goes.
func (p *Peer) speaks(c Codec) error {
	p.in.packet = p.handlers.Packet
	p.in.clock, p.out.clock, p.out.mime = c.ClockRate, c.ClockRate, c.MimeType
	if c.MimeType == webrtc.MimeTypeOpus || p.handlers.Native {
		return nil
	}
	law := g711.MuLaw
	if c.MimeType == webrtc.MimeTypePCMA {
		law = g711.ALaw
	}
	out, err := transcode.FromOpus(law, func(pkt *rtp.Packet, _ time.Time) { _ = p.out.write(pkt) }) // it counts its errors
	if err != nil {
		return err
	}
	p.narrow = &narrow{out: out}
	if p.handlers.Packet == nil {
		return nil
	}
	if p.narrow.in, err = transcode.ToOpus(law, p.handlers.Packet); err != nil {
		return err
	}
	p.in.packet = p.narrow.in.Convert
	return nil
}

// clockTime turns timestamp units of a clock into time.
func clockTime(n, clock uint32) time.Duration {
	if clock == 0 {
		return 0
	}
	return time.Duration(n) * time.Second / time.Duration(clock)
}
