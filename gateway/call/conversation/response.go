package conversation

import (
	"slices"
	"strings"
	"time"

	"hovor/signaling/realtime"
)

// ask wants a response. One may be in the making, one may wait; a third is refused. Ours joins one that waits already.
func (st *step) ask(r request) {
	switch {
	case !st.queued.waiting:
		st.queued = r
	case r.own:
		st.queued.urgent = st.queued.urgent || r.urgent
	case st.queued.own:
		st.queued = r // the client's replaces ours: its event_id is the one that somebody waits for
	default:
		st.refuse(&realtime.Error{Type: realtime.TypeInvalidRequest, Code: "conversation_already_has_active_response", EventID: r.event.EventID,
			Message: "A response is in progress and another waits already. Wait for response.done."})
	}
}

// pump sends the response.create that waits, when nothing stands against it: no response in the making, no cut that is not
// yet answered, and the person does not have the floor.
func (st *step) pump() {
	if !st.queued.waiting || st.gen.stage != idle || st.cut.under || st.barrier.n != 0 {
		return
	}
	if st.floor != free && !st.queued.urgent {
		return
	}
	r := st.queued
	st.queued = request{}
	ev := r.event
	if ev.EventID == "" {
		named := *ev
		named.EventID = st.own("create")
		ev = &named
	}
	if !st.up(ev, r.event.EventID) {
		return
	}
	st.gen = generation{stage: requested, eventID: ev.EventID, since: st.now, heardFrom: st.now}
}

// created: the provider has begun a response. It says false when the client is not to hear of it.
func (st *step) created(ev *realtime.ResponseCreated) bool {
	id := ev.Response.ID
	st.late = slices.DeleteFunc(slices.Clone(st.late), func(p pending) bool { return st.now-p.at > lateFor })
	if len(st.late) > 0 && st.gen.stage != running {
		// Creates are answered in order, so this belongs to one that was given up on.
		st.late = st.late[1:]
		st.dead = addBounded(st.dead, id, maxDead)
		st.up(&realtime.ResponseCancel{EventID: st.own("cancel"), ResponseID: id}, "")
		return false
	}
	if st.gen.stage == running {
		return true // a second one that we did not ask for; it is passed on and not ours to steer
	}
	if st.gen.stage == idle { // the provider's own, when it finds the turns
		st.gen = generation{since: st.now}
	}
	st.gen.stage, st.gen.id, st.gen.heardFrom = running, id, st.now
	if st.gen.cancelled {
		// Cancelled before it had a name: name it, so that the cancel cannot have come too early.
		st.up(&realtime.ResponseCancel{EventID: st.own("cancel"), ResponseID: id}, "")
		return true
	}
	st.epoch++
	p := playback{live: true, epoch: st.epoch, response: id}
	if st.play.live {
		st.later = addBounded(st.later, p, 8)
	} else {
		st.start(p)
	}
	return true
}

// start makes p the audio that the downlink counts.
func (st *step) start(p playback) {
	st.play = p
	if p.sounding {
		st.beginPlay()
	}
}

// beginPlay lets the playback's audio through, and asks when its first packet comes.
func (st *step) beginPlay() {
	st.do(Begin{Epoch: st.play.epoch, ItemID: st.play.item, Response: st.play.response, Output: st.play.output, Content: st.play.content})
	st.play.begun = true
	if !st.play.audible {
		st.do(WatchFirstAudio{Epoch: st.play.epoch})
	}
}

// done: the provider has finished a response; its audio may still be on its way. It gives the bytes for the client.
func (st *step) done(ev *realtime.ResponseDone, raw []byte) []byte {
	if st.gen.stage == running && ev.Response.ID == st.gen.id {
		g := st.gen
		st.gen = generation{}
		if ev.Response.Status == realtime.StatusCancelled && g.why == byVoice {
			raw = cancelled(raw, realtime.ReasonTurnDetected)
		}
		if ev.Response.Status == realtime.StatusFailed {
			st.count(ProviderFault{Class: "response_failed"})
		}
		st.closeGeneration(g, ev)
	}
	return raw
}

// closeGeneration closes what a finished generation leaves: a playback that never sounded, a turn that nothing will answer any more.
func (st *step) closeGeneration(g generation, ev *realtime.ResponseDone) {
	st.later = slices.DeleteFunc(slices.Clone(st.later), func(p playback) bool { return p.response == g.id && !p.sounding })
	for i := range st.later {
		if st.later[i].response == g.id {
			st.later[i].finished = true
		}
	}
	if st.play.live && st.play.response == g.id {
		if st.play.sounding {
			st.play.finished = true
		} else {
			st.dropPlay()
		}
	}
	ok := ev.Response.Status == realtime.StatusCompleted || ev.Response.Status == ""
	switch {
	case g.why == byVoice || g.why == byButton || g.why == byText:
		// Settled when it was interrupted.
	case ok && g.text && !g.calls && !st.play.live:
		st.report(answered, 0)
		st.settle(answered, 0)
	case !st.play.live && len(st.calls) == 0 && !st.queued.waiting:
		st.settle(unanswered, 0)
	}
}

// cancelled writes the status and the reason that a client expects when somebody's voice or wish ended a response.
func cancelled(raw []byte, reason string) []byte {
	return rewrite(raw, func(v any) {
		root, _ := v.(map[string]any)
		resp, _ := root["response"].(map[string]any)
		if resp != nil {
			resp["status"] = realtime.StatusCancelled
			resp["status_details"] = map[string]any{"type": realtime.StatusCancelled, "reason": reason}
		}
	})
}

// giveUp ends a response that the provider does not end: the client is told, what still comes of it is dropped.
func (st *step) giveUp(status, reason string) {
	g := st.gen
	st.gen = generation{}
	resp := realtime.Response{ID: g.id, Object: "realtime.response", Status: status, Output: []realtime.Item{},
		StatusDetails: &realtime.StatusDetails{Type: status, Reason: reason}}
	if status == realtime.StatusFailed {
		resp.StatusDetails.Error = &realtime.StatusError{Type: realtime.TypeServer, Code: realtime.CodeTimeout, Message: "The voice service stopped answering."}
		st.count(ProviderFault{Class: "stalled"})
	}
	ev := &realtime.ResponseDone{Response: resp}
	if g.stage == requested {
		st.late = addBounded(st.late, pending{eventID: g.eventID, at: st.now}, maxDead)
		e := realtime.Error{Type: realtime.TypeServer, Code: realtime.CodeTimeout, Message: "The voice service did not begin an answer in time. Ask again."}
		if !strings.HasPrefix(g.eventID, ours) {
			e.EventID = g.eventID
		}
		st.do(ToClient{Event: e.Event(), To: st.senderOf(e.EventID)})
	} else {
		st.dead = addBounded(st.dead, g.id, maxDead)
		st.tell(ev)
	}
	st.closeGeneration(g, ev)
}

// lateFor is how long the response of a create that was given up on may still come.
const lateFor = time.Minute

// settle closes the turn that is being answered.
func (st *step) settle(outcome string, after int) {
	x := st.answer
	if !x.open {
		return
	}
	if outcome == unanswered && x.reported == answered {
		outcome = answered
	}
	st.report(outcome, after)
	st.count(TurnOutcome{Mode: x.mode, Outcome: outcome})
	st.answer = exchange{}
}

// report tells the client how the turn stands, once per outcome.
func (st *step) report(outcome string, after int) {
	x := &st.answer
	if !x.open || x.reported == outcome {
		return
	}
	x.reported = outcome
	ev := &realtime.HovorTurn{TurnID: x.id, Mode: x.mode, Outcome: outcome, LatencyMS: x.latency()}
	if outcome == interrupted {
		ev.InterruptedAfterMS = &after
	}
	st.tell(ev)
}

func (x exchange) latency() *realtime.HovorLatency {
	l := &realtime.HovorLatency{}
	if x.mode != modeText && x.committed > 0 && x.speechEnd > 0 {
		v := ms(max(x.committed-x.speechEnd, 0))
		l.Endpointing = &v
	}
	if x.first > 0 {
		v, total := ms(max(x.first-x.committed, 0)), ms(max(x.sent-x.speechEnd, 0))
		l.ProviderFirstAudio, l.Total = &v, &total
	}
	return l
}
