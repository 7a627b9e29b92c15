package realtime

import (
	"maps"
	"slices"
)

// Defaults of the published API (openai: RealtimeSessionCreateRequest, RealtimeAudioInputTurnDetection).
const (
	DefaultVoice             = "marin"
	DefaultRate              = 24000 // Hz of audio/pcm
	DefaultThreshold         = 0.5
	DefaultPrefixPaddingMS   = 300
	DefaultSilenceDurationMS = 500
	DefaultEagerness         = "auto"
)

// Merge applies a session.update: what u leaves out stays, what it sets replaces, what it clears is cleared. Type, Model,
// ID, Object and ExpiresAt cannot be changed once they are set. A turn_detection of the same type is merged field by
// field, one of another type replaces. Neither s nor u is changed, and the result shares nothing with them.
func (s Session) Merge(u Session) Session {
	s, u = s.Clone(), u.Clone()
	keep(&s.Type, u.Type)
	keep(&s.Model, u.Model)
	keep(&s.ID, u.ID)
	keep(&s.Object, u.Object)
	keep(&s.ExpiresAt, u.ExpiresAt)

	setPtr(&s.Instructions, u.Instructions)
	setSlice(&s.OutputModalities, u.OutputModalities)
	setSlice(&s.Tools, u.Tools)
	setSlice(&s.Include, u.Include)
	setPtr(&s.ToolChoice, u.ToolChoice)
	setPtr(&s.ParallelToolCalls, u.ParallelToolCalls)
	setPtr(&s.Truncation, u.Truncation)
	set(&s.MaxOutputTokens, u.MaxOutputTokens)
	setNullable(&s.Reasoning, u.Reasoning)
	setNullable(&s.Prompt, u.Prompt)
	setNullable(&s.Tracing, u.Tracing)
	s.Audio = mergeAudio(s.Audio, u.Audio)
	return s
}

func mergeAudio(s, u *Audio) *Audio {
	if s == nil || u == nil {
		return either(u, s)
	}
	s.Input = mergeInput(s.Input, u.Input)
	s.Output = mergeOutput(s.Output, u.Output)
	return s
}

func mergeInput(s, u *AudioInput) *AudioInput {
	if s == nil || u == nil {
		return either(u, s)
	}
	setPtr(&s.Format, u.Format)
	setNullable(&s.NoiseReduction, u.NoiseReduction)
	switch old, new := s.Transcription.Value, u.Transcription.Value; {
	case old != nil && new != nil:
		mergeTranscription(old, new)
	default:
		setNullable(&s.Transcription, u.Transcription)
	}
	switch old, new := s.TurnDetection.Value, u.TurnDetection.Value; {
	case old != nil && new != nil && old.Type == new.Type:
		mergeTurnDetection(old, new)
	default:
		setNullable(&s.TurnDetection, u.TurnDetection)
	}
	return s
}

func mergeTranscription(s, u *Transcription) {
	set(&s.Model, u.Model)
	set(&s.Language, u.Language)
	set(&s.Prompt, u.Prompt)
	set(&s.Delay, u.Delay)
	setSlice(&s.Languages, u.Languages)
	setSlice(&s.Keywords, u.Keywords)
}

func mergeTurnDetection(s, u *TurnDetection) {
	setPtr(&s.Threshold, u.Threshold)
	setPtr(&s.PrefixPaddingMS, u.PrefixPaddingMS)
	setPtr(&s.SilenceDurationMS, u.SilenceDurationMS)
	setNullable(&s.IdleTimeoutMS, u.IdleTimeoutMS)
	set(&s.Eagerness, u.Eagerness)
	setPtr(&s.CreateResponse, u.CreateResponse)
	setPtr(&s.InterruptResponse, u.InterruptResponse)
}

func mergeOutput(s, u *AudioOutput) *AudioOutput {
	if s == nil || u == nil {
		return either(u, s)
	}
	setPtr(&s.Format, u.Format)
	set(&s.Voice, u.Voice)
	set(&s.Speed, u.Speed)
	return s
}

// WithDefaults is the effective session: everything that a client may want to read is there, turn_detection with all the
// fields of its type. Clients rely on it: one that does not find interrupt_response cancels every answer by itself.
func (s Session) WithDefaults() Session {
	s = s.Clone()
	def(&s.Type, SessionRealtime)
	def(&s.Object, "realtime.session")
	if s.Type == SessionTranscription {
		s.Object = "realtime.transcription_session"
	}
	if s.Instructions == nil {
		s.Instructions = new(string)
	}
	if len(s.OutputModalities) == 0 {
		s.OutputModalities = []string{"audio"}
	}
	if s.Tools == nil {
		s.Tools = []Tool{}
	}
	if s.Include == nil {
		s.Include = []string{}
	}
	defPtr(&s.ToolChoice, ToolChoice{Mode: "auto"})
	defPtr(&s.ParallelToolCalls, true)
	defPtr(&s.Truncation, Truncation{Mode: "auto"})
	def(&s.MaxOutputTokens, InfTokens)
	s.Prompt.Set, s.Tracing.Set = true, true
	defPtr(&s.Audio, Audio{})
	defPtr(&s.Audio.Input, AudioInput{})
	defPtr(&s.Audio.Output, AudioOutput{})
	s.Audio.Input.withDefaults()
	s.Audio.Output.withDefaults()
	return s
}

func (a *AudioInput) withDefaults() {
	a.Format = a.Format.withDefaults()
	a.NoiseReduction.Set, a.Transcription.Set = true, true
	if !a.TurnDetection.Set {
		a.TurnDetection = Some(TurnDetection{Type: ServerVAD})
	}
	if t := a.TurnDetection.Value; t != nil {
		t.withDefaults()
	}
}

func (a *AudioOutput) withDefaults() {
	a.Format = a.Format.withDefaults()
	def(&a.Voice, DefaultVoice)
	def(&a.Speed, 1)
}

func (f *AudioFormat) withDefaults() *AudioFormat {
	if f == nil || f.Type == "" {
		return &AudioFormat{Type: "audio/pcm", Rate: DefaultRate}
	}
	if f.Type == "audio/pcm" {
		def(&f.Rate, DefaultRate)
	}
	return f
}

func (t *TurnDetection) withDefaults() {
	defPtr(&t.CreateResponse, true)
	defPtr(&t.InterruptResponse, true)
	if t.Type == SemanticVAD {
		def(&t.Eagerness, DefaultEagerness)
		return
	}
	defPtr(&t.Threshold, DefaultThreshold)
	defPtr(&t.PrefixPaddingMS, DefaultPrefixPaddingMS)
	defPtr(&t.SilenceDurationMS, DefaultSilenceDurationMS)
	t.IdleTimeoutMS.Set = true
}

// ForUpdate is the session as a session.update may carry it: without what only a server says.
func (s Session) ForUpdate() Session {
	s = s.Clone()
	s.ID, s.Object, s.ExpiresAt = "", "", 0
	return s
}

// TurnDetection is the session's turn detection; nil is manual, or not said.
func (s *Session) TurnDetection() *TurnDetection {
	if s.Audio == nil || s.Audio.Input == nil {
		return nil
	}
	return s.Audio.Input.TurnDetection.Value
}

// Voice is the session's voice, empty when it does not say.
func (s *Session) Voice() Voice {
	if s.Audio == nil || s.Audio.Output == nil {
		return ""
	}
	return s.Audio.Output.Voice
}

// Clone shares nothing that can be changed with s.
func (s Session) Clone() Session {
	s.Instructions = cp(s.Instructions)
	s.OutputModalities = slices.Clone(s.OutputModalities)
	s.Include = slices.Clone(s.Include)
	s.Tools = slices.Clone(s.Tools)
	for i := range s.Tools {
		s.Tools[i] = s.Tools[i].clone()
	}
	s.ToolChoice = cp(s.ToolChoice)
	s.ParallelToolCalls = cp(s.ParallelToolCalls)
	s.Truncation = cp(s.Truncation)
	s.Reasoning.Value = cp(s.Reasoning.Value)
	s.Prompt.Value = cp(s.Prompt.Value)
	s.Tracing.Value = cp(s.Tracing.Value)
	s.Audio = cp(s.Audio)
	if s.Audio != nil {
		s.Audio.Input = s.Audio.Input.clone()
		s.Audio.Output = cp(s.Audio.Output)
		if s.Audio.Output != nil {
			s.Audio.Output.Format = cp(s.Audio.Output.Format)
		}
	}
	return s
}

func (a *AudioInput) clone() *AudioInput {
	a = cp(a)
	if a == nil {
		return nil
	}
	a.Format = cp(a.Format)
	a.NoiseReduction.Value = cp(a.NoiseReduction.Value)
	if a.NoiseReduction.Value != nil {
		a.NoiseReduction.Value.Strength = cp(a.NoiseReduction.Value.Strength)
	}
	if t := cp(a.Transcription.Value); t != nil {
		t.Languages, t.Keywords = slices.Clone(t.Languages), slices.Clone(t.Keywords)
		a.Transcription.Value = t
	}
	if t := cp(a.TurnDetection.Value); t != nil {
		t.Threshold, t.PrefixPaddingMS, t.SilenceDurationMS = cp(t.Threshold), cp(t.PrefixPaddingMS), cp(t.SilenceDurationMS)
		t.IdleTimeoutMS.Value = cp(t.IdleTimeoutMS.Value)
		t.CreateResponse, t.InterruptResponse = cp(t.CreateResponse), cp(t.InterruptResponse)
		a.TurnDetection.Value = t
	}
	return a
}

func (t Tool) clone() Tool {
	t.Headers = maps.Clone(t.Headers)
	t.DeferLoading = cp(t.DeferLoading)
	return t // the Raw fields are never changed in place
}

func cp[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// either is the first that is not nil.
func either[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// keep sets dst only when it is still empty; def is the same, read the other way: it fills in a default.
func keep[T comparable](dst *T, v T) { def(dst, v) }

func def[T comparable](dst *T, v T) {
	var zero T
	if *dst == zero {
		*dst = v
	}
}

func defPtr[T any](dst **T, v T) {
	if *dst == nil {
		*dst = &v
	}
}

func set[T comparable](dst *T, v T) {
	var zero T
	if v != zero {
		*dst = v
	}
}

func setPtr[T any](dst **T, v *T) {
	if v != nil {
		*dst = v
	}
}

func setSlice[T any](dst *[]T, v []T) {
	if v != nil {
		*dst = v
	}
}

func setNullable[T any](dst *Nullable[T], v Nullable[T]) {
	if v.Set {
		*dst = v
	}
}
