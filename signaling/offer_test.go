package signaling

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"

	"hovor/signaling/realtime"
)

// form builds a multipart body; a part is name, content type ("" for none) and value.
func form(t testing.TB, parts ...[3]string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + p[0] + `"`}}
		if p[1] != "" {
			h.Set("Content-Type", p[1])
		}
		part, err := w.CreatePart(h)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte(p[2]))
	}
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}

const gaSession = `{"type":"realtime","model":"m","instructions":"be kind","audio":{"output":{"voice":"marin"}}}`

func TestRow3_7_CallsTakesEveryFormOfOffer(t *testing.T) {
	typed, typedCT := form(t, [3]string{"sdp", "application/sdp", goodOffer}, [3]string{"session", "application/json", gaSession})
	plain, plainCT := form(t, [3]string{"session", "", gaSession}, [3]string{"sdp", "", goodOffer})
	files, filesCT := form(t, [3]string{`sdp"; filename="blob`, "application/sdp", goodOffer}, [3]string{`session"; filename="blob`, "application/json", gaSession})
	alone, aloneCT := form(t, [3]string{"sdp", "", goodOffer}, [3]string{"something", "", "else"})
	asJSON, _ := json.Marshal(map[string]any{"sdp": goodOffer, "session": json.RawMessage(gaSession), "later": 1})
	bare, _ := json.Marshal(map[string]any{"sdp": goodOffer, "model": "m"})
	for _, c := range []struct {
		name, body, contentType string
		session                 bool
		model                   string
	}{
		{"raw SDP", goodOffer, "application/sdp", false, ""},
		{"raw SDP with a charset", goodOffer, "Application/SDP; charset=utf-8", false, ""},
		{"typed parts", typed, typedCT, true, "m"},
		{"plain parts", plain, plainCT, true, "m"},
		{"parts as files", files, filesCT, true, "m"},
		{"a form without a session", alone, aloneCT, false, ""},
		{"a form whose type lost its boundary", typed, "multipart/form-data", true, "m"},
		{"a form whose type has a broken boundary", typed, "multipart/form-data; boundary=", true, "m"},
		{"a form with bare line feeds", strings.ReplaceAll(plain, "\r\n", "\n"), plainCT, true, "m"},
		{"JSON", string(asJSON), "application/json", true, "m"},
		{"JSON without a session", string(bare), "application/json; charset=utf-8", false, "m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake()
			r := ask(NewHandler(f, HandlerConfig{}), "POST", "/v1/realtime/calls", c.body, "Content-Type", c.contentType)
			if body := text(t, r); r.StatusCode != 201 || body != goodAnswer || r.Header.Get("Location") != "/v1/realtime/calls/call_1" {
				t.Fatalf("%d %s", r.StatusCode, body)
			}
			if strings.TrimSpace(strings.ReplaceAll(f.offer.SDP, "\r\n", "\n")) != strings.TrimSpace(strings.ReplaceAll(goodOffer, "\r\n", "\n")) {
				t.Errorf("the offer arrived as %q", f.offer.SDP)
			}
			if (f.offer.Session != nil) != c.session || f.offer.Model != c.model || f.offer.Dialect != realtime.GA {
				t.Errorf("offer %+v", f.offer)
			}
			if c.session && (*f.offer.Session.Instructions != "be kind" || f.offer.Session.Voice() != "marin") {
				t.Errorf("session %+v", f.offer.Session)
			}
		})
	}
}

func TestRow3_2_4b_TheModelComesFromTheURLElseFromTheSessionElseFromNobody(t *testing.T) {
	body, ct := form(t, [3]string{"sdp", "", goodOffer}, [3]string{"session", "", gaSession})
	for target, want := range map[string]string{"/v1/realtime/calls?model=other": "other", "/v1/realtime/calls": "m"} {
		f := newFake()
		ask(NewHandler(f, HandlerConfig{}), "POST", target, body, "Content-Type", ct)
		if f.offer.Model != want {
			t.Errorf("%s: %q", target, f.offer.Model)
		}
	}
	f := newFake()
	if r := ask(NewHandler(f, HandlerConfig{}), "POST", "/v1/realtime/calls", goodOffer); r.StatusCode != 201 || f.offer.Model != "" {
		t.Errorf("an offer that names no model: %d", r.StatusCode)
	}
}

func TestEveryBrokenFormOfOfferIsToldWhatIsWrong(t *testing.T) {
	noSDP, noSDPCT := form(t, [3]string{"session", "", gaSession})
	twice, twiceCT := form(t, [3]string{"sdp", "", goodOffer}, [3]string{"sdp", "", goodOffer})
	badSession, badSessionCT := form(t, [3]string{"sdp", "", goodOffer}, [3]string{"session", "", `{"type":`})
	wrongSession, wrongSessionCT := form(t, [3]string{"sdp", "", goodOffer}, [3]string{"session", "", `{"type":"realtime","audio":{"output":{"speed":9}}}`})
	untyped, untypedCT := form(t, [3]string{"sdp", "", goodOffer}, [3]string{"session", "", `{"audio":{"output":{"voice":"marin"}}}`})
	flat, flatCT := form(t, [3]string{"sdp", "", goodOffer}, [3]string{"session", "", `{"output_audio_format":"mp3"}`})
	flatDeep, flatDeepCT := form(t, [3]string{"sdp", "", goodOffer}, [3]string{"session", "", `{"turn_detection":{"type":"server_vad","threshold":7}}`})
	tools, toolsCT := form(t, [3]string{"sdp", "", goodOffer}, [3]string{"session", "", `{"type":"realtime","tools":[{"type":"function"}]}`})
	empty, emptyCT := form(t, [3]string{"sdp", "", ""})
	html, htmlCT := form(t, [3]string{"sdp", "", "<html>"})
	many := make([][3]string, maxParts+2)
	for i := range many {
		many[i] = [3]string{"x", "", "y"}
	}
	tooMany, tooManyCT := form(t, many...)
	for _, c := range []struct {
		name, body, contentType string
		status                  int
		code, param, says       string
	}{
		{"no sdp part", noSDP, noSDPCT, 400, "missing_required_parameter", "sdp", "part"},
		{"sdp twice", twice, twiceCT, 400, "duplicate_parameter", "sdp", "twice"},
		{"an empty sdp part", empty, emptyCT, 400, "invalid_sdp", "", "empty"},
		{"an sdp part that is none", html, htmlCT, 400, "invalid_sdp", "", "v=0"},
		{"a session that is not JSON", badSession, badSessionCT, 400, "invalid_json", "session", "byte"},
		{"a session out of range", wrongSession, wrongSessionCT, 400, "invalid_value", "session.audio.output.speed", ""},
		{"a GA session without type", untyped, untypedCT, 400, "missing_required_parameter", "session.type", "realtime"},
		{"a tool without a name", tools, toolsCT, 400, "missing_required_parameter", "session.tools[0].name", ""},
		{"a flat session with a wrong format", flat, flatCT, 400, "invalid_value", "session.output_audio_format", "pcm16"},
		{"a flat session out of range, in the client's words", flatDeep, flatDeepCT, 400, "invalid_value", "session.turn_detection.threshold", ""},
		{"a boundary that does not fit", noSDP, "multipart/form-data; boundary=other", 400, "invalid_value", "", "boundary"},
		{"no boundary anywhere", "hello", "multipart/form-data", 400, "invalid_value", "", "boundary"},
		{"an empty form", "", "multipart/form-data", 400, "invalid_value", "", "boundary"},
		{"a form cut short", twice[:len(twice)/3], twiceCT, 400, "invalid_value", "", "form"},
		{"too many parts", tooMany, tooManyCT, 400, "invalid_value", "", "parts"},
		{"JSON cut short", `{"sdp":"v=0`, "application/json", 400, "invalid_json", "", "byte"},
		{"JSON without sdp", `{"session":{}}`, "application/json", 400, "missing_required_parameter", "sdp", "offer"},
		{"JSON whose sdp is no string", `{"sdp":7}`, "application/json", 400, "invalid_type", "sdp", "string"},
		{"JSON that is an array", `[]`, "application/json", 400, "invalid_json", "", "object"},
		{"a form of the other kind", "sdp=v%3D0", "application/x-www-form-urlencoded", 415, "unsupported_content_type", "", "application/sdp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ask(NewHandler(newFake(), HandlerConfig{}), "POST", "/v1/realtime/calls", c.body, "Content-Type", c.contentType)
			var got struct {
				Error struct{ Code, Param, Message string }
			}
			raw := text(t, r)
			if err := json.Unmarshal([]byte(raw), &got); err != nil {
				t.Fatalf("%d %s", r.StatusCode, raw)
			}
			if r.StatusCode != c.status || got.Error.Code != c.code || got.Error.Param != c.param || !strings.Contains(got.Error.Message, c.says) {
				t.Errorf("%d %s", r.StatusCode, raw)
			}
		})
	}
}

func FuzzOffer(f *testing.F) {
	typed, typedCT := form(f, [3]string{"sdp", "application/sdp", goodOffer}, [3]string{"session", "application/json", gaSession})
	plain, plainCT := form(f, [3]string{"sdp", "", goodOffer}, [3]string{"session", "", `{"voice":"v","modalities":["text","audio"]}`})
	f.Add(typedCT, typed)
	f.Add(plainCT, plain)
	f.Add("multipart/form-data", typed)
	f.Add("multipart/form-data", "--\r\n")
	f.Add("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=sdp\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nv=3D0\r\n--x--")
	f.Add("multipart/mixed; boundary=x", "--x--")
	f.Add("application/json", `{"sdp":"v=0\r\n","session":{"type":"realtime"}}`)
	f.Add("application/json", `{"sdp":"v=0","session":"{}"}`)
	f.Fuzz(func(t *testing.T, contentType, body string) {
		r := httptest.NewRequest("POST", "http://gw.example/v1/realtime/calls", strings.NewReader(body))
		r.Header = http.Header{"Content-Type": {contentType}}
		o, err := readOffer(r, realtime.GA)
		if err != nil {
			if e := ReplyTo(err); e.Status < 400 || e.Status >= 500 || e.Code == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		if !strings.Contains(o.SDP, "v=0") || o.Session != nil && o.Session.Type == "" {
			t.Fatalf("%+v", o)
		}
	})
}
