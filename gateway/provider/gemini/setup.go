package gemini

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"hovor/gateway/provider"
	"hovor/gateway/provider/socket"
	"hovor/signaling/realtime"
)

// setup is the session as Live takes it; it cannot change while a connection stands.
func (l *leg) setup(s realtime.Session) setup {
	out := setup{Model: modelName(l.model), GenerationConfig: generationConfig{ResponseModalities: []string{"AUDIO"}},
		OutputAudioTranscription: &transcribe{}, ContextWindowCompression: &compression{}}
	if slices.Equal(s.OutputModalities, []string{"text"}) {
		out.GenerationConfig.ResponseModalities = []string{"TEXT"}
		out.OutputAudioTranscription = nil
	}
	if s.MaxOutputTokens > 0 {
		out.GenerationConfig.MaxOutputTokens = int(s.MaxOutputTokens)
	}
	if s.Instructions != nil && *s.Instructions != "" {
		out.SystemInstruction = &content{Parts: []part{{Text: *s.Instructions}}}
	}
	voice := l.cfg.Voice
	if voice == "" && s.Audio != nil && s.Audio.Output != nil {
		if v := string(s.Audio.Output.Voice); v != "" && v[0] >= 'A' && v[0] <= 'Z' {
			voice = v // Google's are Puck, Kore and the like; OpenAI's are all lower case
		}
	}
	if voice != "" {
		out.GenerationConfig.SpeechConfig = &speechConfig{}
		out.GenerationConfig.SpeechConfig.VoiceConfig.Prebuilt.VoiceName = voice
	}
	var functions []declaration
	for _, t := range s.Tools {
		if t.Type == "" || t.Type == "function" {
			functions = append(functions, declaration{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
		}
	}
	if len(functions) > 0 && (s.ToolChoice == nil || s.ToolChoice.Mode != "none") {
		out.Tools = []tool{{FunctionDeclarations: functions}}
	}
	l.listening(&out, s)
	return out
}

// listening says who finds the turns.
func (l *leg) listening(out *setup, s realtime.Session) {
	var in realtime.AudioInput
	if s.Audio != nil && s.Audio.Input != nil {
		in = *s.Audio.Input
	}
	if t := in.Transcription.Value; t != nil {
		out.InputAudioTranscription = &transcribe{}
		if t.Language != "" {
			out.InputAudioTranscription.LanguageCodes = []string{t.Language}
		}
	}
	d := in.TurnDetection.Value
	if d == nil {
		out.RealtimeInputConfig.Detection.Disabled = true
		return
	}
	out.RealtimeInputConfig.Detection.PrefixPaddingMS = d.PrefixPaddingMS
	out.RealtimeInputConfig.Detection.SilenceDurationMS = d.SilenceDurationMS
	if d.InterruptResponse != nil && !*d.InterruptResponse {
		out.RealtimeInputConfig.Handling = "NO_INTERRUPTION"
	}
}

// open makes a connection and hands the conversation so far over: by the handle that Live gave, else in words.
func (l *leg) open(ctx context.Context, _ bool) (*socket.Conn, error) {
	l.mu.Lock()
	session, handle := l.session, l.ticket
	l.mu.Unlock()
	conn, err := l.openWith(ctx, session, handle)
	if e := provider.AsError(err); e != nil && handle != "" && e.Class == provider.Rejected {
		l.log.Info("the provider does not resume its session", "code", e.Code)
		l.mu.Lock()
		l.ticket = ""
		l.mu.Unlock()
		return l.openWith(ctx, session, "")
	}
	return conn, err
}

func (l *leg) openWith(ctx context.Context, session realtime.Session, handle string) (*socket.Conn, error) {
	conn, err := socket.Dial(ctx, socket.Config{URL: l.cfg.target(), Net: l.cfg.Net, TLS: l.cfg.TLS, Logger: l.log})
	if err != nil {
		return nil, err
	}
	s := l.setup(session)
	plain := encode(clientMessage{Setup: &s})
	s.SessionResumption = &resumption{Handle: handle}
	version := l.past.Version()
	err = conn.Exchange(ctx, [][]byte{encode(clientMessage{Setup: &s})}, func(raw []byte) (bool, error) {
		var m serverMessage
		if json.Unmarshal(raw, &m) != nil || !m.known() {
			return false, &provider.Error{Class: provider.BadAnswer, Code: realtime.CodeInvalidEvent}
		}
		if m.Error != nil {
			return false, &provider.Error{Class: provider.ClassOfStatus(m.Error.Code), Status: m.Error.Code, Code: m.Error.Status}
		}
		return m.SetupComplete != nil, nil
	})
	if err == nil && handle == "" {
		if turns := l.turns(); len(turns) > 0 {
			if e := conn.Say(encode(clientMessage{ClientContent: &clientContent{Turns: turns}})); e != nil {
				err = &provider.Error{Class: provider.Lost}
			}
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	l.mu.Lock()
	l.configured, l.version, l.fresh = string(plain), version, handle == ""
	l.connection++
	l.mu.Unlock()
	return conn, nil
}

// turns is the conversation so far as Live takes it. What waits for the next question is not among it.
func (l *leg) turns() []content {
	l.mu.Lock()
	waits := map[string]bool{}
	for _, it := range l.pending {
		waits[it.ID] = true
	}
	l.mu.Unlock()
	var out []content
	names := map[string]string{}
	for _, it := range l.past.Said() {
		if waits[it.ID] {
			continue
		}
		c, ok := turn(it, names)
		if !ok {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == c.Role {
			out[n-1].Parts = append(out[n-1].Parts, c.Parts...)
			continue
		}
		out = append(out, c)
	}
	return out
}

// turn is one item as Live takes it. names are those of the calls seen so far.
func turn(it realtime.Item, names map[string]string) (content, bool) {
	switch it.Type {
	case realtime.ItemMessage:
		role := "user"
		if it.Role == realtime.RoleAssistant {
			role = "model"
		}
		text := it.TextOf()
		return content{Role: role, Parts: []part{{Text: text}}}, text != ""
	case realtime.ItemFunctionCall:
		names[it.CallID] = it.Name
		return content{Role: "model", Parts: []part{{FunctionCall: &functionCall{Name: it.Name, Args: arguments(it.Arguments)}}}}, true
	case realtime.ItemFunctionCallOutput:
		if it.Output == nil {
			return content{}, false
		}
		return content{Role: "user", Parts: []part{{FunctionResponse: &functionResponse{Name: names[it.CallID], Response: output(*it.Output)}}}}, true
	}
	return content{}, false
}

// arguments is a JSON object, whatever it was.
func arguments(s string) json.RawMessage {
	var m map[string]any
	if json.Unmarshal([]byte(s), &m) != nil || m == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(s)
}

// output is a tool's output as Live takes it: an object. One that is not gets the key that Live knows.
func output(s string) json.RawMessage {
	var m map[string]any
	if json.Unmarshal([]byte(s), &m) == nil && m != nil {
		return json.RawMessage(s)
	}
	return encode(map[string]string{"output": s})
}

// encode writes what we send: structs of ours, whose raw parts were read from JSON before. An empty message does no harm.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte("{}")
	}
	return b
}

// quiet: nothing is being made, played or waited for. What the person says now waits here and is not lost.
func (l *leg) quiet() bool {
	l.mu.Lock()
	busy := l.active != nil || l.zombie || l.live || l.busyTools() || len(l.answers) > 0 || l.auto && time.Since(l.spoke) < hush
	l.mu.Unlock()
	return !busy && l.out.Quiet()
}

func (l *leg) same() bool {
	version := l.past.Version()
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.fresh || l.version == version
}
