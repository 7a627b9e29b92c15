package telemetry

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"hovor/gateway/call"
	"hovor/gateway/provider"
	"hovor/gateway/thread"
)

// scrape has seen every kind of thing once and returns what a Prometheus server would read.
func scrape(t *testing.T) string {
	t.Helper()
	m := New("test")
	m.Capacity(200)
	m.Draining(true)
	m.CallStarted("embedded")
	for _, r := range call.EndReasons() {
		m.CallEnded("embedded", r, time.Minute)
	}
	m.SetupPhase("ice", 20*time.Millisecond)
	m.TurnStage("total", "open", 700*time.Millisecond)
	m.Turn("open", "answered")
	m.Yield(200 * time.Millisecond)
	m.StaleFrames(3)
	m.Media("from_client", call.MediaSample{Packets: 3000, Lost: 60, Jitter: 20 * time.Millisecond, RTT: 40 * time.Millisecond, Dropped: 2, Concealed: 55})
	m.ProviderError("lost")
	m.EventRefused("unknown_event")
	m.ProviderNotice("embedded", "renewed")
	m.Usage("embedded", provider.Usage{Kind: provider.UsageResponse, Status: "cancelled", Told: true, Input: provider.Tokens{Text: 3, Audio: 4}, Output: provider.Tokens{Audio: 5}})
	m.Usage("embedded", provider.Usage{Kind: provider.UsageResponse, Status: "a provider's own word"})
	m.Audio("heard", 90*time.Second)
	m.OutputReplaced()
	m.ToolCall("get_document", "read", "ok", 3*time.Millisecond)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func TestWhatHappenedIsCounted(t *testing.T) {
	text := scrape(t)
	for _, want := range []string{
		`hovor_capacity_sessions 200`, `hovor_draining 1`, `hovor_sessions_started_total{provider="embedded"} 1`,
		`hovor_sessions_ended_total{provider="embedded",reason="provider_lost"} 1`,
		`hovor_setup_seconds_bucket{phase="ice",le="0.02"} 1`, `hovor_turn_latency_seconds_bucket{mode="open",stage="total",le="0.7"} 1`,
		`hovor_turns_total{mode="open",outcome="answered"} 1`, `hovor_time_to_yield_seconds_bucket{le="0.2"} 1`, `hovor_stale_frames_total 3`,
		`hovor_rtp_packets_total{direction="from_client"} 3000`, `hovor_rtp_packets_lost_total{direction="from_client"} 60`,
		`hovor_rtp_packets_dropped_total{direction="from_client"} 2`, `hovor_concealed_frames_total 55`,
		`hovor_tool_calls_total{class="read",status="ok",tool="get_document"} 1`, `hovor_provider_errors_total{class="lost"} 1`,
		`hovor_provider_notices_total{kind="renewed",provider="embedded"} 1`, `hovor_audio_seconds_total{direction="heard"} 90`,
		`hovor_provider_tokens_total{direction="input",kind="audio",provider="embedded"} 4`,
		`hovor_provider_responses_total{kind="response",provider="embedded",status="cancelled",told="true"} 1`,
		`hovor_provider_responses_total{kind="response",provider="embedded",status="other",told="false"} 1`,
		`hovor_events_refused_total{code="unknown_event"} 1`, `hovor_tool_outputs_replaced_total 1`, `hovor_build_info{version="test"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("missing %s", want)
		}
	}
}

func TestNamesAreAnInterface(t *testing.T) {
	text := scrape(t)
	types := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (hovor_\S+) (\S+)$`).FindAllStringSubmatch(text, -1) {
		types[m[1]] = m[2]
		if !strings.Contains(text, "# HELP "+m[1]+" ") {
			t.Errorf("%s has no help", m[1])
		}
		if (m[2] == "counter") != strings.HasSuffix(m[1], "_total") {
			t.Errorf("%s is a %s: _total belongs to counters and to nothing else", m[1], m[2])
		}
		if m[2] == "histogram" && !strings.HasSuffix(m[1], "_seconds") {
			t.Errorf("%s: durations are in seconds and say so", m[1])
		}
	}
	if len(types) < 20 {
		t.Errorf("only %d metrics were seen", len(types))
	}
	for _, banned := range []string{`call_id="`, `person="`, `session="`, `thread="`} {
		if strings.Contains(text, banned) {
			t.Errorf("%q is in the metrics: labels are closed sets", banned)
		}
	}
}

func TestWhatIsSaidIsALengthInTheLog(t *testing.T) {
	var b bytes.Buffer
	NewLogger(&b, slog.LevelDebug).Debug("item", "text", thread.Words("kanarek"))
	if strings.Contains(b.String(), "kanarek") || !strings.Contains(b.String(), `"msg":"item"`) {
		t.Errorf("the log line is %s", b.String())
	}
}
