package transcode

import (
	"math"
	"testing"
	"time"

	"github.com/pion/rtp"

	"hovor/sfu/g711"
	"hovor/sfu/opus"
)

type made struct {
	rtp.Header
	payload []byte
}

func collect(to *[]made) func(*rtp.Packet, time.Time) {
	return func(p *rtp.Packet, _ time.Time) {
		*to = append(*to, made{p.Header, append([]byte(nil), p.Payload...)})
	}
}

func tone(n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*500*float64(i)/g711.Rate))
	}
	return pcm
}

// law packets of n samples each.
func lawPackets(law g711.Law, pcm []int16, n int) (packets []*rtp.Packet) {
	for i := 0; i+n <= len(pcm); i += n {
		payload := make([]byte, n)
		law.Encode(payload, pcm[i:i+n])
		packets = append(packets, &rtp.Packet{Header: rtp.Header{SSRC: 5, SequenceNumber: uint16(65530 + len(packets)),
			Timestamp: uint32(4294967000 + i), Marker: i == 0}, Payload: payload})
	}
	return packets
}

func opusPackets(t testing.TB, pcm []int16, n int) (packets []*rtp.Packet) {
	enc, err := opus.NewEncoder(opus.EncoderConfig{SampleRate: 8000, Complexity: 5, FEC: true, LossPercent: 10})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+n <= len(pcm); i += n {
		payload := make([]byte, opus.MaxPacket)
		k, err := enc.Encode(pcm[i:i+n], payload)
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, &rtp.Packet{Header: rtp.Header{SSRC: 5, SequenceNumber: uint16(65530 + len(packets)),
			Timestamp: uint32(4294967000 + 6*i), Marker: i == 0}, Payload: payload[:k]})
	}
	return packets
}

func purity(pcm []int16) float64 {
	var s, c, e float64
	for i, v := range pcm {
		w := 2 * math.Pi * 500 * float64(i) / g711.Rate
		s += float64(v) * math.Sin(w)
		c += float64(v) * math.Cos(w)
		e += float64(v) * float64(v)
	}
	n := float64(len(pcm))
	power := 2 * (s*s + c*c) / n / n
	return 10 * math.Log10(power/math.Max(e/n-power, 1e-9))
}

// check: continuous numbers, the same time passed, the same tone.
func check(t *testing.T, got []made, samples, clockRatio int, decode func([]byte) []int16) {
	t.Helper()
	var pcm []int16
	for i, p := range got {
		if i > 0 && p.SequenceNumber != got[i-1].SequenceNumber+1 {
			t.Fatalf("a hole before packet %d", i)
		}
		if want := got[0].Timestamp + uint32(len(pcm)*clockRatio); p.Timestamp != want {
			t.Fatalf("packet %d has timestamp %d, want %d", i, p.Timestamp, want)
		}
		if p.Marker != (i == 0) {
			t.Errorf("packet %d has marker %v", i, p.Marker)
		}
		pcm = append(pcm, decode(p.payload)...)
	}
	if d := samples - len(pcm); d < 0 || d >= grain {
		t.Errorf("%d samples became %d", samples, len(pcm))
	}
	if snr := purity(pcm[2400 : len(pcm)-800]); snr < 20 {
		t.Errorf("signal to noise %.1f dB", snr)
	}
}

func opusReader(t testing.TB) func([]byte) []int16 {
	dec, err := opus.NewDecoder(8000)
	if err != nil {
		t.Fatal(err)
	}
	return func(b []byte) []int16 {
		pcm := make([]int16, longest)
		n, err := dec.Decode(b, pcm)
		if err != nil {
			t.Fatal(err)
		}
		return pcm[:n]
	}
}

func lawReader(law g711.Law) func([]byte) []int16 {
	return func(b []byte) []int16 {
		pcm := make([]int16, len(b))
		law.Decode(pcm, b)
		return pcm
	}
}

func TestBothWaysAndEveryPacketLength(t *testing.T) {
	pcm := tone(8000)
	for _, law := range []g711.Law{g711.MuLaw, g711.ALaw} {
		for _, n := range []int{80, 100, 160, 240, 480, 960} {
			var got []made
			s, err := ToOpus(law, collect(&got))
			if err != nil {
				t.Fatal(err)
			}
			packets := lawPackets(law, pcm, n)
			for _, p := range packets {
				s.Convert(p, time.Time{})
			}
			check(t, got, len(packets)*n, 6, opusReader(t))
		}
		for _, n := range []int{80, 160, 320, 480} {
			var got []made
			s, err := FromOpus(law, collect(&got))
			if err != nil {
				t.Fatal(err)
			}
			packets := opusPackets(t, pcm, n)
			for _, p := range packets {
				s.Convert(p, time.Time{})
			}
			check(t, got, len(packets)*n, 1, lawReader(law))
		}
	}
}

func TestShortLossIsConcealedAndLongLossStaysOne(t *testing.T) {
	for name, c := range map[string]struct {
		packets []*rtp.Packet
		start   func(func(*rtp.Packet, time.Time)) (*Stream, error)
		ratio   uint32
	}{
		"to Opus": {lawPackets(g711.MuLaw, tone(8000), 160),
			func(e func(*rtp.Packet, time.Time)) (*Stream, error) { return ToOpus(g711.MuLaw, e) }, 6},
		"from Opus": {opusPackets(t, tone(8000), 160),
			func(e func(*rtp.Packet, time.Time)) (*Stream, error) { return FromOpus(g711.MuLaw, e) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var got []made
			s, err := c.start(collect(&got))
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range c.packets {
				if i == 10 || i == 11 || i >= 20 && i < 30 {
					continue
				}
				s.Convert(p, time.Time{})
				s.Convert(p, time.Time{}) // copies give nothing
			}
			if len(got) != 40 {
				t.Fatalf("%d packets, want 38 received and 2 concealed", len(got))
			}
			for i, p := range got {
				n := i
				if i >= 20 {
					n += 10
				}
				if p.SequenceNumber != got[0].SequenceNumber+uint16(n) || p.Timestamp != got[0].Timestamp+uint32(n)*160*c.ratio {
					t.Errorf("packet %d has sequence %d, timestamp %d", i, p.SequenceNumber-got[0].SequenceNumber, p.Timestamp-got[0].Timestamp)
				}
			}
		})
	}
}

func TestPausesAndRestartsKeepTheirTime(t *testing.T) {
	var got []made
	s, err := ToOpus(g711.ALaw, collect(&got))
	if err != nil {
		t.Fatal(err)
	}
	packets := lawPackets(g711.ALaw, tone(1600), 160)
	for i, p := range packets {
		if i >= 5 {
			p.Timestamp += 8000 // a second of silence that was not sent
			p.Marker = i == 5
		}
		if i >= 8 {
			p.SSRC, p.SequenceNumber, p.Timestamp = 6, uint16(i), uint32(i*160)
		}
		s.Convert(p, time.Time{})
		s.Convert(&rtp.Packet{Header: p.Header}, time.Time{}) // padding only
	}
	for i, p := range got[1:] {
		jump := p.Timestamp - got[i].Timestamp
		if want := map[int]uint32{5: 48960}[i+1]; want != 0 && jump != want || want == 0 && jump != 960 {
			t.Errorf("packet %d: the timestamp went on by %d", i+1, jump)
		}
		if p.SequenceNumber != got[i].SequenceNumber+1 || p.Marker != (i+1 == 5 || i+1 == 8) {
			t.Errorf("packet %d: %+v", i+1, p.Header)
		}
	}
}

func TestGarbageDoesNoHarm(t *testing.T) {
	n := 0
	s, err := FromOpus(g711.MuLaw, func(*rtp.Packet, time.Time) { n++ })
	if err != nil {
		t.Fatal(err)
	}
	s.Convert(&rtp.Packet{Header: rtp.Header{SequenceNumber: 1}, Payload: []byte{0x79, 1, 2, 3}}, time.Time{})
	for i, p := range opusPackets(t, tone(1600), 160) {
		if i == 4 {
			p.Payload = []byte{0x79, 1, 2, 3}
		}
		s.Convert(p, time.Time{})
	}
	if n != 10 {
		t.Errorf("%d packets, want 10", n)
	}
}

func TestConvertingAllocatesNothing(t *testing.T) {
	up, err := ToOpus(g711.MuLaw, func(*rtp.Packet, time.Time) {})
	if err != nil {
		t.Fatal(err)
	}
	down, err := FromOpus(g711.MuLaw, func(*rtp.Packet, time.Time) {})
	if err != nil {
		t.Fatal(err)
	}
	a, b := lawPackets(g711.MuLaw, tone(160), 160)[0], opusPackets(t, tone(160), 160)[0]
	if n := testing.AllocsPerRun(200, func() {
		a.SequenceNumber++
		b.SequenceNumber++
		up.Convert(a, time.Time{})
		down.Convert(b, time.Time{})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkToOpus(b *testing.B) {
	s, _ := ToOpus(g711.MuLaw, func(*rtp.Packet, time.Time) {})
	packets := lawPackets(g711.MuLaw, tone(8000), 160)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p := packets[i%50]
		p.SequenceNumber, p.Timestamp = uint16(i), uint32(i*160)
		s.Convert(p, time.Time{})
	}
}

func BenchmarkFromOpus(b *testing.B) {
	s, _ := FromOpus(g711.MuLaw, func(*rtp.Packet, time.Time) {})
	packets := opusPackets(b, tone(8000), 160)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p := packets[i%50]
		p.SequenceNumber, p.Timestamp = uint16(i), uint32(i*960)
		s.Convert(p, time.Time{})
	}
}
