package brain

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAScriptHasADoorAndSessions(t *testing.T) {
	b, err := ParseScript([]byte(`
responses:
  - - delay: {event: response.done, for: 2s, times: 3}
    - duplicate: response.done
    - reorder: "*"
    - garble: {event: response.created}
    - stall: 5s
    - hang: true
    - expire: true
    - close: {code: 1011, reason: internal_error}
door:
  - {at: upgrade, status: 429, retry_after: 3s, times: 2, code: rate_limit_exceeded, message: Slow down.}
  - {at: mint, wait: 250ms}
  - {at: upgrade, status: 503}
sessions:
  - - expires: 30s
    - wait: 1s
    - drop: session.updated
  - []
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Step{
		Fault{Kind: FaultDelay, Type: "response.done", Times: 3, For: 2 * time.Second}, Fault{Kind: FaultDuplicate, Type: "response.done", Times: 1},
		Fault{Kind: FaultReorder, Type: AnyEvent, Times: 1}, Fault{Kind: FaultGarble, Type: "response.created", Times: 1},
		Fault{Kind: FaultStall, For: 5 * time.Second}, Fault{Kind: FaultHang}, Fault{Kind: FaultExpire}, Fault{Kind: FaultClose, Close: 1011, Text: "internal_error"},
	}
	if got := b.Mind().Respond(Turn{}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	s := b.(Saboteur)
	busy := Reception{Refusal: &Refusal{Status: 429, RetryAfter: 3 * time.Second, Code: "rate_limit_exceeded", Message: "Slow down."}}
	for i, want := range []Reception{busy, busy, {Refusal: &Refusal{Status: 503}}, {}} {
		if got := s.Knock(GateUpgrade); !reflect.DeepEqual(got, want) {
			t.Errorf("knock %d: got %+v", i, got)
		}
	}
	if got := s.Knock(GateMint); got.Wait != 250*time.Millisecond || got.Refusal != nil {
		t.Errorf("mint: got %+v", got)
	}
	if got := s.Knock(GateOpen); !reflect.DeepEqual(got, Reception{}) {
		t.Errorf("open: got %+v", got)
	}
	first := Plan{Expires: 30 * time.Second, Steps: []Step{Wait{time.Second}, Fault{Kind: FaultDrop, Type: "session.updated", Times: 1}}}
	for i, want := range []Plan{first, {}, {}} {
		if got := s.Session(); got.Expires != want.Expires || len(got.Steps) != len(want.Steps) || len(want.Steps) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("session %d: got %+v", i, got)
		}
	}
}

func TestMistakesInFaultsAreNamedWithTheirLine(t *testing.T) {
	_, err := ParseScript([]byte(`responses:
  - - delay: response.done
    - duplicate: ""
    - reorder: {event: x, for: 2s}
    - garble: {event: x, times: 0}
    - stall: 2h
    - hang: maybe
    - close: {reason: x}
    - expires: 3s
door:
  - {status: 500}
  - {at: cellar, status: 500}
  - {at: mint, status: 200}
  - {at: mint, retry_after: 2s}
  - {at: mint}
  - {at: mint, status: 503, retry_after: 1500ms, colour: red}
sessions:
  - - wait: 1s
    - expires: 3s
    - say: Hello.
  - hello
`))
	if !errors.Is(err, ErrScript) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"line 2: delay must say", "line 3: duplicate must name", `line 4: unknown or wrong key "for"`, "line 5: times must be",
		"line 6: stall must be a time from 0s to 1m,", "line 7: hang must be true", "line 8: close needs a code", `line 9: unknown step "expires"`,
		"line 11: a rule of the door needs at", "line 12: at must be", "line 13: status must be", "line 14: retry_after needs a status",
		"line 15: a rule of the door needs a status or a wait", "line 16: retry_after must be whole seconds", `line 16: unknown key "colour"`,
		"line 19: expires must be the first step", "line 20: say belongs to a response", "line 21: a session must be a list"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}
