package local

import (
	"encoding/base64"
	"time"

	"hovor/gateway/provider/local/ear"
	"hovor/gateway/provider/local/voice"
	"hovor/sfu/g711"
	"hovor/sfu/resample"
	"hovor/signaling/realtime"
)

const (
	maxAppend     = 15 << 20         // openai: InputAudioBufferAppendEvent
	longestRecord = 60 * time.Second // of one item's sound; what is older is forgotten
	frameAtEar    = ear.Rate / 50
)

// intake is audio that comes in events: it turns the client's format into frames for the ear.
type intake struct {
	form    form
	rates   *resample.Resampler
	odd     []byte // an octet that waits for its other half
	decoded []int16
	pcm     []int16 // at the ear's rate, not heard yet: less than a frame
	samples int64   // heard
	record  record
}

func newIntake(f form) (*intake, error) {
	in := &intake{}
	return in, in.tune(f)
}

// tune changes the format of what comes from now on.
func (in *intake) tune(f form) error {
	if in.rates != nil && in.form == f {
		return nil
	}
	rates, err := resample.New(f.rate(), ear.Rate)
	if err != nil {
		return err
	}
	in.form, in.rates, in.odd = f, rates, nil
	in.record = record{octets: f.octets(), clock: in.record.clock}
	return nil
}

// add takes octets and hands out whole frames with their stream time.
func (in *intake) add(octets []byte, heard func(pcm []int16, pos time.Duration)) {
	in.record.add(octets)
	in.pcm = in.rates.Append(in.pcm, in.decode(octets))
	done := 0
	for ; len(in.pcm)-done >= frameAtEar; done += frameAtEar {
		in.hand(in.pcm[done:done+frameAtEar], heard)
	}
	in.pcm = append(in.pcm[:0], in.pcm[done:]...)
}

// flush hands out what is less than a frame.
func (in *intake) flush(heard func(pcm []int16, pos time.Duration)) {
	if len(in.pcm) > 0 {
		in.hand(in.pcm, heard)
		in.pcm = in.pcm[:0]
	}
}

func (in *intake) hand(pcm []int16, heard func([]int16, time.Duration)) {
	pos := time.Duration(in.samples) * time.Second / ear.Rate
	in.samples += int64(len(pcm))
	heard(pcm, pos)
}

func (in *intake) decode(octets []byte) []int16 {
	if law, ok := in.form.law(); ok {
		in.decoded = grow(in.decoded, len(octets))
		law.Decode(in.decoded, octets)
		return in.decoded
	}
	octets = append(in.odd, octets...)
	in.decoded = grow(in.decoded, len(octets)/2)
	for i := range in.decoded {
		in.decoded[i] = int16(octets[2*i]) | int16(octets[2*i+1])<<8
	}
	in.odd = octets[len(octets)&^1:]
	return in.decoded
}

func grow(s []int16, n int) []int16 {
	if cap(s) < n {
		return make([]int16, n)
	}
	return s[:n]
}

// record remembers the octets since the last commit, for whoever retrieves the item.
type record struct {
	octets int // in a millisecond
	data   []byte
	clock  time.Duration // stream time behind the last octet
}

func (r *record) add(octets []byte) {
	r.clock += time.Duration(len(octets)) * time.Millisecond / time.Duration(r.octets)
	r.data = append(r.data, octets...)
	r.keep(longestRecord)
}

// keep forgets all but the newest.
func (r *record) keep(newest time.Duration) {
	n := int(newest.Milliseconds()) * r.octets
	if len(r.data) > n {
		r.data = append([]byte(nil), r.data[len(r.data)-n:]...)
	}
}

// begin forgets what came before a stream time.
func (r *record) begin(at time.Duration) { r.keep(max(0, r.clock-at)) }

// take hands over what came up to a stream time; the rest stays.
func (r *record) take(upTo time.Duration) []byte {
	rest := int(max(0, r.clock-upTo).Milliseconds()) * r.octets
	at := max(0, len(r.data)-rest)
	data := r.data[:at:at]
	r.data = append([]byte(nil), r.data[at:]...)
	return data
}

// appendAudio answers input_audio_buffer.append.
func (x *session) appendAudio(ev *realtime.InputAudioBufferAppend) {
	if x.intake == nil {
		x.fail(ev, realtime.Invalid(codeInvalidTransport, "type", "over WebRTC audio comes on the track: do not append it"))
		return
	}
	octets, err := base64.StdEncoding.DecodeString(ev.Audio)
	switch {
	case err != nil:
		x.fail(ev, realtime.Invalid(realtime.CodeInvalidValue, "audio", "this is not base64 (RFC 4648 section 4)"))
	case len(octets) > maxAppend:
		x.fail(ev, realtime.Invalid(realtime.CodeMessageTooLarge, "audio", "one event may hold 15 MiB of audio"))
	default:
		x.intake.add(octets, x.hear)
	}
}

// tune makes a session speak and hear in the formats that its configuration names. Over WebRTC the codec of the track has
// decided that.
func (x *session) tune(config realtime.Session) *realtime.Error {
	if x.intake == nil {
		return nil
	}
	in, err := formIn(config.Audio.Input.Format, "session.audio.input.format.rate")
	if err != nil {
		return err
	}
	out, err := formIn(config.Audio.Output.Format, "session.audio.output.format.rate")
	if err != nil {
		return err
	}
	if err := x.intake.tune(in); err != nil {
		return realtime.Invalid(realtime.CodeInvalidValue, "session.audio.input.format", err.Error())
	}
	x.form = out
	return nil
}

func formIn(f *realtime.AudioFormat, param string) (form, *realtime.Error) {
	switch {
	case f == nil:
		return formPCM, nil
	case f.Type == "audio/pcmu":
		return formPCMU, nil
	case f.Type == "audio/pcma":
		return formPCMA, nil
	case f.Rate != 0 && f.Rate != voice.Rate:
		return formPCM, realtime.Invalid(realtime.CodeInvalidValue, param, "audio/pcm has a rate of 24000 here")
	}
	return formPCM, nil
}

// law is the code of a form of G.711.
func (f form) law() (law g711.Law, ok bool) {
	switch f {
	case formPCMU:
		return g711.MuLaw, true
	case formPCMA:
		return g711.ALaw, true
	}
	return 0, false
}

// rate is the samples of a second.
func (f form) rate() int {
	if _, ok := f.law(); ok {
		return g711.Rate
	}
	return voice.Rate
}

// octets is the length of a millisecond, in the forms that have one.
func (f form) octets() int {
	if _, ok := f.law(); ok {
		return g711.Rate / 1000
	}
	return 2 * voice.Rate / 1000
}
