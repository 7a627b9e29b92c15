package conversation

import (
	"time"

	"hovor/signaling/realtime"
)

// A provider that ends its sessions after a while, and whose leg cannot renew itself, is changed under the person: in a
// quiet moment before the limit a second leg is opened, told what was said, and takes the first one's place. When something
// is said meanwhile, the second is thrown away and the next quiet moment is waited for.

const (
	// renewMargin is how long before the limit a quiet moment is looked for; a quarter of a short limit.
	renewMargin = 3 * time.Minute
	// renewQuiet is how long nobody may have said anything.
	renewQuiet = 2 * time.Second
	// renewAgain is the wait after a leg that could not be opened.
	renewAgain = 10 * time.Second
	// What a new leg is told at most.
	renewItems = 200
	renewBytes = 48 << 10
)

// never is no moment at which anything was said.
const never = -1

// renewFrom says when the connection of now should be renewed.
func (st *step) renewFrom(now time.Duration) {
	if limit := st.cfg.Limits.Session; limit > 0 {
		st.renewAt, st.renewTold = now+limit-min(renewMargin, limit/4), false
	}
}

// quiet: a change of the provider's leg would go unnoticed now.
func (s *State) quiet() bool {
	return s.gen.stage == idle && !s.play.live && s.floor == free && s.barrier.n == 0 && len(s.calls) == 0 && !s.queued.waiting &&
		!s.cut.under && len(s.commits) == 0 && !s.typed && s.unheard() < 0
}

// renew asks for a second leg.
func (st *step) renew() {
	st.renewOn, st.renewWord = true, st.active
	st.do(Renew{Session: st.Upstream(), History: st.told()})
}

// renewLate tells that the limit comes near and that it never was quiet.
func (st *step) renewLate() {
	st.renewTold = true
	st.tell(&realtime.HovorProvider{State: "expiring", InMS: ms(min(renewMargin, st.cfg.Limits.Session/4))})
}

// renewed: the second leg stands.
func (st *step) renewed() {
	if !st.renewOn {
		st.do(Swap{})
		return
	}
	st.renewOn = false
	if !st.quiet() || st.active != st.renewWord {
		st.renewAt = max(st.renewAt, st.now)
		st.do(Swap{})
		return
	}
	st.do(Swap{Take: true})
	st.commits, st.clears, st.late = nil, nil, nil
	st.cleared, st.clearedAt = st.media.Received, st.now
	st.renewFrom(st.now)
}

func (st *step) renewFailed() {
	st.renewOn = false
	st.renewAt = st.now + renewAgain
}

// told is the conversation as a new leg is told it: words, and tool calls that were answered.
func (s *State) told() []realtime.Item {
	outputs := map[string]bool{}
	for _, it := range s.items {
		if it.Type == realtime.ItemFunctionCallOutput {
			outputs[it.CallID] = true
		}
	}
	var list []realtime.Item
	room := renewBytes
	for i := len(s.items) - 1; i >= 0 && len(list) < renewItems; i-- {
		it, ok := retold(*s.items[i], outputs)
		if !ok {
			continue
		}
		size := len(it.TextOf()) + len(it.Arguments)
		if it.Output != nil {
			size += len(*it.Output)
		}
		if room -= size; room < 0 {
			break
		}
		list = append(list, it)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	for len(list) > 0 && list[0].Type == realtime.ItemFunctionCallOutput {
		list = list[1:] // its call did not fit
	}
	return list
}

// retold is an item in the form in which a provider takes it; false for one that says nothing.
func retold(it realtime.Item, outputs map[string]bool) (realtime.Item, bool) {
	switch text := it.TextOf(); it.Type {
	case realtime.ItemMessage:
		switch {
		case text == "":
			return it, false
		case it.Role == realtime.RoleUser:
			return realtime.UserText(text), true
		case it.Role == realtime.RoleSystem:
			return realtime.SystemText(text), true
		}
		return realtime.AssistantText(text), true
	case realtime.ItemFunctionCall:
		return realtime.Item{Type: it.Type, CallID: it.CallID, Name: it.Name, Arguments: it.Arguments}, outputs[it.CallID]
	case realtime.ItemFunctionCallOutput:
		return realtime.Item{Type: it.Type, CallID: it.CallID, Output: it.Output}, it.Output != nil
	}
	return it, false
}
