package person

import (
	"testing"
	"time"

	"github.com/pion/rtp"
)

// line feeds an ear with packets of a known kind.
type line struct {
	ear    *Ear
	board  *Board
	sound  []byte
	silent []byte
	start  time.Time
}

func newLine(t *testing.T) *line {
	b := new(Board)
	return &line{
		ear: newEar(t, b), board: b, start: time.Unix(1000, 0),
		sound:  tone(t, 0, 100*time.Millisecond, 0).Packets[2],
		silent: tone(t, 0, 20*time.Millisecond, 400*time.Millisecond).Packets[15],
	}
}

func (l *line) packet(seq int, at time.Duration, payload []byte) {
	l.ear.Packet(&rtp.Packet{Header: rtp.Header{SequenceNumber: uint16(65530 + seq), Timestamp: uint32(seq * 960)}, Payload: payload}, l.start.Add(at))
}

func TestBurstIsHeardOverItsLength(t *testing.T) {
	l := newLine(t)
	for i := range 50 {
		l.packet(i, 0, l.sound) // a second of audio in one moment
	}
	got := l.ear.LastAudible().Sub(l.start)
	if got != time.Second {
		t.Fatalf("heard until %v", got)
	}
}

func TestLatePacketDelaysNothingButItself(t *testing.T) {
	l := newLine(t)
	for i := range 50 {
		at := time.Duration(i) * 20 * time.Millisecond
		if i == 20 {
			at += 35 * time.Millisecond
		}
		if i == 21 {
			at += 16 * time.Millisecond
		}
		l.packet(i, at, l.sound)
	}
	if got := l.ear.LastAudible().Sub(l.start); got != time.Second {
		t.Fatalf("heard until %v", got)
	}
	if got := l.board.ArrivalLate.Quantile(1); got != 35 {
		t.Fatalf("latest packet: %v ms", got)
	}
	if s := l.ear.Stats(); s.Stalls != 0 {
		t.Fatalf("%d stalls", s.Stalls)
	}
}

func TestLossAndOrderAreCounted(t *testing.T) {
	l := newLine(t)
	for _, i := range []int{0, 1, 2, 4, 3, 5, 5, 9, 10} { // across the wrap of the sequence number
		l.packet(i, time.Duration(i)*20*time.Millisecond, l.sound)
	}
	s := l.ear.Stats()
	if s.Received != 7 || s.Lost != 3 || s.Late != 1 || s.Duplicate != 1 || s.Stalls != 2 {
		t.Fatalf("%+v", s)
	}
	l.board.HangUp(s, 0)
	if got := l.board.Loss.Quantile(1); got != 0.3 {
		t.Fatalf("loss ratio %v", got)
	}
}

func TestSilenceIsNotAudible(t *testing.T) {
	l := newLine(t)
	for i := range 100 {
		payload := l.silent
		if i == 50 {
			payload = l.sound
		}
		l.packet(i, time.Duration(i)*20*time.Millisecond, payload)
	}
	spans := l.ear.Since(time.Time{})
	if len(spans) != 1 || spans[0].Start.Sub(l.start) < time.Second || spans[0].End.Sub(l.start) > 1030*time.Millisecond {
		t.Fatalf("heard %v", spans)
	}
}

func TestGarbageIsCountedAndHeardByNobody(t *testing.T) {
	l := newLine(t)
	l.packet(0, 0, []byte{0xff})
	l.packet(1, 20*time.Millisecond, nil)
	if s := l.ear.Stats(); s.Undecodable != 2 || !l.ear.LastAudible().IsZero() {
		t.Fatalf("%+v", s)
	}
}

func TestJitterIsTheKnownOne(t *testing.T) {
	l := newLine(t)
	for i := range 2000 {
		at := time.Duration(i) * 20 * time.Millisecond
		if i%2 == 1 {
			at += 4 * time.Millisecond
		}
		l.packet(i, at, l.silent)
	}
	if got := l.ear.Stats().Jitter; got < 3900*time.Microsecond || got > 4100*time.Microsecond {
		t.Fatalf("jitter %v", got)
	}
}

func TestSpansAreBounded(t *testing.T) {
	l := newLine(t)
	for i := range maxSpans + 10 {
		l.packet(i, time.Duration(i)*time.Second, l.sound)
	}
	if got := len(l.ear.Since(time.Time{})); got != maxSpans {
		t.Fatalf("%d spans", got)
	}
}
