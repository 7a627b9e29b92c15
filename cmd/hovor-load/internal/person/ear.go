package person

import (
	"sync"
	"time"

	"github.com/pion/rtp"

	"hovor/cmd/hovor-load/internal/clip"
)

// Decoder turns one Opus packet into 16 kHz mono samples.
type Decoder interface {
	Decode(packet []byte, pcm []int16) (samples int, err error)
}

const (
	earRate      = 16000
	earWindow    = 5 * time.Millisecond // resolution of what is audible
	earSamples   = earRate / 200
	opusClock    = 48000
	mergeGap     = 60 * time.Millisecond  // audible windows closer than this are one span
	anchorQuiet  = 200 * time.Millisecond // after so much silence the line's clock is set anew
	anchorLate   = 200 * time.Millisecond // a packet later than this cannot be jitter
	anchorJump   = 2 * opusClock          // a timestamp jump that no burst explains
	stallAfter   = 40 * time.Millisecond  // two frames: beyond, a listener with a usual buffer hears a hole
	maxFrame     = earRate * 120 / 1000   // longest Opus packet
	maxSpans     = 512
	spurtArrival = 100 * time.Millisecond // packets further apart start a new stream of audio
)

// Span is a stretch in which the assistant was audible.
type Span struct {
	Start, End time.Time
	Stream     time.Time // arrival of the first packet of the packet stream that the span began in; zero if it runs since before
}

// Ear listens like a player without a jitter buffer: a sample is heard at its place on the line's clock, which the first packet after a
// silence sets, or when it arrives, whichever is later. Audio that arrives in a burst is therefore heard over its length, as a person hears
// it, and a late packet delays nothing but itself.
//
// Packet is called by one media goroutine; everything else may be called by any.
type Ear struct {
	fresh     func() (Decoder, error)
	decoder   Decoder
	threshold float64 // dBFS
	board     *Board
	changed   chan struct{}

	// Only the media goroutine touches these.
	pcm      [maxFrame]int16
	anchored bool
	anchorAt time.Time
	anchorTS uint32
	lastTS   uint32
	lastAt   time.Time
	streamAt time.Time
	lastEnd  time.Time
	started  bool
	highest  uint16
	jitter   float64 // RFC 3550 section 6.4.1, in seconds
	transit  time.Duration
	epoch    time.Time

	mu    sync.Mutex // guards what follows
	spans []Span
	stats EarStats
}

// EarStats counts what came over the line.
type EarStats struct {
	Received, Lost, Late, Duplicate, Undecodable, Stalls uint64
	First                                                time.Time     // arrival of the first packet
	Jitter                                               time.Duration // RFC 3550, at the last packet
}

// NewEar makes an ear that calls sound at or above threshold dBFS audible. fresh makes a decoder: one for each stream of packets, because
// the tail that a decoder keeps of a cut answer would otherwise be heard at the beginning of the next one.
func NewEar(fresh func() (Decoder, error), threshold float64, b *Board) (*Ear, error) {
	d, err := fresh()
	if err != nil {
		return nil, err
	}
	return &Ear{fresh: fresh, decoder: d, threshold: threshold, board: b, changed: make(chan struct{}, 1)}, nil
}

// Packet takes one packet that arrived at a time.
func (e *Ear) Packet(p *rtp.Packet, at time.Time) {
	lost, ok := e.sequence(p.SequenceNumber)
	if !ok {
		return
	}
	if e.lastAt.IsZero() || at.Sub(e.lastAt) > spurtArrival || p.Marker {
		e.streamAt = at
		if d, err := e.fresh(); err == nil && !e.lastAt.IsZero() {
			e.decoder = d
		}
	}
	e.measureJitter(p.Timestamp, at)
	heard, late := e.place(p, at)
	stalled := lost > 0 || late > stallAfter
	audible := e.decode(p.Payload, heard)

	e.mu.Lock()
	if e.stats.First.IsZero() {
		e.stats.First = at
	}
	e.stats.Received++
	e.stats.Lost += uint64(lost)
	e.stats.Jitter = time.Duration(e.jitter * float64(time.Second))
	if stalled && audible {
		e.stats.Stalls++
	}
	e.mu.Unlock()
	e.board.ArrivalLate.Add(late)
	e.lastTS, e.lastAt = p.Timestamp, at
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

// sequence counts losses; a packet older than the newest is not heard any more.
func (e *Ear) sequence(seq uint16) (lost int, ok bool) {
	if !e.started {
		e.started, e.highest = true, seq
		return 0, true
	}
	d := int16(seq - e.highest)
	if d <= 0 {
		e.mu.Lock()
		if d == 0 {
			e.stats.Duplicate++
		} else {
			e.stats.Late++
			if e.stats.Lost > 0 {
				e.stats.Lost--
			}
		}
		e.mu.Unlock()
		return 0, false
	}
	e.highest = seq
	return int(d) - 1, true
}

func (e *Ear) measureJitter(ts uint32, at time.Time) {
	if e.lastAt.IsZero() {
		return
	}
	// Differences only: the two clocks have no common zero.
	d := (at.Sub(e.lastAt) - ticks(int32(ts-e.lastTS))).Seconds()
	if d > anchorLate.Seconds() || d < -anchorLate.Seconds() {
		return // a talk spurt whose timestamps do not count the silence, or a clock that was set anew
	}
	e.jitter += (max(d, -d) - e.jitter) / 16
}

// place finds when the first sample of the packet is heard, and how late against the line's clock it came.
func (e *Ear) place(p *rtp.Packet, at time.Time) (heard time.Time, late time.Duration) {
	jump := int32(p.Timestamp - e.lastTS)
	nominal := e.anchorAt.Add(ticks(int32(p.Timestamp - e.anchorTS)))
	quiet := at.Sub(e.lastEnd) > anchorQuiet && at.Sub(nominal) < stallAfter
	if !e.anchored || p.Marker || quiet || jump < 0 || jump > anchorJump || at.Sub(nominal) > anchorLate {
		e.anchored, e.anchorAt, e.anchorTS = true, at, p.Timestamp
		return at, 0
	}
	if at.After(nominal) {
		return at, at.Sub(nominal)
	}
	return nominal, 0
}

// decode notes the audible windows of a packet.
func (e *Ear) decode(payload []byte, heard time.Time) (audible bool) {
	n, err := e.decoder.Decode(payload, e.pcm[:])
	if err != nil {
		e.mu.Lock()
		e.stats.Undecodable++
		e.mu.Unlock()
		return false
	}
	for i := 0; i < n; i += earSamples {
		w := e.pcm[i:min(i+earSamples, n)]
		if clip.Level(w) < e.threshold {
			continue
		}
		audible = true
		start := heard.Add(time.Duration(i) * time.Second / earRate)
		e.note(start, start.Add(time.Duration(len(w))*time.Second/earRate))
	}
	return audible
}

func (e *Ear) note(start, end time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.spans); n > 0 && start.Sub(e.spans[n-1].End) < mergeGap {
		if end.After(e.spans[n-1].End) {
			e.spans[n-1].End = end
		}
	} else {
		if n == maxSpans {
			e.spans = e.spans[:copy(e.spans, e.spans[1:])]
		}
		e.spans = append(e.spans, Span{Start: start, End: end, Stream: e.streamAt})
	}
	e.lastEnd = e.spans[len(e.spans)-1].End
}

// Changed receives after packets have been heard.
func (e *Ear) Changed() <-chan struct{} { return e.changed }

// Stats are the counts so far.
func (e *Ear) Stats() EarStats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stats
}

// Since are the spans that end after t, oldest first.
func (e *Ear) Since(t time.Time) []Span {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, s := range e.spans {
		if s.End.After(t) {
			return append([]Span(nil), e.spans[i:]...)
		}
	}
	return nil
}

// LastAudible is when the assistant was last audible; in the future when audio came ahead of its time; zero for never.
func (e *Ear) LastAudible() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.spans) == 0 {
		return time.Time{}
	}
	return e.spans[len(e.spans)-1].End
}

// ticks turns a difference of RTP timestamps into time (Opus always counts 48 kHz, RFC 7587 section 4.1).
func ticks(d int32) time.Duration { return time.Duration(d) * time.Second / opusClock }
