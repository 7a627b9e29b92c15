package signaling

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"hovor/signaling/sdpfrag"
)

// patching is a service whose one call has the entity-tag "one", and "two" after a restart.
type patching struct {
	*fakeService
	got  PatchRequest
	kind error // what it does not do
}

func (p *patching) Open(ctx context.Context, c Caller, o Offer) (*Answer, error) {
	a, err := p.fakeService.Open(ctx, c, o)
	if a != nil {
		a.ETag = "one"
	}
	return a, err
}

func (p *patching) Patch(ctx context.Context, c Caller, id string, r PatchRequest) (*PatchAnswer, error) {
	if err := p.Hangup(ctx, c, id); err != nil {
		return nil, err
	}
	p.got = r
	switch {
	case p.kind != nil:
		return nil, p.kind
	case r.Restart:
		return &PatchAnswer{ETag: "two", Fragment: &sdpfrag.Fragment{Lite: true, Media: []sdpfrag.Media{{
			Line: "audio 9 UDP/TLS/RTP/SAVPF 111", Mid: "0", Credentials: sdpfrag.Credentials{Ufrag: "n1abcd", Pwd: "aaaaaaaaaaaaaaaaaaaaaaaa"},
			Candidates: []string{"candidate:1 1 udp 2130706431 198.51.100.1 3478 typ host"}, EndOfCandidates: true,
		}}}}, nil
	case r.IfMatch != "one":
		return nil, ErrPrecondition
	}
	return nil, nil
}

const fragment = "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\n" +
	"a=candidate:1 1 udp 2122260223 192.0.2.1 61764 typ host\r\n"

const callPath = "/v1/realtime/calls/call_1"

func patchCall(h http.Handler, body string, header ...string) *http.Response {
	return ask(h, "PATCH", callPath, body, append([]string{"Content-Type", sdpfrag.MediaType}, header...)...)
}

func TestRow5_2_AnAnswerNamesItsICESession(t *testing.T) {
	h := NewHandler(&patching{fakeService: newFake()}, HandlerConfig{AllowedOrigins: []string{"*"}})
	r := ask(h, "POST", "/v1/realtime/calls", goodOffer, "Origin", "https://app.example")
	if r.StatusCode != 201 || r.Header.Get("ETag") != `"one"` || !strings.Contains(r.Header.Get("Access-Control-Expose-Headers"), "ETag") {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	if r := ask(NewHandler(newFake(), HandlerConfig{}), "POST", "/v1/realtime/calls", goodOffer); r.Header.Get("ETag") != "" {
		t.Error("a service without restarts names an ICE session")
	}
}

func TestRow5_2_TrickledCandidatesAreTaken(t *testing.T) {
	p := &patching{fakeService: newFake()}
	r := patchCall(NewHandler(p, HandlerConfig{}), fragment, "If-Match", `"one"`)
	if body := text(t, r); r.StatusCode != 204 || body != "" || r.Header.Get("ETag") != "" {
		t.Errorf("%d %q %v", r.StatusCode, body, r.Header)
	}
	if p.got.IfMatch != "one" || p.got.Restart || len(p.got.Fragment.Candidates()) != 1 || p.got.Fragment.Current().Ufrag != "EsAw" {
		t.Errorf("got %+v", p.got)
	}
}

func TestRow5_2_ARestartIsAnsweredWithTheNewICESession(t *testing.T) {
	for _, star := range []string{"*", `"*"`} {
		p := &patching{fakeService: newFake()}
		r := patchCall(NewHandler(p, HandlerConfig{}), fragment, "If-Match", star)
		body := text(t, r)
		if r.StatusCode != 200 || r.Header.Get("ETag") != `"two"` || r.Header.Get("Content-Type") != sdpfrag.MediaType {
			t.Fatalf("%d %q %v", r.StatusCode, body, r.Header)
		}
		f, err := sdpfrag.Parse(body)
		if err != nil || f.Current().Ufrag != "n1abcd" || len(f.Candidates()) != 1 || !p.got.Restart || p.got.IfMatch != "" {
			t.Errorf("%v %+v", err, p.got)
		}
	}
}

func TestRow5_2_EveryConditionThatFailsHasItsStatus(t *testing.T) {
	for _, c := range []struct {
		name   string
		body   string
		header []string
		kind   error
		status int
		code   string
	}{
		{"no condition", fragment, nil, nil, 428, "precondition_required"},
		{"an outdated entity-tag", fragment, []string{"If-Match", `"zero"`}, nil, 412, "precondition_failed"},
		{"a weak entity-tag", fragment, []string{"If-Match", `W/"one"`}, nil, 412, "precondition_failed"},
		{"an entity-tag without quotes", fragment, []string{"If-Match", `one`}, nil, 400, "invalid_value"},
		{"several entity-tags", fragment, []string{"If-Match", `"one", "two"`}, nil, 400, "invalid_value"},
		{"what is not supported", fragment, []string{"If-Match", `"one"`}, ErrPatchKind, 422, "not_supported"},
		{"another type", fragment, []string{"If-Match", `"one"`, "Content-Type", "application/sdp"}, nil, 415, "unsupported_content_type"},
		{"nonsense", "hello", []string{"If-Match", `"one"`}, nil, 400, "invalid_sdp_fragment"},
		{"nothing", "", []string{"If-Match", `"one"`}, nil, 400, "invalid_sdp_fragment"},
		{"too much", strings.Repeat("m=audio 9 X 1\r\n", 99), []string{"If-Match", `"one"`}, nil, 413, "message_too_large"},
		{"a restart without credentials", "m=audio 9 X 1\na=mid:0\na=candidate:1 1 udp 1 192.0.2.1 1 typ host\n", []string{"If-Match", "*"}, nil, 400, "invalid_sdp_fragment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &patching{fakeService: newFake(), kind: c.kind}
			r := patchCall(NewHandler(p, HandlerConfig{}), c.body, c.header...)
			if body := text(t, r); r.StatusCode != c.status || !strings.Contains(body, c.code) {
				t.Errorf("%d %s", r.StatusCode, body)
			}
		})
	}
	h := NewHandler(&patching{fakeService: newFake()}, HandlerConfig{})
	if r := ask(h, "PATCH", "/v1/realtime/calls/call_2", fragment, "Content-Type", sdpfrag.MediaType, "If-Match", "*"); r.StatusCode != 404 {
		t.Errorf("somebody else's call: %d", r.StatusCode)
	}
}

func TestRow7_1_10_DeleteEndsACallWhateverItsEntityTag(t *testing.T) {
	h := NewHandler(&patching{fakeService: newFake()}, HandlerConfig{})
	if r := ask(h, "DELETE", callPath, "", "If-Match", `"zero"`); r.StatusCode != 200 {
		t.Errorf("%d", r.StatusCode)
	}
}

func TestAServiceWithoutPatchSaysSo(t *testing.T) {
	h := NewHandler(newFake(), HandlerConfig{})
	r := patchCall(h, fragment, "If-Match", "*")
	if r.StatusCode != 405 || strings.Contains(r.Header.Get("Allow"), "PATCH") {
		t.Errorf("%d, allows %q", r.StatusCode, r.Header.Get("Allow"))
	}
	r = ask(NewHandler(&patching{fakeService: newFake()}, HandlerConfig{}), "OPTIONS", callPath, "")
	if !strings.Contains(r.Header.Get("Allow"), "PATCH") || r.Header.Get("Accept-Patch") != sdpfrag.MediaType {
		t.Errorf("OPTIONS: %v", r.Header)
	}
}
