package local

import (
	"time"

	"hovor/signaling/realtime"
)

// idleWatch waits for a person who has been answered and says nothing (protocol research 1.9, idle_timeout_ms).
type idleWatch struct {
	timer *time.Timer
	after bool          // a response has ended, and nobody has spoken since
	heard time.Time     // when the speech that was sent over a WebSocket has been played
	from  time.Duration // stream time at which the wait began
}

// start makes the timer; the returned function ends it.
func (w *idleWatch) start() (end func()) {
	w.timer = stopped()
	return func() { w.timer.Stop() }
}

func (w *idleWatch) stop() {
	w.after = false
	w.timer.Stop()
}

// played notes speech that the client will play behind what it has.
func (w *idleWatch) played(length time.Duration) {
	if now := time.Now(); w.heard.Before(now) {
		w.heard = now
	}
	w.heard = w.heard.Add(length)
}

// watchIdle starts the clock once the last response is over and was played, and stops it otherwise.
func (x *session) watchIdle() {
	w := &x.idle
	w.timer.Stop()
	t := x.config.TurnDetection()
	if !w.after || x.active != nil || len(x.sounding) > 0 || t == nil || t.Type != realtime.ServerVAD || t.IdleTimeoutMS.Value == nil || *t.IdleTimeoutMS.Value == 0 {
		return
	}
	wait := time.Duration(*t.IdleTimeoutMS.Value) * time.Millisecond
	playing := max(0, time.Until(w.heard))
	w.from = x.position + playing
	w.timer.Reset(playing + wait)
}

// idleTooLong takes the silence for a turn.
func (x *session) idleTooLong() {
	if x.detect != nil && x.detect.speaking || x.active != nil {
		return
	}
	x.emit(&realtime.InputAudioBufferTimeoutTriggered{ItemID: x.input.id,
		AudioStartMS: int(min(x.idle.from, x.position).Milliseconds()), AudioEndMS: int(x.position.Milliseconds())})
	x.commit()
	x.respond(nil)
}
