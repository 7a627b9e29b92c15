package fake

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
)

// Script is what a fake provider does when it is asked for a response.
type Script struct {
	Think time.Duration // to the first piece
	Text  string        // what it says, or writes
	Audio time.Duration // how long that takes to say; 0 = it is written
	Pace  time.Duration // between two pieces of 100 ms of audio; 0 = 10 ms, as fast models do

	CallName, CallID, CallArgs string // a function to call instead
}

// OpenAI is a Realtime server over WebSocket.
type OpenAI struct {
	*server

	mu      sync.Mutex // guards what follows
	scripts []Script
	unknown []string // fields of a session that it refuses
	expires time.Duration
	events  []map[string]any // what came, appends left out
	audio   []byte           // what was appended on all connections
	heard   string
	conns   []*openaiConn
}

type object = map[string]any

type openaiConn struct {
	s        *OpenAI
	l        *link
	n        int
	previous any
	items    map[string]*heldItem
	buffer   int // bytes of audio not committed
	active   *running
	session  object
	told     []map[string]any // guarded by the server's lock
}

type heldItem struct {
	audioMS  int
	isOutput bool
}

type running struct {
	id, item string
	script   Script
	sent     time.Duration
}

// NewOpenAI starts one.
func NewOpenAI(tb testing.TB) *OpenAI {
	o := &OpenAI{heard: "something was said"}
	o.server = newServer(tb, func(l *link) func([]byte) {
		o.mu.Lock()
		c := &openaiConn{s: o, l: l, items: map[string]*heldItem{}, n: 1000 * (len(o.conns) + 1)}
		o.conns = append(o.conns, c)
		expires := o.expires
		o.mu.Unlock()
		session := object{"type": "realtime", "object": "realtime.session", "id": c.id("sess"), "model": "gpt-realtime", "output_modalities": []string{"audio"}}
		if expires > 0 {
			session["expires_at"] = time.Now().Add(expires).Unix()
		}
		c.session = session
		l.post(func() { c.say("session.created", object{"session": session}) })
		return c.message
	})
	return o
}

// Will adds what the next responses are, one each; the last is repeated.
func (o *OpenAI) Will(s ...Script) { o.mu.Lock(); o.scripts = append(o.scripts, s...); o.mu.Unlock() }

// Unknown makes it refuse sessions with these fields, such as "tracing".
func (o *OpenAI) Unknown(fields ...string) { o.mu.Lock(); o.unknown = fields; o.mu.Unlock() }

// Expires is how long the connections from now on say that they will live.
func (o *OpenAI) Expires(d time.Duration) { o.mu.Lock(); o.expires = d; o.mu.Unlock() }

// Events are the messages of a type that came so far, on all connections; "" gives all but audio.
func (o *OpenAI) Events(typ string) []map[string]any {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []map[string]any
	for _, e := range o.events {
		if typ == "" || e["type"] == typ {
			out = append(out, e)
		}
	}
	return out
}

// Calls makes the next response a call, and those after it what they were.
func (o *OpenAI) Calls(name, id, args string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.scripts) == 0 {
		o.scripts = []Script{{Think: 100 * time.Millisecond, Text: "That is what I found.", Audio: 2 * time.Second}}
	}
	o.scripts = append([]Script{{Think: 50 * time.Millisecond, CallName: name, CallID: id, CallArgs: args}}, o.scripts...)
}

// Told is all that the newest connection was told, as JSON.
func (o *OpenAI) Told() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	b, _ := json.Marshal(o.conns[len(o.conns)-1].told)
	return string(b)
}

// Audio is the PCM that was appended so far.
func (o *OpenAI) Audio() []byte { o.mu.Lock(); defer o.mu.Unlock(); return o.audio }

// SpeechStarted does what server_vad does when the person interrupts.
func (o *OpenAI) SpeechStarted() {
	o.mu.Lock()
	c := o.conns[len(o.conns)-1]
	o.mu.Unlock()
	c.l.post(func() {
		c.say("input_audio_buffer.speech_started", object{"audio_start_ms": 100, "item_id": c.id("item")})
		if c.active != nil {
			c.end("cancelled", object{"type": "cancelled", "reason": "turn_detected"})
		}
	})
}

// Say sends a message as it is on the newest connection.
func (o *OpenAI) Say(raw string) {
	o.mu.Lock()
	c := o.conns[len(o.conns)-1]
	o.mu.Unlock()
	c.l.post(func() { c.l.send([]byte(raw)) })
}

func (c *openaiConn) id(prefix string) string { c.n++; return id(prefix, c.n) }

func (c *openaiConn) say(typ string, fields object) {
	fields["type"], fields["event_id"] = typ, c.id("event")
	c.l.send(map[string]any(fields))
}

func (c *openaiConn) fail(cause map[string]any, code, param, message string) {
	e := object{"type": "invalid_request_error", "code": code, "message": message, "param": nil, "event_id": cause["event_id"]}
	if param != "" {
		e["param"] = param
	}
	c.say("error", object{"error": e})
}

func (c *openaiConn) message(raw []byte) {
	var e map[string]any
	if json.Unmarshal(raw, &e) != nil {
		c.s.tb.Errorf("fake provider: this is not JSON: %.200s", raw)
		return
	}
	typ, _ := e["type"].(string)
	if typ == "input_audio_buffer.append" {
		b64, _ := e["audio"].(string)
		pcm, err := base64.StdEncoding.DecodeString(b64)
		if err != nil {
			c.s.tb.Errorf("fake provider: audio is not base64")
		}
		c.buffer += len(pcm)
		c.s.mu.Lock()
		c.s.audio = append(c.s.audio, pcm...)
		c.s.mu.Unlock()
		return
	}
	c.s.mu.Lock()
	c.s.events = append(c.s.events, e)
	c.told = append(c.told, e)
	c.s.mu.Unlock()
	switch typ {
	case "session.update":
		c.update(e)
	case "input_audio_buffer.clear":
		c.buffer = 0
		c.say("input_audio_buffer.cleared", object{})
	case "input_audio_buffer.commit":
		c.commit(e)
	case "conversation.item.create":
		it, _ := e["item"].(map[string]any)
		if it["id"] == nil {
			it["id"] = c.id("item")
		}
		it["status"], it["object"] = "completed", "realtime.item"
		c.add(it)
	case "conversation.item.delete":
		c.say("conversation.item.deleted", object{"item_id": e["item_id"]})
	case "conversation.item.truncate":
		c.truncate(e)
	case "response.create":
		c.respond(e)
	case "response.cancel":
		if c.active == nil {
			c.fail(e, "response_cancel_not_active", "", "Cancellation failed: no active response found")
			return
		}
		c.end("cancelled", object{"type": "cancelled", "reason": "client_cancelled"})
	case "output_audio_buffer.clear":
		c.fail(e, "invalid_event_for_transport", "", "output_audio_buffer.clear is for WebRTC and SIP")
	default:
		c.fail(e, "unknown_event", "type", "unknown event "+typ)
	}
}

func (c *openaiConn) update(e map[string]any) {
	s, _ := e["session"].(map[string]any)
	c.s.mu.Lock()
	unknown := c.s.unknown
	c.s.mu.Unlock()
	for _, f := range unknown {
		if has(s, strings.Split(f, ".")) {
			c.fail(e, "unknown_parameter", "session."+f, "Unknown parameter: 'session."+f+"'.")
			return
		}
	}
	if s["type"] != "realtime" {
		c.fail(e, "missing_required_parameter", "session.type", "Missing required parameter: 'session.type'.")
		return
	}
	for k, v := range s {
		c.session[k] = v
	}
	c.say("session.updated", object{"session": c.session})
}

func has(m map[string]any, path []string) bool {
	v, ok := m[path[0]]
	if !ok || len(path) == 1 {
		return ok
	}
	next, ok := v.(map[string]any)
	return ok && has(next, path[1:])
}

func (c *openaiConn) add(it map[string]any) {
	c.items[it["id"].(string)] = &heldItem{}
	prev := c.previous
	c.previous = it["id"]
	c.say("conversation.item.added", object{"previous_item_id": prev, "item": it})
	c.say("conversation.item.done", object{"previous_item_id": prev, "item": it})
}

func (c *openaiConn) commit(e map[string]any) {
	ms := c.buffer / 48
	if ms < 100 {
		c.fail(e, "input_audio_buffer_commit_empty", "", "Error committing input audio buffer: buffer too small. Expected at least 100ms of audio.")
		return
	}
	c.buffer = 0
	item := c.id("item")
	c.say("input_audio_buffer.committed", object{"previous_item_id": c.previous, "item_id": item})
	c.add(object{"id": item, "type": "message", "role": "user", "status": "completed", "object": "realtime.item",
		"content": []any{object{"type": "input_audio", "transcript": nil}}})
	c.s.mu.Lock()
	heard := c.s.heard
	c.s.mu.Unlock()
	c.l.after(300*time.Millisecond, func() {
		c.say("conversation.item.input_audio_transcription.completed", object{"item_id": item, "content_index": 0, "transcript": heard,
			"usage": object{"type": "duration", "seconds": float64(ms) / 1000}})
	})
}

func (c *openaiConn) truncate(e map[string]any) {
	item, _ := e["item_id"].(string)
	end, _ := e["audio_end_ms"].(float64)
	held := c.items[item]
	switch {
	case end != math.Trunc(end):
		c.fail(e, "invalid_type", "audio_end_ms", "expected an integer")
	case held == nil:
		c.fail(e, "item_not_found", "item_id", "no such item")
	case !held.isOutput || held.audioMS == 0:
		c.fail(e, "unsupported_content_type", "", "Only model output audio messages can be truncated")
	case int(end) > held.audioMS:
		c.fail(e, "invalid_value", "audio_end_ms", "Audio content is already shorter")
	default:
		c.say("conversation.item.truncated", object{"item_id": item, "content_index": e["content_index"], "audio_end_ms": int(end)})
	}
}

func (c *openaiConn) script() Script {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	s := Script{Think: 100 * time.Millisecond, Text: "I have nothing to say.", Audio: time.Second}
	if len(c.s.scripts) > 0 {
		s = c.s.scripts[0]
		if len(c.s.scripts) > 1 {
			c.s.scripts = c.s.scripts[1:]
		}
	}
	if s.Pace == 0 {
		s.Pace = 10 * time.Millisecond
	}
	return s
}

func (c *openaiConn) respond(e map[string]any) {
	if c.active != nil {
		c.fail(e, "conversation_already_has_active_response", "", "Conversation already has an active response in progress")
		return
	}
	r := &running{id: c.id("resp"), item: c.id("item"), script: c.script()}
	c.active = r
	c.say("response.created", object{"response": object{"object": "realtime.response", "id": r.id, "status": "in_progress", "output": []any{}, "usage": nil}})
	c.say("rate_limits.updated", object{"rate_limits": []any{object{"name": "tokens", "limit": 40000, "remaining": 39000, "reset_seconds": 1.5}}})
	c.l.after(r.script.Think, func() { c.begin(r) })
}

func (c *openaiConn) begin(r *running) {
	if c.active != r {
		return
	}
	if r.script.CallName != "" {
		c.call(r)
		return
	}
	part := object{"type": "audio", "transcript": ""}
	if r.script.Audio == 0 {
		part = object{"type": "text", "text": ""}
	}
	c.items[r.item] = &heldItem{isOutput: true}
	it := object{"id": r.item, "object": "realtime.item", "type": "message", "role": "assistant", "status": "in_progress", "content": []any{}}
	c.say("response.output_item.added", object{"response_id": r.id, "output_index": 0, "item": it})
	c.say("conversation.item.added", object{"previous_item_id": c.previous, "item": it})
	c.previous = r.item
	c.say("response.content_part.added", c.ids(r, object{"part": part}))
	for _, w := range strings.SplitAfter(r.script.Text, " ") {
		if r.script.Audio == 0 {
			c.say("response.output_text.delta", c.ids(r, object{"delta": w}))
		} else {
			c.say("response.output_audio_transcript.delta", c.ids(r, object{"delta": w}))
		}
	}
	c.piece(r)
}

func (c *openaiConn) ids(r *running, more object) object {
	more["response_id"], more["item_id"], more["output_index"], more["content_index"] = r.id, r.item, 0, 0
	return more
}

// piece sends the next 100 ms of audio, a tone.
func (c *openaiConn) piece(r *running) {
	if c.active != r {
		return
	}
	if r.sent >= r.script.Audio {
		c.finish(r)
		return
	}
	d := min(100*time.Millisecond, r.script.Audio-r.sent)
	c.say("response.output_audio.delta", c.ids(r, object{"delta": base64.StdEncoding.EncodeToString(Tone(24000, d))}))
	r.sent += d
	c.items[r.item].audioMS = int(r.sent.Milliseconds())
	c.l.after(r.script.Pace, func() { c.piece(r) })
}

// Tone is PCM16 little-endian of a 220 Hz tone.
func Tone(rate int, d time.Duration) []byte {
	n := int(d * time.Duration(rate) / time.Second)
	out := make([]byte, 2*n)
	for i := range n {
		v := int16(8000 * math.Sin(2*math.Pi*220*float64(i)/float64(rate)))
		out[2*i], out[2*i+1] = byte(v), byte(v>>8) // the two bytes of a sample
	}
	return out
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func (c *openaiConn) finish(r *running) {
	if r.script.Audio == 0 {
		c.say("response.output_text.done", c.ids(r, object{"text": r.script.Text}))
	} else {
		c.say("response.output_audio.done", c.ids(r, object{}))
		c.say("response.output_audio_transcript.done", c.ids(r, object{"transcript": r.script.Text}))
	}
	c.end("completed", nil)
}

// end closes the response that runs.
func (c *openaiConn) end(status string, details any) {
	r := c.active
	c.active = nil
	var output []any
	if c.items[r.item] != nil {
		content := object{"type": "output_audio", "transcript": r.script.Text}
		part := object{"type": "audio", "transcript": r.script.Text}
		if r.script.Audio == 0 {
			content, part = object{"type": "output_text", "text": r.script.Text}, object{"type": "text", "text": r.script.Text}
		}
		is := "completed"
		if status != "completed" {
			is = "incomplete"
		}
		it := object{"id": r.item, "object": "realtime.item", "type": "message", "role": "assistant", "status": is, "content": []any{content}}
		c.say("response.content_part.done", c.ids(r, object{"part": part}))
		c.say("response.output_item.done", object{"response_id": r.id, "output_index": 0, "item": it})
		c.say("conversation.item.done", object{"previous_item_id": nil, "item": it})
		output = append(output, it)
	}
	c.done(r, status, details, output)
}

func (c *openaiConn) done(r *running, status string, details any, output []any) {
	if output == nil {
		output = []any{}
	}
	heard := r.sent.Milliseconds() / 50
	c.say("response.done", object{"response": object{"object": "realtime.response", "id": r.id, "status": status, "status_details": details, "output": output,
		"usage": object{"total_tokens": 100 + heard, "input_tokens": 90, "output_tokens": 10 + heard,
			"input_token_details":  object{"text_tokens": 60, "audio_tokens": 30, "image_tokens": 0, "cached_tokens": 40, "cached_tokens_details": object{"text_tokens": 40, "audio_tokens": 0, "image_tokens": 0}},
			"output_token_details": object{"text_tokens": 10, "audio_tokens": heard}}}})
}

func (c *openaiConn) call(r *running) {
	it := object{"id": r.item, "object": "realtime.item", "type": "function_call", "status": "in_progress", "name": r.script.CallName, "call_id": r.script.CallID, "arguments": ""}
	c.say("response.output_item.added", object{"response_id": r.id, "output_index": 0, "item": it})
	c.say("conversation.item.added", object{"previous_item_id": c.previous, "item": it})
	c.previous = r.item
	c.say("response.function_call_arguments.delta", object{"response_id": r.id, "item_id": r.item, "output_index": 0, "call_id": r.script.CallID, "delta": r.script.CallArgs})
	c.say("response.function_call_arguments.done", object{"response_id": r.id, "item_id": r.item, "output_index": 0, "call_id": r.script.CallID, "name": r.script.CallName, "arguments": r.script.CallArgs})
	done := object{"id": r.item, "object": "realtime.item", "type": "function_call", "status": "completed", "name": r.script.CallName, "call_id": r.script.CallID, "arguments": r.script.CallArgs}
	c.say("response.output_item.done", object{"response_id": r.id, "output_index": 0, "item": done})
	c.say("conversation.item.done", object{"previous_item_id": nil, "item": done})
	c.active = nil
	c.done(r, "completed", nil, []any{done})
}
