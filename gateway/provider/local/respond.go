package local

import (
	"context"
	"encoding/json"
	"slices"

	"hovor/gateway/provider/local/brain"
	"hovor/signaling/realtime"
)

// response is one answer, from response.create to response.done and, beyond it, to the end of its audio.
type response struct {
	id         string
	outOfBand  bool // conversation "none": its items stay out of the conversation
	form       form
	format     realtime.AudioFormat
	voice      realtime.Voice
	speed      float64
	modalities []string
	metadata   realtime.Raw
	maxTokens  realtime.MaxTokens
	language   string
	turn       brain.Turn

	status string
	output []*entry
	open   *entry // the message that is being spoken or written
	usage  realtime.Usage
	cancel context.CancelFunc // of its generator; nil before it has one

	queued  bool // it has audio in the playout
	started bool // output_audio_buffer.started was sent
	drained bool // all of its audio has been sent
	muted   bool // its audio was cleared: no more is sent
}

func (r *response) text() bool { return slices.Contains(r.modalities, realtime.PartText) }

func (r *response) finished() bool { return r.status != realtime.StatusInProgress }

// form is the response as events carry it.
func (r *response) report(conversation string) realtime.Response {
	format := r.format
	out := realtime.Response{
		ID: r.id, Object: "realtime.response", Status: r.status, OutputModalities: r.modalities,
		MaxOutputTokens: r.maxTokens, Metadata: r.metadata, Output: []realtime.Item{},
		Audio: &realtime.ResponseAudio{Output: &realtime.ResponseAudioOutput{
			Format: &format, Voice: realtime.VoiceName(r.voice)}},
	}
	if !r.outOfBand {
		out.ConversationID = conversation
	}
	for _, e := range r.output {
		out.Output = append(out.Output, e.item)
	}
	return out
}

// createResponse answers response.create.
func (x *session) createResponse(ev *realtime.ResponseCreate) {
	p := ev.Response
	outOfBand := p != nil && p.Conversation == "none"
	if x.active != nil && !outOfBand {
		x.fail(ev, realtime.Invalid(codeActiveResponse, "", "Conversation already has an active response in progress: "+x.active.id+". Wait for response.done, or cancel it first."))
		return
	}
	if outOfBand && len(x.responses) >= 8 {
		x.fail(ev, realtime.Invalid(codeActiveResponse, "response.conversation", "too many responses are under way beside the conversation"))
		return
	}
	x.respond(p)
}

// respond opens a response and generates it as soon as the person's words are known.
func (x *session) respond(p *realtime.ResponseParams) {
	r := x.newResponse(p)
	x.responses[r.id] = r
	if !r.outOfBand {
		x.idle.stop()
		x.active = r
	}
	x.emit(&realtime.ResponseCreated{Response: r.report(x.items.id)})
	x.emit(&realtime.RateLimitsUpdated{RateLimits: []realtime.RateLimit{
		{Name: "requests", Limit: 1000, Remaining: 999, ResetSeconds: 0.06},
		{Name: "tokens", Limit: 100000, Remaining: 95000, ResetSeconds: 3},
	}})
	start := func() {
		if r.finished() {
			return
		}
		x.think(r, p)
	}
	if x.waiting > 0 {
		x.deferred = append(x.deferred, start)
		return
	}
	start()
}

func (x *session) newResponse(p *realtime.ResponseParams) *response {
	r := &response{
		id: realtime.NewID("resp"), status: realtime.StatusInProgress, voice: x.config.Voice(),
		form: x.form, format: *x.config.Audio.Output.Format,
		speed: x.config.Audio.Output.Speed, modalities: x.config.OutputModalities, maxTokens: x.config.MaxOutputTokens,
	}
	if x.config.Instructions != nil {
		r.turn.Instructions = *x.config.Instructions
	}
	tools, choice := x.config.Tools, x.config.ToolChoice
	if p != nil {
		r.outOfBand = p.Conversation == "none"
		r.metadata = p.Metadata
		if p.Instructions != nil {
			r.turn.Instructions = *p.Instructions
		}
		if len(p.OutputModalities) > 0 {
			r.modalities = p.OutputModalities
		}
		if p.Audio != nil && p.Audio.Output != nil && p.Audio.Output.Voice != "" {
			r.voice = p.Audio.Output.Voice
		}
		if p.Audio != nil && p.Audio.Output != nil && p.Audio.Output.Format != nil && x.out == nil {
			if f, err := formIn(p.Audio.Output.Format, ""); err == nil {
				r.form, r.format = f, *p.Audio.Output.Format
			}
		}
		if p.Tools != nil {
			tools = p.Tools
		}
		if p.ToolChoice != nil {
			choice = p.ToolChoice
		}
		if p.MaxOutputTokens != 0 {
			r.maxTokens = p.MaxOutputTokens
		}
	}
	if choice == nil || choice.Mode != "none" {
		for _, t := range tools {
			if t.Type == "function" || t.Type == "" {
				r.turn.Tools = append(r.turn.Tools, t.Name)
			}
		}
	}
	return r
}

// think asks the brain and starts the generator.
func (x *session) think(r *response, p *realtime.ResponseParams) {
	r.language = x.language
	r.turn.Language = x.language
	r.turn.Input = x.newest(p)
	x.countInput(r)
	steps := x.mind.Respond(r.turn)
	ctx, cancel := context.WithCancel(x.ctx)
	r.cancel = cancel
	x.helpers.Go(func() { x.generate(ctx, r, steps) })
}

// newest is what the response answers to: the tail of the conversation behind the assistant's last words.
func (x *session) newest(p *realtime.ResponseParams) brain.Input {
	tail := x.items.order
	if p != nil && p.Input != nil {
		tail = x.referenced(p.Input)
	}
	var in brain.Input
	for _, e := range slices.Backward(tail) {
		switch {
		case e.item.Type == realtime.ItemFunctionCallOutput:
			in.Kind = brain.InputOutputs
			in.Outputs = append(in.Outputs, x.output(e))
			continue
		case in.Kind == brain.InputOutputs:
		case e.item.Type == realtime.ItemMessage && e.item.Role == realtime.RoleUser:
			in.Kind, in.Text, in.Silent = brain.InputTyped, e.item.TextOf(), e.silent
			if e.spoken {
				in.Kind = brain.InputSpoken
			}
		case e.item.Type == realtime.ItemMessage && e.item.Role == realtime.RoleSystem:
			continue
		}
		break
	}
	slices.Reverse(in.Outputs)
	return in
}

// referenced resolves the items of an out-of-band response.
func (x *session) referenced(input []realtime.Item) []*entry {
	var out []*entry
	for _, it := range input {
		if e := x.items.byID[it.ID]; it.Type == realtime.ItemReference && e != nil {
			out = append(out, e)
		} else if it.Type != realtime.ItemReference {
			out = append(out, &entry{item: it})
		}
	}
	return out
}

func (x *session) output(e *entry) brain.Output {
	out := brain.Output{}
	if e.item.Output != nil {
		out.Output = *e.item.Output
	}
	if call := x.items.call(e.item.CallID); call != nil {
		out.Name, out.Arguments = call.item.Name, json.RawMessage(call.item.Arguments)
	}
	return out
}

// cancelResponse answers response.cancel. What has been generated goes on playing until it is cleared.
func (x *session) cancelResponse(ev *realtime.ResponseCancel) {
	r := x.active
	if ev.ResponseID != "" {
		r = x.responses[ev.ResponseID]
	}
	if r == nil || r.finished() {
		x.fail(ev, realtime.Invalid(codeNotActive, "response_id", "Cancellation failed: no active response found"))
		return
	}
	x.stop(r, realtime.StatusCancelled, &realtime.StatusDetails{Type: realtime.StatusCancelled, Reason: realtime.ReasonClientCancelled})
}

// stop ends a response before its time.
func (x *session) stop(r *response, status string, why *realtime.StatusDetails) {
	if r.cancel != nil {
		r.cancel()
	}
	x.closeMessage(r, realtime.StatusIncomplete)
	x.finish(r, status, why)
}

// finish sends response.done. The audio may still be playing.
func (x *session) finish(r *response, status string, why *realtime.StatusDetails) {
	r.status = status
	delete(x.responses, r.id)
	if x.active == r {
		x.active = nil
	}
	if r.cancel != nil {
		r.cancel()
	}
	form := r.report(x.items.id)
	form.StatusDetails = why
	usage := r.total()
	form.Usage = &usage
	x.emit(&realtime.ResponseDone{Response: form})
	if r.queued && !r.muted {
		x.out.end(r.id)
	}
	if !r.outOfBand {
		x.idle.after = true
		x.watchIdle()
	}
}

// interrupt is the server's own: a person speaks while a response is made or heard (protocol research 1.11). Over a WebSocket
// only the client knows what was heard: it truncates.
func (x *session) interrupt() {
	if x.active != nil {
		x.stop(x.active, realtime.StatusCancelled, &realtime.StatusDetails{Type: realtime.StatusCancelled, Reason: realtime.ReasonTurnDetected})
	}
	if x.out == nil {
		return
	}
	for _, e := range x.silence() {
		if played := x.out.played(e.item.ID); e.isAssistantAudio() && played < e.audio {
			e.truncate(played)
			x.emit(&realtime.ConversationItemTruncated{ItemID: e.item.ID, AudioEndMS: int(played.Milliseconds())})
		}
	}
}

// clearOutput answers output_audio_buffer.clear. With nothing playing it does nothing.
func (x *session) clearOutput(ev realtime.Event) {
	if x.out == nil {
		x.fail(ev, realtime.Invalid(codeInvalidTransport, "type", "over a WebSocket there is no output buffer: stop playing, and send conversation.item.truncate"))
		return
	}
	x.silence()
}

// silence cuts the audio at once and returns the items it was of.
func (x *session) silence() []*entry {
	x.out.cut()
	sounding := x.sounding
	x.sounding = nil
	if x.active != nil {
		x.active.muted = true // what is still to come of it is not heard either
	}
	var cut []*entry
	for _, r := range sounding {
		r.muted = true
		if r.started {
			x.emit(&realtime.OutputAudioBufferCleared{ResponseID: r.id})
		}
		cut = append(cut, r.output...)
	}
	return cut
}

// sound says that a response's audio is next, or already heard.
func (x *session) sound(r *response) {
	if r.queued {
		return
	}
	r.queued = true
	x.spoke = true
	x.sounding = append(x.sounding, r)
	x.announce()
}

func (x *session) announce() {
	if len(x.sounding) == 0 || x.sounding[0].started {
		return
	}
	x.sounding[0].started = true
	x.emit(&realtime.OutputAudioBufferStarted{ResponseID: x.sounding[0].id})
}

// audioDrained is the playout's word that a response's last frame has been sent.
func (x *session) audioDrained(id string) {
	for i, r := range x.sounding {
		if r.id == id {
			x.sounding = slices.Delete(x.sounding, i, i+1)
			x.emit(&realtime.OutputAudioBufferStopped{ResponseID: id})
			x.announce()
			x.watchIdle()
			return
		}
	}
}
