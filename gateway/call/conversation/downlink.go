package conversation

import (
	"slices"
	"strings"
	"time"

	"hovor/gateway/thread"
	"hovor/signaling/realtime"
)

// providerEvent takes an event from upstream: what it changes here, and whether and how the client sees it.
func (st *step) providerEvent(h ProviderEvent) {
	id := responseOf(h.Event)
	if id != "" && slices.Contains(st.dead, id) {
		return
	}
	if id != "" && id == st.gen.id {
		st.gen.heardFrom = st.now
	}
	raw := h.Raw
	switch ev := h.Event.(type) {
	case *realtime.SessionCreated, *realtime.SessionUpdated:
		return // the client's session is ours, and it has been told
	case *realtime.ErrorEvent:
		st.providerError(ev, raw)
		return
	case *realtime.InputAudioBufferCleared:
		own := len(st.clears) > 0 && st.clears[0].own
		if len(st.clears) > 0 {
			st.clears = st.clears[1:]
		}
		if own {
			return
		}
	case *realtime.InputAudioBufferCommitted:
		st.committed(ev)
		raw = st.rename(raw)
	case *realtime.InputAudioBufferSpeechStarted:
		if st.cfg.Ear {
			return
		}
		st.providerHears(ev)
	case *realtime.InputAudioBufferSpeechStopped:
		if st.cfg.Ear {
			return
		}
		st.turn.speechEnd, st.floor = st.now, free
	case *realtime.ResponseCreated:
		if !st.created(ev) {
			return
		}
	case *realtime.ResponseDone:
		raw = st.done(ev, raw)
	default:
		raw = st.contentEvent(ev, raw)
	}
	st.do(ToClientRaw{Type: h.Event.EventType(), Raw: raw})
}

// contentEvent follows what a response is made of and what is heard of it.
func (st *step) contentEvent(ev realtime.Event, raw []byte) []byte {
	switch ev := ev.(type) {
	case *realtime.ResponseOutputItemAdded:
		if ev.Item.Type == realtime.ItemMessage {
			st.placeOf(ev.Item.ID, nil)
		}
	case *realtime.ResponseOutputItemDone:
		st.functionCall(ev)
	case *realtime.ResponseContentPartAdded:
		if ev.Part.Type == realtime.PartAudio {
			st.audioPart(ev.ResponseID, ev.ItemID, ev.ContentIndex)
		}
	case *realtime.ResponseOutputAudioTranscriptDelta:
		st.says(ev.ItemID, ev.ResponseID, ev.Delta, false)
	case *realtime.ResponseOutputAudioTranscriptDone:
		st.says(ev.ItemID, ev.ResponseID, ev.Transcript, true)
	case *realtime.ResponseOutputTextDelta:
		st.wrote(ev.ResponseID)
	case *realtime.ResponseOutputTextDone:
		st.wrote(ev.ResponseID)
		st.keep(thread.Item{ID: ev.ItemID, Role: thread.Assistant, Kind: thread.Typed, Text: thread.Words(ev.Text), Complete: true}, nil)
	case *realtime.OutputAudioBufferStarted:
		st.sounds(ev.ResponseID)
	case *realtime.OutputAudioBufferStopped:
		st.stopped(ev.ResponseID)
	case *realtime.OutputAudioBufferCleared:
		st.clearedByProvider(ev.ResponseID)
	case *realtime.ConversationItemInputAudioTranscriptionCompleted:
		st.heardPerson(st.mine(ev.ItemID), ev.Transcript)
		return st.rename(raw)
	case *realtime.ConversationItemAdded, *realtime.ConversationItemDone, *realtime.ConversationItemCreated, *realtime.ConversationItemRetrieved,
		*realtime.ConversationItemTruncated, *realtime.ConversationItemInputAudioTranscriptionDelta,
		*realtime.ConversationItemInputAudioTranscriptionSegment, *realtime.ConversationItemInputAudioTranscriptionFailed:
		return st.rename(raw)
	case *realtime.ConversationItemDeleted:
		st.forget(st.mine(ev.ItemID))
		return st.rename(raw)
	}
	return raw
}

// committed: the provider has an item for what the person said; from now on it has two ids.
func (st *step) committed(ev *realtime.InputAudioBufferCommitted) {
	if len(st.commits) > 0 {
		st.ids = addBounded(st.ids, idPair{theirs: ev.ItemID, ours: st.commits[0].item}, maxIDs)
		st.commits = st.commits[1:]
	} else if !st.cfg.Ear { // the provider found the turn
		if !st.turn.open {
			st.openTurn(modeOpen)
			st.turn.speechEnd = st.now
		}
		st.turn.item, st.turn.committed = ev.ItemID, st.now
		st.stage("endpointing", modeOpen, st.since(st.turn.speechEnd))
		st.floor = free
		st.take(st.turn)
	}
	var after *string
	if ev.PreviousItemID != nil {
		p := st.mine(*ev.PreviousItemID)
		after = &p
	}
	st.placeOf(st.mine(ev.ItemID), after)
}

// providerHears: the provider's own detection found speech; it cancels and truncates by itself, the gate is ours to shut.
func (st *step) providerHears(ev *realtime.InputAudioBufferSpeechStarted) {
	st.openTurn(modeOpen)
	st.turn.item, st.turn.told, st.floor = ev.ItemID, true, speaking
	if st.interrupts() && st.busy() {
		st.interrupt(byProvider, st.now)
	}
}

// providerError passes on what concerns the client and deals with what we asked for ourselves.
func (st *step) providerError(ev *realtime.ErrorEvent, raw []byte) {
	e := ev.Error
	if e == nil {
		return
	}
	late := len(st.late)
	st.late, st.commits, st.clears = drop(st.late, e.EventID), drop(st.commits, e.EventID), drop(st.clears, e.EventID)
	if len(st.late) < late {
		return
	}
	if e.EventID != "" && e.EventID == st.gen.eventID && st.gen.stage == requested {
		st.gen = generation{}
		if !st.play.live {
			st.settle(unanswered, 0)
		}
	}
	purpose, own := strings.CutPrefix(e.EventID, ours)
	switch {
	case !own:
		st.do(ToClientRaw{Type: "error", Raw: raw})
	case strings.HasPrefix(purpose, "commit"), strings.HasPrefix(purpose, "create"):
		st.passError(e)
	default:
		// A clear, cancel, truncate or delete that came too late, or for nothing: harmless, and nobody else asked for it.
	}
	if own {
		st.count(ProviderFault{Class: "refused_" + strings.TrimRight(strings.SplitN(purpose, "_", 2)[0], "0123456789")})
	}
}

// drop removes what the provider refused from a list of what it has to confirm.
func drop(list []pending, eventID string) []pending {
	i := slices.IndexFunc(list, func(p pending) bool { return p.eventID == eventID })
	if eventID == "" || i < 0 {
		return list
	}
	return slices.Concat(list[:i], list[i+1:])
}

// passError tells the client of a failure of something that we asked for on its behalf.
func (st *step) passError(e *realtime.Error) {
	out := *e
	out.EventID = ""
	st.tell(out.Event())
}

// functionCall notes a call that the client, or whoever runs tools, has to answer.
func (st *step) functionCall(ev *realtime.ResponseOutputItemDone) {
	if ev.Item.Type != realtime.ItemFunctionCall || ev.Item.Status == realtime.StatusInProgress || ev.Item.Status == realtime.StatusIncomplete {
		return
	}
	if ev.ResponseID == st.gen.id {
		st.gen.calls = true
	}
	if !slices.ContainsFunc(st.calls, func(c toolCall) bool { return c.id == ev.Item.CallID }) && !slices.Contains(st.closed, ev.Item.CallID) {
		st.calls = addBounded(st.calls, toolCall{id: ev.Item.CallID, at: st.now}, maxCalls)
	}
	st.word()
}

func (st *step) wrote(response string) {
	if response == st.gen.id {
		st.gen.text = true
	}
}

// playbackOf finds the playback of a response and applies change to it.
func (st *step) playbackOf(response string, change func(*playback)) (current, found bool) {
	if st.play.live && st.play.response == response {
		change(&st.play)
		return true, true
	}
	for i := range st.later {
		if st.later[i].response == response {
			st.later = slices.Clone(st.later)
			change(&st.later[i])
			return false, true
		}
	}
	return false, false
}

// audioPart: the item will be spoken.
func (st *step) audioPart(response, item string, content int) {
	current, _ := st.playbackOf(response, func(p *playback) { p.item, p.content, p.sounding = item, content, true })
	if current {
		st.beginPlay()
	}
}

// sounds: the provider says that the response's audio flows now.
func (st *step) sounds(response string) {
	if current, found := st.playbackOf(response, func(p *playback) { p.sounding = true }); found && !current {
		st.finish(false) // what was before it has ended without a word
	}
	if st.play.live && st.play.response == response && !st.play.audible {
		if !st.play.begun {
			st.beginPlay() // no part was announced; the item's name is not known
		}
		st.audible()
	}
}

// audible: from now on the person can hear the assistant.
func (st *step) audible() {
	if st.play.audible {
		return
	}
	st.play.audible, st.play.sounding, st.spoke = true, true, true
	st.word()
	st.do(AssistantAudible{On: true})
}

// firstAudio: the first packet of the answer has been written to the client.
func (st *step) firstAudio(h FirstAudio) {
	if !st.play.live || st.play.epoch != h.Epoch {
		return
	}
	st.audible()
	if !st.voiced {
		st.voiced = true
		st.count(SetupDone{Phase: "first_audio", Took: h.Sent})
	}
	if !st.answer.open || st.answer.first != 0 {
		return
	}
	x := &st.answer
	x.first, x.sent = h.Came, h.Sent
	st.stage("provider_first_audio", x.mode, x.first-x.committed)
	st.stage("first_frame_sent", x.mode, x.sent-x.first)
	st.stage("total", x.mode, x.sent-x.speechEnd)
	st.report(answered, 0)
}

// stopped: the provider has played the response to its end.
func (st *step) stopped(response string) {
	if st.play.live && st.play.response == response {
		st.finish(true)
		return
	}
	st.later = slices.DeleteFunc(slices.Clone(st.later), func(p playback) bool { return p.response == response })
}

// finish closes the current playback as heard to its end, and goes on to the next.
func (st *step) finish(whole bool) {
	p := st.play
	if p.item != "" && p.sounding {
		heard := st.media.Heard
		if heard.ItemID != p.item {
			heard = Heard{ItemID: p.item}
		}
		st.do(AudioDone{ItemID: p.item})
		st.heardAssistant(p, heard.Sent, whole)
	}
	st.dropPlay()
	if !st.play.live && st.gen.stage == idle && len(st.calls) == 0 && !st.queued.waiting {
		if whole {
			st.report(answered, 0)
		}
		st.settle(unanswered, 0) // unless it was reported as answered
	}
}

// dropPlay lets go of the current playback and begins the next.
func (st *step) dropPlay() {
	if st.play.audible {
		st.do(AssistantAudible{On: false})
		st.word()
	}
	st.play = playback{}
	if st.hears() && st.floor != free {
		st.tellSpeech() // it began over the assistant's last words and goes on
	}
	if len(st.later) > 0 {
		next := st.later[0]
		st.later = st.later[1:]
		st.start(next)
	}
}

// clearedByProvider: the provider threw the rest of the response's audio away, asked or not.
func (st *step) clearedByProvider(response string) {
	if st.play.live && st.play.response == response && st.play.sounding {
		st.interrupt(byProvider, st.now)
	}
}

// interrupt silences the assistant now. What follows from it waits for what had been heard: wasCut.
func (st *step) interrupt(why cause, onset time.Duration) {
	if st.cut.under {
		return
	}
	st.cut = interruption{under: true, why: why, onset: onset, turn: st.answer}
	st.answer = exchange{}
	st.do(Cut{})
}

// wasCut tells the provider, the client and the thread what an interruption means.
func (st *step) wasCut(heard Heard) {
	c, p := st.cut, st.play
	if !c.under {
		return
	}
	st.cut = interruption{}
	st.play, st.later = playback{}, nil
	if p.audible {
		st.do(AssistantAudible{On: false})
		st.word()
		if c.why == byVoice {
			st.count(Yielded{Took: st.since(c.onset)})
		}
	}
	if st.gen.stage != idle && !st.gen.cancelled && c.why != byProvider && c.why != byClient {
		st.gen.cancelled, st.gen.cancelAt = true, st.now
		st.up(&realtime.ResponseCancel{EventID: st.own("cancel"), ResponseID: st.gen.id}, "")
	}
	if st.gen.stage != idle && c.why != byClient {
		st.gen.why = c.why
	}
	after := 0
	if p.live {
		after = st.cutPlayback(c, p, heard)
	}
	next := st.answer // a turn may have taken its place already
	st.answer = c.turn
	st.settle(interrupted, after)
	st.answer = next
}

// cutPlayback clears the provider's output and cuts the item down to what was heard; it gives the heard milliseconds.
func (st *step) cutPlayback(c interruption, p playback, heard Heard) int {
	if c.why != byProvider {
		clear := c.clear
		if clear == "" {
			clear = st.own("output")
		}
		st.up(&realtime.OutputAudioBufferClear{EventID: clear}, "")
	}
	if p.item == "" {
		return 0
	}
	if heard.ItemID != p.item {
		heard = Heard{ItemID: p.item} // nothing of it had been written
	}
	after := ms(min(heard.Heard, heard.Sent))
	if c.why != byProvider {
		if after > 0 {
			st.up(&realtime.ConversationItemTruncate{EventID: st.own("truncate"), ItemID: p.item, ContentIndex: p.content, AudioEndMS: after}, "")
		} else {
			st.up(&realtime.ConversationItemDelete{EventID: st.own("delete"), ItemID: p.item}, "")
		}
	}
	st.heardAssistant(p, msDuration(after), false)
	return after
}
