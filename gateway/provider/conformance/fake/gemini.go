package fake

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"
)

// Gemini is a Live server over WebSocket.
type Gemini struct {
	*server

	mu       sync.Mutex // guards what follows
	scripts  []Script
	messages []map[string]any // what came, audio left out
	setups   []map[string]any
	audio    []byte // of activities
	heard    string
	conns    []*geminiConn
	noResume bool
	declines int // handles that were refused
}

type geminiConn struct {
	s        *Gemini
	l        *link
	n        int
	auto     bool
	ready    bool
	activity bool
	waits    map[string]bool // calls that are not answered
	active   *liveTurn
	told     []map[string]any // guarded by the server's lock
}

type liveTurn struct {
	script Script
	sent   time.Duration
	begun  time.Time
	done   bool // generation
}

// NewGemini starts one.
func NewGemini(tb testing.TB) *Gemini {
	g := &Gemini{heard: "something was said"}
	g.server = newServer(tb, func(l *link) func([]byte) {
		c := &geminiConn{s: g, l: l, waits: map[string]bool{}}
		g.mu.Lock()
		g.conns = append(g.conns, c)
		g.mu.Unlock()
		return c.message
	})
	return g
}

// Will adds what the next answers are, one each; the last is repeated.
func (g *Gemini) Will(s ...Script) { g.mu.Lock(); g.scripts = append(g.scripts, s...); g.mu.Unlock() }

// NoResume makes it refuse handles from now on.
func (g *Gemini) NoResume() { g.mu.Lock(); g.noResume = true; g.mu.Unlock() }

// Declined is how many handles were refused.
func (g *Gemini) Declined() int { g.mu.Lock(); defer g.mu.Unlock(); return g.declines }

// Setups are those that came so far.
func (g *Gemini) Setups() []map[string]any { g.mu.Lock(); defer g.mu.Unlock(); return g.setups }

// Messages are those that came so far and hold the field; "" gives all but audio.
func (g *Gemini) Messages(field string) []map[string]any {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []map[string]any
	for _, m := range g.messages {
		if _, ok := m[field]; ok || field == "" {
			out = append(out, m)
		}
	}
	return out
}

// Calls makes the next answer a call, and those after it what they were.
func (g *Gemini) Calls(name, id, args string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.scripts) == 0 {
		g.scripts = []Script{{Think: 100 * time.Millisecond, Text: "That is what I found.", Audio: 2 * time.Second}}
	}
	g.scripts = append([]Script{{Think: 50 * time.Millisecond, CallName: name, CallID: id, CallArgs: args}}, g.scripts...)
}

// Told is all that the newest connection was told, as JSON.
func (g *Gemini) Told() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	b, _ := json.Marshal(g.conns[len(g.conns)-1].told)
	return string(b)
}

// Audio is the PCM that came within activities so far, or at all when Live finds the turns.
func (g *Gemini) Audio() []byte { g.mu.Lock(); defer g.mu.Unlock(); return g.audio }

// GoAway tells the newest connection that it has so long.
func (g *Gemini) GoAway(left string) {
	g.post(func(c *geminiConn) { c.say(object{"goAway": object{"timeLeft": left}}) })
}

// Say sends a message as it is on the newest connection.
func (g *Gemini) Say(raw string) { g.post(func(c *geminiConn) { c.l.send([]byte(raw)) }) }

// Speak is the person as Live hears them, when it finds the turns.
func (g *Gemini) Speak(words string) {
	g.post(func(c *geminiConn) {
		c.interrupt()
		c.say(object{"serverContent": object{"inputTranscription": object{"text": words}}})
		c.generate()
	})
}

// Interrupt is the person over the answer.
func (g *Gemini) Interrupt() { g.post(func(c *geminiConn) { c.interrupt() }) }

// CancelCalls takes calls back.
func (g *Gemini) CancelCalls(ids ...string) {
	g.post(func(c *geminiConn) {
		for _, id := range ids {
			delete(c.waits, id)
		}
		c.say(object{"toolCallCancellation": object{"ids": ids}})
	})
}

func (g *Gemini) post(f func(c *geminiConn)) {
	g.mu.Lock()
	c := g.conns[len(g.conns)-1]
	g.mu.Unlock()
	c.l.post(func() { f(c) })
}

func (c *geminiConn) say(o object) { c.l.send(map[string]any(o)) }

func (c *geminiConn) message(raw []byte) {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil || len(m) != 1 {
		c.s.tb.Errorf("fake provider: not one message: %.200s", raw)
		return
	}
	if in, ok := m["realtimeInput"].(map[string]any); ok {
		if a, ok := in["audio"].(map[string]any); ok {
			c.hear(a)
			return
		}
	}
	c.s.mu.Lock()
	c.s.messages = append(c.s.messages, m)
	c.told = append(c.told, m)
	c.s.mu.Unlock()
	switch {
	case m["setup"] != nil:
		c.setup(m["setup"].(map[string]any))
	case !c.ready:
		c.s.tb.Errorf("fake provider: before setupComplete: %.200s", raw)
	case m["realtimeInput"] != nil:
		c.input(m["realtimeInput"].(map[string]any))
	case m["clientContent"] != nil:
		if cc := m["clientContent"].(map[string]any); cc["turnComplete"] == true {
			c.interrupt()
			c.generate()
		}
	case m["toolResponse"] != nil:
		for _, r := range m["toolResponse"].(map[string]any)["functionResponses"].([]any) {
			id, _ := r.(map[string]any)["id"].(string)
			if !c.waits[id] {
				c.s.tb.Errorf("fake provider: nobody called %q", id)
			}
			delete(c.waits, id)
		}
		if len(c.waits) == 0 {
			c.generate()
		}
	default:
		c.s.tb.Errorf("fake provider: unknown message: %.200s", raw)
	}
}

func (c *geminiConn) setup(s map[string]any) {
	if c.ready {
		c.s.tb.Error("fake provider: a second setup")
	}
	c.s.mu.Lock()
	refuse := c.s.noResume
	c.s.mu.Unlock()
	if r, ok := s["sessionResumption"].(map[string]any); ok && refuse && r["handle"] != nil {
		c.s.mu.Lock()
		c.s.declines++
		c.s.mu.Unlock()
		c.s.Hang(1008, "session not found")
		return
	}
	c.s.mu.Lock()
	c.s.setups = append(c.s.setups, s)
	n := len(c.s.setups)
	c.s.mu.Unlock()
	d, _ := s["realtimeInputConfig"].(map[string]any)["automaticActivityDetection"].(map[string]any)
	c.auto = d["disabled"] != true
	c.ready = true
	c.say(object{"setupComplete": object{"sessionId": id("live", n)}})
	c.say(object{"sessionResumptionUpdate": object{"newHandle": id("handle", n), "resumable": true}})
}

func (c *geminiConn) hear(a map[string]any) {
	if a["mimeType"] != "audio/pcm;rate=16000" {
		c.s.tb.Errorf("fake provider: audio as %v", a["mimeType"])
	}
	data, _ := a["data"].(string)
	pcm, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		c.s.tb.Error("fake provider: audio is not base64")
	}
	if !c.auto && !c.activity {
		c.s.tb.Error("fake provider: audio outside an activity")
	}
	c.s.mu.Lock()
	c.s.audio = append(c.s.audio, pcm...)
	c.s.mu.Unlock()
}

func (c *geminiConn) input(in map[string]any) {
	switch {
	case in["activityStart"] != nil:
		if c.auto || c.activity {
			c.s.tb.Error("fake provider: activityStart that has no place here")
		}
		c.activity = true
		c.interrupt()
	case in["activityEnd"] != nil:
		if c.auto || !c.activity {
			c.s.tb.Error("fake provider: activityEnd that has no place here")
		}
		c.activity = false
		for _, w := range strings.SplitAfter(c.s.heard, " ") {
			c.say(object{"serverContent": object{"inputTranscription": object{"text": w}}})
		}
		c.generate()
	}
}

// interrupt stops what is being made or, as Live believes, played.
func (c *geminiConn) interrupt() {
	if c.active == nil {
		return
	}
	c.active = nil
	c.say(object{"serverContent": object{"interrupted": true}})
	c.say(object{"serverContent": object{"turnComplete": true}, "usageMetadata": c.usage(0)})
}

func (c *geminiConn) usage(d time.Duration) object {
	n := d.Milliseconds() / 40
	return object{"promptTokenCount": 50, "responseTokenCount": 5 + n, "totalTokenCount": 55 + n,
		"promptTokensDetails":   []any{object{"modality": "TEXT", "tokenCount": 20}, object{"modality": "AUDIO", "tokenCount": 30}},
		"responseTokensDetails": []any{object{"modality": "AUDIO", "tokenCount": n}, object{"modality": "TEXT", "tokenCount": 5}}}
}

func (c *geminiConn) generate() {
	if len(c.waits) > 0 {
		return // frozen
	}
	c.s.mu.Lock()
	s := Script{Think: 100 * time.Millisecond, Text: "I have nothing to say.", Audio: time.Second}
	if len(c.s.scripts) > 0 {
		s = c.s.scripts[0]
		if len(c.s.scripts) > 1 {
			c.s.scripts = c.s.scripts[1:]
		}
	}
	c.s.mu.Unlock()
	if s.Pace == 0 {
		s.Pace = 10 * time.Millisecond
	}
	t := &liveTurn{script: s}
	c.active = t
	c.l.after(s.Think, func() { c.begin(t) })
}

func (c *geminiConn) begin(t *liveTurn) {
	if c.active != t {
		return
	}
	t.begun = time.Now()
	if t.script.CallName != "" {
		var args map[string]any
		_ = json.Unmarshal([]byte(t.script.CallArgs), &args)
		c.active = nil
		c.waits[t.script.CallID] = true
		c.say(object{"toolCall": object{"functionCalls": []any{object{"id": t.script.CallID, "name": t.script.CallName, "args": args}}}})
		return
	}
	c.piece(t)
}

// piece sends the next 100 ms of audio and some words.
func (c *geminiConn) piece(t *liveTurn) {
	if c.active != t {
		return
	}
	if t.sent >= t.script.Audio {
		c.complete(t)
		return
	}
	d := min(100*time.Millisecond, t.script.Audio-t.sent)
	c.say(object{"serverContent": object{"modelTurn": object{"role": "model", "parts": []any{object{"inlineData": object{"mimeType": "audio/pcm;rate=24000",
		"data": base64.StdEncoding.EncodeToString(Tone(24000, d))}}}}}})
	words := strings.SplitAfter(t.script.Text, " ")
	if i := int(t.sent / (100 * time.Millisecond)); i < len(words) {
		c.say(object{"serverContent": object{"outputTranscription": object{"text": words[i]}}})
	}
	t.sent += d
	c.l.after(t.script.Pace, func() { c.piece(t) })
}

func (c *geminiConn) complete(t *liveTurn) {
	if !t.done {
		t.done = true
		words := strings.SplitAfter(t.script.Text, " ")
		if i := int(t.script.Audio / (100 * time.Millisecond)); i < len(words) {
			c.say(object{"serverContent": object{"outputTranscription": object{"text": strings.Join(words[i:], "")}}})
		}
		c.say(object{"serverContent": object{"generationComplete": true}})
	}
	c.l.after(max(time.Until(t.begun.Add(t.script.Audio)), 0), func() { // it believes that its audio is being played
		if c.active == t {
			c.active = nil
			c.say(object{"serverContent": object{"turnComplete": true}, "usageMetadata": c.usage(t.script.Audio)})
		}
	})
}
