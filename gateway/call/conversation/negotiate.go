package conversation

import (
	"slices"

	"hovor/signaling/realtime"
)

// opening is the session a call begins with: the assistant's, and of what the client asked for what it may have.
func opening(cfg *Config) realtime.Session {
	a := &cfg.Assistant
	s := a.Session
	s.Type, s.Object, s.ID = realtime.SessionRealtime, "realtime.session", cfg.SessionID
	if s.Model == "" {
		s.Model = a.Model
	}
	instructions := a.Instructions
	s.Instructions = &instructions
	s.Tools = slices.Clone(a.Tools)
	if s.Tools == nil {
		s.Tools = []realtime.Tool{}
	}
	if cfg.Requested != nil {
		asked := *cfg.Requested
		alias := asked.Model
		asked, _ = permit(a, asked, false)
		s = s.Merge(asked)
		if alias != "" {
			s.Model = alias // the client sees the name it asked for
		}
	}
	return s.WithDefaults()
}

// Upstream is the session as the provider shall have it: with our ear on, turns are found here and not there.
func (s State) Upstream() realtime.Session {
	u := s.session
	u.ID, u.Object, u.ExpiresAt = "", "", 0
	u.Model = s.cfg.Assistant.Model
	if s.cfg.Ear {
		u = withDetection(u, realtime.Null[realtime.TurnDetection]())
	}
	return u
}

// withDetection sets the turn detection without touching the session it came from.
func withDetection(s realtime.Session, d realtime.Nullable[realtime.TurnDetection]) realtime.Session {
	audio, input := realtime.Audio{}, realtime.AudioInput{}
	if s.Audio != nil {
		audio = *s.Audio
		if s.Audio.Input != nil {
			input = *s.Audio.Input
		}
	}
	input.TurnDetection = d
	audio.Input = &input
	s.Audio = &audio
	return s
}

// detection is the session's turn detection; null is manual.
func (s *State) detection() realtime.Nullable[realtime.TurnDetection] {
	if s.session.Audio == nil || s.session.Audio.Input == nil {
		return realtime.Null[realtime.TurnDetection]()
	}
	return s.session.Audio.Input.TurnDetection
}

// manual: the client says when a turn ends.
func (s *State) manual() bool { return s.detection().Value == nil }

// hears: our ear finds the turns.
func (s *State) hears() bool { return s.cfg.Ear && !s.manual() }

func (s *State) interrupts() bool {
	d := s.detection().Value
	return d != nil && (d.InterruptResponse == nil || *d.InterruptResponse)
}

func (s *State) creates() bool {
	d := s.detection().Value
	return d != nil && (d.CreateResponse == nil || *d.CreateResponse)
}

func (st *step) channelOpened() {
	if st.channel {
		return
	}
	st.channel, st.openAt = true, st.now
	st.count(SetupDone{Phase: "channel", Took: st.now})
	st.word()
	st.do(ToClient{Event: &realtime.SessionCreated{Session: st.View()}, To: ClientAlone})
	c := st.cfg
	st.do(ToClient{To: ClientAlone, Event: &realtime.HovorCall{CallID: c.CallID, ThreadID: c.ThreadID, Person: realtime.HovorPerson{ID: c.PersonID, Name: c.PersonName},
		Assistant: c.Assistant.Name, Language: c.Assistant.Language, AudioPath: c.AudioPath}})
	switch {
	case st.doom.near:
		st.fall()
	case st.ready:
		st.tell(&realtime.HovorProvider{State: "connected"})
	}
}

func (st *step) providerReady() {
	if st.ready || st.doom.near {
		return
	}
	st.ready, st.openAt = true, st.now
	st.cleared, st.clearedAt = st.media.Received, st.now
	st.renewFrom(st.now)
	st.word()
	for _, ev := range st.waiting {
		st.do(ToProvider{ev})
	}
	st.waiting = nil
	if st.channel {
		st.tell(&realtime.HovorProvider{State: "connected"})
	}
}

// sessionUpdate merges what the client may have, tells the provider, and answers with the effective session.
func (st *step) sessionUpdate(ev *realtime.SessionUpdate) {
	u, dropped := permit(&st.cfg.Assistant, ev.Session, st.spoke)
	if dropped > 0 {
		st.count(EventRefused{Code: "session_field"})
	}
	before := st.detection()
	st.session = st.session.Merge(u).WithDefaults()
	change := u
	if st.cfg.Ear && u.Audio != nil && u.Audio.Input != nil && u.Audio.Input.TurnDetection.Set {
		change = withDetection(change, realtime.Null[realtime.TurnDetection]())
	}
	if !st.up(&realtime.SessionUpdate{EventID: ev.EventID, Session: change}, ev.EventID) {
		return
	}
	if now := st.detection(); (before.Value == nil) != (now.Value == nil) {
		st.switchMode()
	}
	if u.Audio != nil && u.Audio.Input != nil && u.Audio.Input.TurnDetection.Set {
		st.do(Listen{Detection: st.detection()})
	}
	if st.cfg.Socket && u.Audio != nil {
		st.do(st.formats())
	}
	st.tell(&realtime.SessionUpdated{Session: st.View()})
}

// switchMode closes the turn that is being made: its rules are no longer the rules.
func (st *step) switchMode() {
	if st.floor == free {
		return
	}
	if st.turn.told {
		st.tell(&realtime.InputAudioBufferSpeechStopped{AudioEndMS: ms(st.media.Received), ItemID: st.turn.item})
	}
	st.floor, st.turn = free, exchange{}
}
