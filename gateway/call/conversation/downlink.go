package conversation

import (
	"slices"
	"strings"

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
	st.noteItem(h.Event)
	st.relay(h.Event, st.redact(h.Event, raw))
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
			st.audioPart(ev.ResponseID, ev.ItemID, ev.OutputIndex, ev.ContentIndex)
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
		st.do(ToClientRaw{Type: "error", Raw: raw, To: st.senderOf(e.EventID)})
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
		st.calls = addBounded(st.calls, toolCall{id: ev.Item.CallID, name: ev.Item.Name, at: st.now}, maxCalls)
	}
	st.word()
}

func (st *step) wrote(response string) {
	if response == st.gen.id {
		st.gen.text = true
	}
}
