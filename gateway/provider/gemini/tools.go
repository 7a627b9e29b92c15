package gemini

import (
	"strconv"
	"time"

	"hovor/gateway/provider"
	"hovor/signaling/realtime"
)

// call is a function that the model called and that was not answered yet.
type call struct {
	id, theirs, name string // ours, at most 32 characters; Live's
	connection       int    // on which it was called
	timer            *time.Timer
	dead             bool // Live does not want the answer any more
}

// answered is an output that waits for the question.
type answered struct {
	call   *call
	output string
}

const (
	// alone is how long outputs wait for a response.create: Live is frozen without them.
	alone = 2 * time.Second
	// maxCalls bounds the calls that are remembered.
	maxCalls = 64
)

// toolCall makes the items of the model's calls and ends the response: who runs them asks for the next.
func (l *leg) toolCall(calls []functionCall) {
	if l.active == nil {
		l.found()
		l.begin(true)
	}
	l.active.begun = true
	l.closeItem(realtime.StatusCompleted)
	for _, f := range calls {
		c := &call{id: f.ID, theirs: f.ID, name: f.Name, connection: l.connection}
		if c.id == "" || len(c.id) > realtime.MaxIDLen || l.calls[c.id] != nil {
			c.id = realtime.NewID("call")
		}
		args := string(f.Args)
		if args == "" {
			args = "{}"
		}
		l.watch(c)
		l.function(c, args)
	}
	l.active.inTools = true
	l.finish(realtime.StatusCompleted, "", nil)
}

// function tells one call as clients wait for it: three of them key off three different events.
func (l *leg) function(c *call, args string) {
	a := l.active
	previous := l.past.Last()
	it := realtime.Item{ID: realtime.NewID("item"), Type: realtime.ItemFunctionCall, Status: realtime.StatusInProgress, CallID: c.id, Name: c.name}
	l.say(&realtime.ResponseOutputItemAdded{ResponseID: a.id, OutputIndex: a.index, Item: it})
	l.say(&realtime.ConversationItemAdded{PreviousItemID: previous, Item: it})
	l.say(&realtime.ResponseFunctionCallArgumentsDelta{ResponseID: a.id, ItemID: it.ID, OutputIndex: a.index, CallID: c.id, Delta: args})
	l.say(&realtime.ResponseFunctionCallArgumentsDone{ResponseID: a.id, ItemID: it.ID, OutputIndex: a.index, CallID: c.id, Name: c.name, Arguments: args})
	it.Status, it.Arguments = realtime.StatusCompleted, args
	l.past.Put(it, nil)
	l.say(&realtime.ResponseOutputItemDone{ResponseID: a.id, OutputIndex: a.index, Item: it})
	l.say(&realtime.ConversationItemDone{PreviousItemID: previous, Item: it})
	a.output = append(a.output, it)
	a.index++
}

// watch answers the call when nobody else does.
func (l *leg) watch(c *call) {
	if len(l.calls) >= maxCalls {
		for id, old := range l.calls {
			old.timer.Stop()
			delete(l.calls, id)
			break
		}
	}
	l.calls[c.id] = c
	c.timer = time.AfterFunc(l.cfg.ToolTimeout, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.calls[c.id] != c || c.dead || l.over {
			return
		}
		delete(l.calls, c.id)
		l.say((&realtime.Error{Type: realtime.TypeServer, Code: "tool_timeout", Param: c.id,
			Message: "Nobody answered this function call in " + strconv.Itoa(int(l.cfg.ToolTimeout/time.Second)) + " s; the model was told so."}).Event())
		l.answers = append(l.answers, answered{c, `{"error":"nobody answered this call in time"}`})
		l.unasked()
	})
}

// answered takes the output of a call; false: there is no such call.
func (l *leg) answered(it realtime.Item, eventID string) bool {
	c := l.calls[it.CallID]
	if c == nil {
		l.refuse("function_call_already_answered", "item.call_id", "There is no such function call, or it has its output already.", eventID)
		return false
	}
	c.timer.Stop()
	delete(l.calls, it.CallID)
	if c.dead {
		return true // it happened; Live does not ask any more
	}
	text := ""
	if it.Output != nil {
		text = *it.Output
	}
	l.answers = append(l.answers, answered{c, text})
	time.AfterFunc(alone, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.unasked()
	})
	return true
}

// unasked sends outputs that no response.create came for, once all calls have theirs.
func (l *leg) unasked() {
	if len(l.answers) == 0 || l.active != nil || l.over {
		return
	}
	for _, c := range l.calls {
		if !c.dead {
			return // Live waits for all of them
		}
	}
	for _, raw := range l.toolAnswers() {
		if err := l.line.Write(raw); err != nil {
			l.log.Warn("tool output not sent", "error", err)
		}
	}
}

// toolAnswers are the outputs that wait, as messages. One that belongs to a connection that is gone is told as a part of the
// conversation: the new one has no such call.
func (l *leg) toolAnswers() (out [][]byte) {
	var live toolResponse
	var past []part
	for _, a := range l.answers {
		r := functionResponse{ID: a.call.theirs, Name: a.call.name, Response: output(a.output)}
		if a.call.connection == l.connection {
			live.FunctionResponses = append(live.FunctionResponses, r)
			continue
		}
		past = append(past, part{FunctionResponse: &r})
	}
	l.answers = nil
	if len(live.FunctionResponses) > 0 {
		out = append(out, encode(clientMessage{ToolResponse: &live}))
	}
	if len(past) > 0 {
		out = append(out, encode(clientMessage{ClientContent: &clientContent{Turns: []content{{Role: "user", Parts: past}}, TurnComplete: true}}))
	}
	return out
}

// cancelled: Live does not want these answers any more. What was started may have been done; its output is only not passed on.
func (l *leg) cancelled(ids []string) {
	for _, id := range ids {
		for _, c := range l.calls {
			if c.theirs == id {
				c.dead = true
				c.timer.Stop()
			}
		}
	}
	kept := l.answers[:0]
	for _, a := range l.answers {
		dead := false
		for _, id := range ids {
			dead = dead || a.call.theirs == id
		}
		if !dead {
			kept = append(kept, a)
		}
	}
	l.answers = kept
}

// busyTools: calls that are not answered yet.
func (l *leg) busyTools() bool {
	for _, c := range l.calls {
		if !c.dead {
			return true
		}
	}
	return false
}

var _ provider.Leg = (*leg)(nil)
