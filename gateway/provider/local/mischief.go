package local

import (
	"context"
	"time"

	"hovor/gateway/provider/local/brain"
	"hovor/signaling/realtime"
)

// mischief bends the way of a session's events as its script says. The zero value lets everything through; start must
// come before anything else.
type mischief struct {
	rules   []brain.Fault // faults that name an event, with the Times that are left
	swapped []byte        // waits for the event that follows it
	waiting []lateFrame   // wait for their time, in order
	deaf    bool          // no event of a client is read
	hung    bool          // nothing is sent or read any more

	late, stalled *time.Timer
}

type lateFrame struct {
	raw []byte
	due time.Time
}

// start makes the timers; stop ends them.
func (m *mischief) start() (stop func()) {
	m.late, m.stalled = stopped(), stopped()
	return func() {
		m.late.Stop()
		m.stalled.Stop()
	}
}

// stopped is a timer that does not run yet.
func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// match takes the first rule for an event type, and uses it up.
func (m *mischief) match(eventType string) (brain.Fault, bool) {
	for i, r := range m.rules {
		if eventType == "" || r.Type != eventType && r.Type != brain.AnyEvent {
			continue
		}
		if m.rules[i].Times--; m.rules[i].Times <= 0 {
			m.rules = append(m.rules[:i:i], m.rules[i+1:]...)
		}
		return r, true
	}
	return brain.Fault{}, false
}

// bend sends a frame, the way that the faults leave to it. An empty eventType is no event.
func (x *session) bend(raw []byte, eventType string) {
	m := &x.mischief
	var delay time.Duration
	if f, ok := m.match(eventType); ok {
		switch f.Kind {
		case brain.FaultDrop:
			return
		case brain.FaultReorder:
			if m.swapped == nil {
				m.swapped = raw
				return
			}
		case brain.FaultDelay:
			delay = f.For
		case brain.FaultDuplicate:
			x.queue(raw, 0)
		case brain.FaultGarble:
			raw = raw[:len(raw)/2]
		}
	}
	x.queue(raw, delay)
	if raw := m.swapped; raw != nil {
		m.swapped = nil
		x.queue(raw, 0)
	}
}

// queue sends a frame after a delay, and never before what was queued earlier.
func (x *session) queue(raw []byte, delay time.Duration) {
	m := &x.mischief
	switch {
	case m.hung:
		return
	case delay == 0 && len(m.waiting) == 0:
		x.deliver(raw)
		return
	}
	due := time.Now().Add(delay)
	if n := len(m.waiting); n > 0 && m.waiting[n-1].due.After(due) {
		due = m.waiting[n-1].due
	}
	m.waiting = append(m.waiting, lateFrame{raw, due})
	m.late.Reset(time.Until(m.waiting[0].due))
}

// sendLate sends what is due.
func (x *session) sendLate() {
	m := &x.mischief
	for len(m.waiting) > 0 && !m.waiting[0].due.After(time.Now()) {
		raw := m.waiting[0].raw
		m.waiting = m.waiting[1:]
		if !m.hung {
			x.deliver(raw)
		}
	}
	if len(m.waiting) > 0 {
		m.late.Reset(time.Until(m.waiting[0].due))
	}
}

// misbehaveBeside plays what goes wrong in this session beside its responses: what does not wait now, the rest in its time.
func (x *session) misbehaveBeside(ctx context.Context) {
	steps := x.plan.Steps
	for len(steps) > 0 {
		f, ok := steps[0].(brain.Fault)
		if !ok {
			break
		}
		x.misbehave(f)
		steps = steps[1:]
	}
	if len(steps) == 0 {
		return
	}
	x.helpers.Go(func() {
		for _, step := range steps {
			ok := true
			switch s := step.(type) {
			case brain.Wait:
				ok = pause(ctx, s.For)
			case brain.Fault:
				ok = x.post(ctx, func() { x.misbehave(s) })
			}
			if !ok {
				return
			}
		}
	})
}

// misbehave carries out a fault of the script brain.
func (x *session) misbehave(f brain.Fault) {
	m := &x.mischief
	if f.Kind.NamesEvent() {
		m.rules = append(m.rules, f)
		return
	}
	switch f.Kind {
	case brain.FaultMalformed:
		x.bend([]byte(f.Text), "")
	case brain.FaultError:
		x.fail(nil, &realtime.Error{Type: realtime.TypeServer, Code: f.Code, Message: f.Text})
	case brain.FaultStall:
		m.deaf = true
		m.stalled.Reset(f.For)
	case brain.FaultHang:
		m.hung, m.deaf = true, true
		x.line.hang()
	case brain.FaultExpire:
		x.expire()
	case brain.FaultClose:
		if x.bye = byeScripted; f.Close != 0 {
			x.bye = farewell{f.Close, f.Text}
		} else {
			x.line.cut()
		}
	}
}

// misbehaveIn carries out a fault within a response.
func (x *session) misbehaveIn(r *response, f brain.Fault) {
	switch {
	case r.finished():
	case f.Kind == brain.FaultFail:
		x.stop(r, realtime.StatusFailed, &realtime.StatusDetails{Type: realtime.StatusFailed, Error: &realtime.StatusError{
			Type: realtime.TypeServer, Code: f.Code, Message: f.Text}})
	default:
		x.misbehave(f)
	}
}
