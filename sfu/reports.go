package sfu

import (
	"sync"
	"time"

	"github.com/pion/rtcp"
)

// Reports go out from one clock for all peers: a ticker per peer would wake the process for nothing. Each peer is
// served every reportEvery; reportSlots spreads them over that time.
const (
	reportEvery = 2 * time.Second // often enough for a live round-trip figure; RFC 3550's 5 s is a minimum for groups
	reportSlots = 20
)

// reportClock sends sender and receiver reports for every connected peer.
type reportClock struct {
	mu    sync.Mutex
	slots [reportSlots]map[*Peer]*reporter
	count int
	next  int           // slot of the next peer
	quit  chan struct{} // non-nil while the clock runs
	done  chan struct{}
}

// reporter is what one peer's reports remember between two of them. It belongs to the clock.
type reporter struct {
	slot     int
	sent     uint64 // packets out at the last report
	ts       uint32 // RTP time at the last report
	at       time.Time
	expected uint32
	received uint64
	source   uint32
}

func newReportClock() *reportClock { return &reportClock{} }

func (c *reportClock) add(p *Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.slots {
		if c.slots[i][p] != nil {
			return
		}
	}
	slot := c.next
	c.next = (c.next + 1) % reportSlots
	if c.slots[slot] == nil {
		c.slots[slot] = make(map[*Peer]*reporter)
	}
	c.slots[slot][p] = &reporter{slot: slot}
	if c.count++; c.quit == nil {
		c.quit, c.done = make(chan struct{}), make(chan struct{})
		go c.run(c.quit, c.done)
	}
}

func (c *reportClock) remove(p *Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.slots {
		if c.slots[i][p] != nil {
			delete(c.slots[i], p)
			c.count--
		}
	}
	if c.count == 0 && c.quit != nil {
		close(c.quit)
		c.quit = nil
	}
}

// stop waits for the clock to end.
func (c *reportClock) stop() {
	c.mu.Lock()
	if c.quit != nil {
		close(c.quit)
		c.quit = nil
	}
	done := c.done
	c.mu.Unlock()
	if done != nil {
		<-done
	}
}

func (c *reportClock) run(quit, done chan struct{}) {
	defer close(done)
	t := time.NewTicker(reportEvery / reportSlots)
	defer t.Stop()
	var due []*Peer
	var state []*reporter
	for slot := 0; ; slot = (slot + 1) % reportSlots {
		select {
		case <-quit:
			return
		case <-t.C:
		}
		due, state = due[:0], state[:0]
		c.mu.Lock()
		for p, r := range c.slots[slot] {
			due, state = append(due, p), append(state, r)
		}
		c.mu.Unlock()
		for i, p := range due {
			p.report(state[i], time.Now())
		}
	}
}

// report sends one compound packet. The library refuses after the end; that is no news.
func (p *Peer) report(r *reporter, now time.Time) {
	ssrc := p.out.ssrc()
	if ssrc == 0 {
		return
	}
	var reports []rtcp.ReceptionReport
	if rr, ok := p.in.reception(r, now); ok {
		reports = []rtcp.ReceptionReport{rr}
	}
	var first rtcp.Packet = &rtcp.ReceiverReport{SSRC: ssrc, Reports: reports}
	if sent := p.out.packets.Load(); sent > 0 {
		ts := p.out.lastTS.Load()
		if sent == r.sent { // nothing since the last report: the media clock went on
			ts = r.ts + uint32(now.Sub(r.at).Milliseconds()*int64(p.out.clock/1000))
		}
		r.sent, r.ts, r.at = sent, ts, now
		first = &rtcp.SenderReport{
			SSRC: ssrc, NTPTime: ntp(now), RTPTime: ts,
			PacketCount: uint32(sent), OctetCount: uint32(p.out.bytes.Load()), Reports: reports,
		}
	}
	_ = p.pc.WriteRTCP([]rtcp.Packet{first, &rtcp.SourceDescription{Chunks: []rtcp.SourceDescriptionChunk{{
		Source: ssrc, Items: []rtcp.SourceDescriptionItem{{Type: rtcp.SDESCNAME, Text: "hovor"}},
	}}}})
}

// reception is our report on the far side's stream (RFC 3550 section 6.4.1, appendix A.3).
func (in *inbound) reception(r *reporter, now time.Time) (rtcp.ReceptionReport, bool) {
	received := in.packets.Load()
	if received == 0 {
		return rtcp.ReceptionReport{}, false
	}
	source, top := in.source.Load(), in.top.Load()
	if r.source != source {
		r.source, r.expected, r.received = source, 0, 0
	}
	expected := top + 1
	fraction := uint8(0)
	if e, g := int64(expected-r.expected), int64(received-r.received); e > 0 && e > g {
		fraction = uint8(min((e-g)<<8/e, 255))
	}
	r.expected, r.received = expected, received
	rr := rtcp.ReceptionReport{
		SSRC: source, FractionLost: fraction, Jitter: in.jitter.Load(),
		TotalLost:          uint32(max(min(in.lost(), 0x7fffff), 0)),
		LastSequenceNumber: top + in.firstSeq.Load(),
	}
	if at := in.srAt.Load(); at != 0 {
		rr.LastSenderReport = in.sr.Load()
		rr.Delay = uint32((now.UnixNano() - at) * 65536 / int64(time.Second))
	}
	return rr, true
}

// ntp is RFC 5905's 64-bit timestamp: seconds since 1900 and a binary fraction.
func ntp(t time.Time) uint64 {
	const since1900 = 2208988800
	ns := uint64(t.UnixNano())
	s, f := ns/1e9, ns%1e9
	return (s+since1900)<<32 | f<<32/1e9
}

// ntpMiddle is the middle half of an NTP timestamp, the form that reports use.
func ntpMiddle(t time.Time) uint32 { return uint32(ntp(t) >> 16) }
