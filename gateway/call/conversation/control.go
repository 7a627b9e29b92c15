package conversation

import (
	"encoding/json"
	"slices"
	"strings"

	"hovor/gateway/thread"
	"hovor/signaling/realtime"
)

// refuse answers something of the client with an error; the session stays.
func (st *step) refuse(err *realtime.Error) {
	st.count(EventRefused{Code: err.Code})
	st.do(ToClient{Event: err.Event(), To: st.from})
}

// senderOf is who is to hear of the failure of an event.
func (s *State) senderOf(eventID string) Party {
	for i := len(s.asked) - 1; i >= 0 && eventID != ""; i-- {
		if s.asked[i].eventID == eventID {
			return s.asked[i].from
		}
	}
	return Everybody
}

func (st *step) flooded(dropped int) {
	st.count(EventRefused{Code: "too_many_events"})
	st.tell((&realtime.Error{Type: realtime.TypeRateLimit, Code: "too_many_events",
		Message: "Events came faster than they can be handled, and some were dropped. Send fewer."}).Event())
}

// clientEvent is the gate: what passes, what is answered here, and what is refused.
func (st *step) clientEvent(h ClientEvent) {
	from := st.from
	st.from = h.From
	defer func() { st.from = from }()
	id := EventID(h.Event)
	if strings.HasPrefix(id, ours) {
		st.refuse(&realtime.Error{Type: realtime.TypeInvalidRequest, Code: realtime.CodeInvalidValue, Param: "event_id", EventID: id,
			Message: `An event_id may not begin with "hovor_".`})
		return
	}
	if !st.cfg.Assistant.Takes(h.Event.EventType()) {
		st.refuse(&realtime.Error{Type: realtime.TypePermission, Code: realtime.CodeEventNotAllowed, EventID: id,
			Message: "This assistant does not take " + h.Event.EventType() + " events."})
		return
	}
	if st.barrier.n != 0 {
		if _, playout := h.Event.(*realtime.HovorPlayout); !playout {
			st.hold(h, id)
			return
		}
	}
	st.pass(h, id)
}

// hold keeps an event behind a push-to-talk commit.
func (st *step) hold(h ClientEvent, id string) {
	if len(st.barrier.held) >= maxHeld {
		st.refuse(&realtime.Error{Type: realtime.TypeRateLimit, Code: "too_many_events", EventID: id,
			Message: "Too many events wait for the commit before them. Send this again."})
		return
	}
	st.barrier.held = add(st.barrier.held, h)
}

func (st *step) pass(h ClientEvent, id string) {
	switch ev := h.Event.(type) {
	case *realtime.SessionUpdate:
		st.sessionUpdate(ev)
	case *realtime.InputAudioBufferAppend:
		if h.From != Everybody {
			st.refuse(&realtime.Error{Type: realtime.TypeInvalidRequest, Code: "invalid_event_for_transport", EventID: id,
				Message: "A sideband carries no audio. Leave out input_audio_buffer.append."})
			return
		}
		st.refuse(&realtime.Error{Type: realtime.TypeInvalidRequest, Code: "invalid_event_for_transport", EventID: id,
			Message: "In a WebRTC call audio travels on the track. Leave out input_audio_buffer.append."})
	case *realtime.InputAudioBufferClear:
		st.clientClear(ev)
	case *realtime.InputAudioBufferCommit:
		st.clientCommit(ev)
	case *realtime.OutputAudioBufferClear:
		if st.cfg.Socket {
			st.refuse(&realtime.Error{Type: realtime.TypeInvalidRequest, Code: "invalid_event_for_transport", EventID: id,
				Message: "Over a WebSocket the client plays the audio itself. Stop your player, and send conversation.item.truncate."})
			return
		}
		if st.play.live {
			st.interrupt(byClient, st.now)
			st.cut.clear = id
		}
	case *realtime.ResponseCreate:
		st.clientCreate(ev, h.Recorded)
	case *realtime.ResponseCancel:
		st.clientCancel(ev)
	case *realtime.ConversationItemCreate:
		st.itemCreate(ev, h.Recorded)
	case *realtime.ConversationItemDelete:
		st.up(&realtime.ConversationItemDelete{EventID: ev.EventID, ItemID: st.theirs(ev.ItemID)}, id)
	case *realtime.ConversationItemRetrieve:
		st.retrieve(ev)
	case *realtime.ConversationItemTruncate:
		if st.cfg.Socket && st.socketTruncate(ev) {
			return
		}
		out := *ev
		out.ItemID = st.theirs(ev.ItemID)
		st.up(&out, id)
	case *realtime.HovorPlayout:
		st.do(Playout{Buffered: msDuration(ev.BufferedMS)})
	default:
		st.refuse(&realtime.Error{Type: realtime.TypeInvalidRequest, Code: realtime.CodeUnknownEvent, EventID: id, Param: "type",
			Message: "A " + h.Event.EventType() + " event has no meaning in this call."})
	}
}

// itemCreate lets messages and vouched-for tool outputs into the conversation.
func (st *step) itemCreate(ev *realtime.ConversationItemCreate, recorded map[string]string) {
	item, err := st.vouch(ev.Item, recorded)
	if err != nil {
		err.EventID = ev.EventID
		st.refuse(err)
		return
	}
	out := &realtime.ConversationItemCreate{EventID: ev.EventID, Item: item}
	if p := ev.PreviousItemID; p != nil {
		theirs := st.theirs(*p)
		out.PreviousItemID = &theirs
	}
	if id := out.Item.ID; id != "" && (st.itemAt(id) >= 0 || slices.Contains(st.removed, id)) {
		st.refuse(&realtime.Error{Type: realtime.TypeInvalidRequest, Code: realtime.CodeInvalidValue, Param: "item.id", EventID: ev.EventID,
			Message: "An item of this id is, or was, in the conversation already. Leave the id out, or choose another."})
		return
	}
	if item.Type == realtime.ItemMessage && item.Role == realtime.RoleUser {
		if out.Item.ID == "" {
			out.Item.ID = st.mint("item")
		}
		if text := out.Item.TextOf(); text != "" {
			st.typed = true
			st.word()
			st.putItem(out.Item)
			st.keep(thread.Item{ID: out.Item.ID, Role: thread.User, Kind: thread.Typed, Text: thread.Words(text), Complete: true}, ev.PreviousItemID)
		}
	}
	st.up(out, ev.EventID)
}

// vouch is the one place where a client's item becomes the model's: a tool's output must be the very bytes that the tool
// path recorded; anything else is replaced by an error output.
func (st *step) vouch(item realtime.Item, recorded map[string]string) (realtime.Item, *realtime.Error) {
	switch item.Type {
	case realtime.ItemMessage:
		if item.Role == realtime.RoleSystem && st.cfg.Assistant.locked() {
			return item, &realtime.Error{Type: realtime.TypePermission, Code: realtime.CodeEventNotAllowed, Param: "item.role",
				Message: "This assistant takes no system messages from a client."}
		}
		return item, nil
	case realtime.ItemMcpApprovalResponse, realtime.ItemReference:
		return item, nil
	case realtime.ItemFunctionCallOutput:
		return st.vouchOutput(item, recorded)
	}
	return item, &realtime.Error{Type: realtime.TypePermission, Code: realtime.CodeEventNotAllowed, Param: "item.type",
		Message: "A client may not create items of type " + item.Type + "."}
}

func (st *step) vouchOutput(item realtime.Item, recorded map[string]string) (realtime.Item, *realtime.Error) {
	if slices.Contains(st.closed, item.CallID) {
		return item, &realtime.Error{Type: realtime.TypeInvalidRequest, Code: "function_call_already_answered", Param: "item.call_id",
			Message: "This function call has its output already."}
	}
	want, known := recorded[item.CallID]
	switch {
	case !known && st.clientsTool(item.CallID):
		// It runs in the client; nobody here can vouch for it, and nobody was asked to.
	case !known:
		item = replaceOutput(item, "failed", "No result of this call was recorded.")
		st.count(OutputReplaced{})
	case item.Output == nil || *item.Output != want:
		item = replaceOutput(item, "invalid", "The result that came back is not the one that was recorded.")
		st.count(OutputReplaced{})
	}
	st.answerCall(item.CallID)
	return item, nil
}

// clientsTool: the call is of a tool that the client of an open assistant brought itself.
func (s *State) clientsTool(callID string) bool {
	i := slices.IndexFunc(s.calls, func(c toolCall) bool { return c.id == callID })
	if i < 0 || s.cfg.Assistant.Policy != Open {
		return false
	}
	_, ours := s.cfg.Assistant.tool(s.calls[i].name)
	return !ours
}

func replaceOutput(item realtime.Item, status, message string) realtime.Item {
	b, _ := json.Marshal(struct { // two strings always marshal
		Status  string `json:"status"`
		Message string `json:"message"`
	}{status, message})
	output := string(b)
	item.Output = &output
	return item
}

// answerCall: the call has its output; there will be no second.
func (st *step) answerCall(callID string) {
	st.calls = slices.DeleteFunc(slices.Clone(st.calls), func(c toolCall) bool { return c.id == callID })
	st.closed = addBounded(st.closed, callID, maxClosed)
	st.word()
}

// clientCreate is the client's response.create.
func (st *step) clientCreate(ev *realtime.ResponseCreate, recorded map[string]string) {
	out := *ev
	if ev.Response != nil {
		params := st.permitResponse(*ev.Response)
		if params.Input != nil {
			input := make([]realtime.Item, 0, len(params.Input))
			for _, it := range params.Input {
				it, err := st.vouch(it, recorded)
				if err != nil {
					err.EventID = ev.EventID
					st.refuse(err)
					return
				}
				it.ID = st.theirs(it.ID)
				input = append(input, it)
			}
			params.Input = input
		}
		out.Response = &params
	}
	typed := st.typed
	if typed {
		st.typed = false
		if st.busy() {
			st.interrupt(byText, st.now)
		}
		held := st.turn // a turn that the person is making by voice goes on
		st.openTurn(modeText)
		st.turn.speechEnd, st.turn.committed = st.now, st.now
		st.take(st.turn)
		st.turn = held
	}
	st.word()
	st.ask(request{waiting: true, event: &out, urgent: typed || !st.hears()})
}

// clientCancel is the client's response.cancel.
func (st *step) clientCancel(ev *realtime.ResponseCancel) {
	switch {
	case st.cfg.Socket && st.play.live && (ev.ResponseID == "" || ev.ResponseID == st.play.response):
		// Its end has not been told yet, so for this client it runs; and audio is given out no faster than it is heard.
		st.interrupt(byClient, st.now)
	case st.gen.stage == idle:
		st.refuse(&realtime.Error{Type: realtime.TypeInvalidRequest, Code: "response_cancel_not_active", EventID: ev.EventID,
			Message: "There is no response to cancel."})
	case !st.gen.cancelled:
		st.gen.cancelled, st.gen.cancelAt, st.gen.why = true, st.now, byClient
		st.up(&realtime.ResponseCancel{EventID: ev.EventID, ResponseID: ev.ResponseID}, ev.EventID)
	}
}

// screen asks the page to show something.
func (st *step) screen(r realtime.HovorScreenRequest) { st.tell(&r) }
