package telemetry

import (
	"strconv"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/provider"
)

// The methods of call.Observer and tools.Observer.
var _ call.Observer = (*Metrics)(nil)

// CallStarted counts a call that was opened.
func (m *Metrics) CallStarted(provider string) {
	m.sessions.WithLabelValues(provider).Inc()
	m.sessionsTotal.WithLabelValues(provider).Inc()
}

// CallEnded counts a call that is over, by its one reason.
func (m *Metrics) CallEnded(provider string, r call.EndReason, d time.Duration) {
	m.sessions.WithLabelValues(provider).Dec()
	m.ends.WithLabelValues(provider, string(r)).Inc()
	m.callSeconds.WithLabelValues(provider).Observe(d.Seconds())
}

// SetupPhase notes how long a call took from its offer to the phase.
func (m *Metrics) SetupPhase(phase string, d time.Duration) {
	m.setup.WithLabelValues(phase).Observe(d.Seconds())
}

// TurnStage notes one stage of an answer's latency.
func (m *Metrics) TurnStage(stage, mode string, d time.Duration) {
	m.turnStage.WithLabelValues(stage, mode).Observe(d.Seconds())
}

// Turn counts a turn by how it ended.
func (m *Metrics) Turn(mode, outcome string) { m.turns.WithLabelValues(mode, outcome).Inc() }

// Yield notes how long the assistant took to fall silent.
func (m *Metrics) Yield(d time.Duration) { m.yield.Observe(d.Seconds()) }

// StaleFrames counts packets of a cut answer that were held back.
func (m *Metrics) StaleFrames(n int) { m.stale.Add(float64(n)) }

// Media adds what one direction of one finished call was like.
func (m *Metrics) Media(direction string, s call.MediaSample) {
	m.packets.WithLabelValues(direction).Add(float64(s.Packets))
	if s.Lost > 0 {
		m.lost.WithLabelValues(direction).Add(float64(s.Lost))
	}
	m.jitter.WithLabelValues(direction).Observe(s.Jitter.Seconds())
	m.dropped.WithLabelValues(direction).Add(float64(s.Dropped))
	m.concealed.Add(float64(s.Concealed))
	if s.RTT > 0 {
		m.rtt.WithLabelValues(direction).Observe(s.RTT.Seconds())
	}
}

// ProviderError counts a failure of the upstream by class.
func (m *Metrics) ProviderError(class string) { m.providerErrors.WithLabelValues(class).Inc() }

// ProviderNotice counts what a provider's connection reported.
func (m *Metrics) ProviderNotice(provider, kind string) {
	m.notices.WithLabelValues(provider, kind).Inc()
}

// Usage counts what one response or transcription cost.
func (m *Metrics) Usage(name string, u provider.Usage) {
	m.records.WithLabelValues(name, string(u.Kind), status(u.Status), strconv.FormatBool(u.Told)).Inc()
	for direction, t := range map[string]provider.Tokens{"input": u.Input, "cached": u.Cached, "output": u.Output} {
		for kind, n := range map[string]int64{"text": t.Text, "audio": t.Audio, "image": t.Image} {
			if n > 0 {
				m.tokens.WithLabelValues(name, direction, kind).Add(float64(n))
			}
		}
	}
}

// status keeps the label a closed set, whatever a provider writes.
func status(s string) string {
	switch s {
	case "completed", "cancelled", "incomplete", "failed", "lost":
		return s
	}
	return "other"
}

// Audio adds the audio of one finished call.
func (m *Metrics) Audio(direction string, d time.Duration) {
	if d > 0 {
		m.audio.WithLabelValues(direction).Add(d.Seconds())
	}
}

// EventRefused counts a client event that the gate refused, by error code.
func (m *Metrics) EventRefused(code string) { m.refused.WithLabelValues(code).Inc() }

// OutputReplaced counts a tool result that was not the recorded one.
func (m *Metrics) OutputReplaced() { m.replaced.Inc() }

// ToolCall counts a tool call; name is the catalogue's, or "unknown".
func (m *Metrics) ToolCall(name, class, status string, d time.Duration) {
	m.tools.WithLabelValues(name, class, status).Inc()
	m.toolSeconds.WithLabelValues(name, class).Observe(d.Seconds())
}
