package conversation

import (
	"slices"

	"hovor/signaling/realtime"
)

// Policy is how much of an assistant a client may change.
type Policy string

// The policies.
const (
	// Locked: what makes the assistant (instructions, prompt, tools, voice, budget) is neither the client's to change nor to
	// see; how the client talks to it is.
	Locked Policy = "locked"
	// Merge: everything may be changed, but tools are the catalogue's: a client may choose among them, in their own words.
	Merge Policy = "merge"
	// Open: the client may also bring tools of its own, and answer their calls.
	Open Policy = "open"
)

// field is one part of a session that a policy speaks of.
type field struct {
	name string
	in   func(*realtime.Session) bool
	drop func(*realtime.Session)
}

// fields are all parts that a client can change. A part of the audio is looked for in copies: see permit.
var fields = []field{
	{"instructions", func(s *realtime.Session) bool { return s.Instructions != nil }, func(s *realtime.Session) { s.Instructions = nil }},
	{"prompt", func(s *realtime.Session) bool { return s.Prompt.Set }, func(s *realtime.Session) { s.Prompt = realtime.Nullable[realtime.Prompt]{} }},
	{"tools", func(s *realtime.Session) bool { return s.Tools != nil }, func(s *realtime.Session) { s.Tools = nil }},
	{"tool_choice", func(s *realtime.Session) bool { return s.ToolChoice != nil }, func(s *realtime.Session) { s.ToolChoice = nil }},
	{"parallel_tool_calls", func(s *realtime.Session) bool { return s.ParallelToolCalls != nil }, func(s *realtime.Session) { s.ParallelToolCalls = nil }},
	{"max_output_tokens", func(s *realtime.Session) bool { return s.MaxOutputTokens != 0 }, func(s *realtime.Session) { s.MaxOutputTokens = 0 }},
	{"reasoning", func(s *realtime.Session) bool { return s.Reasoning.Set }, func(s *realtime.Session) { s.Reasoning = realtime.Nullable[realtime.Reasoning]{} }},
	{"truncation", func(s *realtime.Session) bool { return s.Truncation != nil }, func(s *realtime.Session) { s.Truncation = nil }},
	{"voice", func(s *realtime.Session) bool { return s.Voice() != "" }, func(s *realtime.Session) { s.Audio.Output.Voice = "" }},
	{"speed", func(s *realtime.Session) bool { return output(s).Speed != 0 }, func(s *realtime.Session) { s.Audio.Output.Speed = 0 }},
	{"output_modalities", func(s *realtime.Session) bool { return s.OutputModalities != nil }, func(s *realtime.Session) { s.OutputModalities = nil }},
	{"turn_detection", func(s *realtime.Session) bool { return input(s).TurnDetection.Set }, func(s *realtime.Session) {
		s.Audio.Input.TurnDetection = realtime.Nullable[realtime.TurnDetection]{}
	}},
	{"transcription", func(s *realtime.Session) bool { return input(s).Transcription.Set }, func(s *realtime.Session) {
		s.Audio.Input.Transcription = realtime.Nullable[realtime.Transcription]{}
	}},
	{"noise_reduction", func(s *realtime.Session) bool { return input(s).NoiseReduction.Set }, func(s *realtime.Session) {
		s.Audio.Input.NoiseReduction = realtime.Nullable[realtime.NoiseReduction]{}
	}},
	{"tracing", func(s *realtime.Session) bool { return s.Tracing.Set }, func(s *realtime.Session) { s.Tracing = realtime.Nullable[realtime.Tracing]{} }},
	{"include", func(s *realtime.Session) bool { return s.Include != nil }, func(s *realtime.Session) { s.Include = nil }},
}

// lockedFields are those that a client of a locked assistant may change all the same: how it talks, not to whom.
var lockedFields = []string{"speed", "output_modalities", "turn_detection", "transcription", "noise_reduction", "tracing", "include"}

func input(s *realtime.Session) realtime.AudioInput {
	if s.Audio == nil || s.Audio.Input == nil {
		return realtime.AudioInput{}
	}
	return *s.Audio.Input
}

func output(s *realtime.Session) realtime.AudioOutput {
	if s.Audio == nil || s.Audio.Output == nil {
		return realtime.AudioOutput{}
	}
	return *s.Audio.Output
}

// FieldNames are the names that Assistant.Fields may hold.
func FieldNames() []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}

// MayChange are the fields that a client may change.
func (a *Assistant) MayChange() []string {
	switch {
	case a.Fields != nil:
		return a.Fields
	case a.Policy == Locked:
		return lockedFields
	}
	return FieldNames()
}

func (a *Assistant) locked() bool { return a.Policy == Locked }

// permit is what of an update a client may have, and how many parts of it were left out. spoke: the voice was heard, and
// cannot change any more. The result shares nothing with u.
func permit(a *Assistant, u realtime.Session, spoke bool) (_ realtime.Session, dropped int) {
	u = u.Clone()
	u.ID, u.Object, u.Model, u.ExpiresAt = "", "", "", 0
	u.Type = realtime.SessionRealtime
	allowed := a.MayChange()
	for _, f := range fields {
		if f.in(&u) && (!slices.Contains(allowed, f.name) || f.name == "voice" && spoke) {
			f.drop(&u)
			dropped++
		}
	}
	if u.Tools != nil {
		var n int
		u.Tools, n = permitTools(a, u.Tools)
		dropped += n
	}
	return u, dropped
}

// permitTools keeps those that the catalogue defines, as the catalogue defines them; an open assistant takes others too.
func permitTools(a *Assistant, asked []realtime.Tool) (kept []realtime.Tool, dropped int) {
	kept = []realtime.Tool{}
	for _, t := range asked {
		function := t.Type == "" || t.Type == "function"
		taken := slices.ContainsFunc(kept, func(k realtime.Tool) bool { return k.Name == t.Name && k.ServerLabel == t.ServerLabel })
		defined, known := a.tool(t.Name)
		switch {
		case taken, !known && a.Policy != Open, known && !function:
			dropped++
		case known:
			kept = append(kept, defined)
		default:
			kept = append(kept, t)
		}
	}
	return kept, dropped
}

// tool is the catalogue's definition of a tool.
func (a *Assistant) tool(name string) (realtime.Tool, bool) {
	i := slices.IndexFunc(a.Tools, func(d realtime.Tool) bool { return d.Name == name && name != "" })
	if i < 0 {
		return realtime.Tool{}, false
	}
	return a.Tools[i], true
}

// permitResponse is what of a response's own settings a client may have; the same rules as for the session.
func (st *step) permitResponse(p realtime.ResponseParams) realtime.ResponseParams {
	s := realtime.Session{Instructions: p.Instructions, OutputModalities: p.OutputModalities, Tools: p.Tools, ToolChoice: p.ToolChoice,
		ParallelToolCalls: p.ParallelToolCalls, MaxOutputTokens: p.MaxOutputTokens}
	if p.Reasoning != nil {
		s.Reasoning = realtime.Some(*p.Reasoning)
	}
	if p.Prompt != nil {
		s.Prompt = realtime.Some(*p.Prompt)
	}
	if p.Audio != nil {
		s.Audio = &realtime.Audio{Output: p.Audio.Output}
	}
	s, dropped := permit(&st.cfg.Assistant, s, st.spoke)
	if dropped > 0 {
		st.count(EventRefused{Code: "response_field"})
	}
	p.Instructions, p.OutputModalities, p.Tools, p.ToolChoice = s.Instructions, s.OutputModalities, s.Tools, s.ToolChoice
	p.ParallelToolCalls, p.MaxOutputTokens, p.Reasoning, p.Prompt = s.ParallelToolCalls, s.MaxOutputTokens, s.Reasoning.Value, s.Prompt.Value
	if s.Audio != nil && s.Audio.Output != nil {
		p.Audio = &realtime.ResponseParamsAudio{Output: s.Audio.Output}
	}
	return p
}

// View is the session as the client may see it: no tool's secrets, and of a locked assistant neither instructions nor tools.
func (s State) View() realtime.Session {
	v := s.session
	if s.cfg.Assistant.locked() {
		v.Instructions, v.Tools, v.Prompt = nil, nil, realtime.Null[realtime.Prompt]()
		return v
	}
	v.Tools = slices.Clone(v.Tools)
	for i := range v.Tools {
		v.Tools[i].Authorization, v.Tools[i].Headers = "", nil
	}
	return v
}

// shown is an item as the client may see it: what a locked assistant is told by the system is not the client's.
func (s *State) shown(it realtime.Item) realtime.Item {
	if s.hidden(it) {
		it.Content = []realtime.Content{}
	}
	return it
}

func (s *State) hidden(it realtime.Item) bool {
	return s.cfg.Assistant.locked() && it.Role == realtime.RoleSystem
}

// redact takes out of the provider's words what the client may not see.
func (s *State) redact(ev realtime.Event, raw []byte) []byte {
	var it realtime.Item
	switch ev := ev.(type) {
	case *realtime.ConversationItemAdded:
		it = ev.Item
	case *realtime.ConversationItemDone:
		it = ev.Item
	case *realtime.ConversationItemCreated:
		it = ev.Item
	case *realtime.ConversationItemRetrieved:
		it = ev.Item
	}
	if !s.hidden(it) {
		return raw
	}
	return rewrite(raw, func(v any) {
		root, _ := v.(map[string]any)
		if item, _ := root["item"].(map[string]any); item != nil {
			item["content"] = []any{}
		}
	})
}
