package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hovor/gateway/config"
	"hovor/signaling/client"
	"hovor/signaling/realtime"
)

// wire is a client over a real WebSocket.
type wire struct {
	t *testing.T
	*websocket.Conn
}

// socket opens one, or gives the status with which it was refused.
func (h *house) socket(query, token string) (*wire, int) {
	h.t.Helper()
	url := "ws" + strings.TrimPrefix(h.PublicURL(), "http") + "/v1/realtime?" + query
	c, reply, err := websocket.DefaultDialer.Dial(url, http.Header{"Authorization": {"Bearer " + token}})
	if errors.Is(err, websocket.ErrBadHandshake) {
		return nil, reply.StatusCode
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = c.Close() })
	return &wire{h.t, c}, http.StatusSwitchingProtocols
}

func (w *wire) tell(ev realtime.Event) {
	w.t.Helper()
	b, err := realtime.Encode(ev)
	if err == nil {
		err = w.WriteMessage(websocket.TextMessage, b)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// next gives the next event that ok takes.
func (w *wire) next(what string, ok func(realtime.Event) bool) realtime.Event {
	w.t.Helper()
	_ = w.SetReadDeadline(time.Now().Add(patience))
	for {
		_, b, err := w.ReadMessage()
		if err != nil {
			w.t.Fatalf("waiting for %s: %v", what, err)
		}
		ev, err := realtime.Decode(realtime.FromServer, b)
		if err != nil {
			w.t.Fatalf("%v in %s", err, b)
		}
		if ok(ev) {
			return ev
		}
	}
}

func is[T realtime.Event](ev realtime.Event) bool { _, ok := ev.(T); return ok }

func TestACallOverAWebSocketWithASidebandAndItsEnd(t *testing.T) {
	for _, transport := range []string{"webrtc", "websocket"} {
		t.Run("provider over "+transport, func(t *testing.T) {
			t.Parallel()
			h := open(t, func(c *config.Config) { c.Providers[0].Transport = transport })
			w, _ := h.socket("model=gpt-realtime", "demo-alice")
			if ev := w.next("the first event", func(realtime.Event) bool { return true }); !is[*realtime.SessionCreated](ev) {
				t.Errorf("began with %s", ev.EventType())
			}
			call := w.next("hovor.call", is[*realtime.HovorCall]).(*realtime.HovorCall)
			if _, status := h.socket("call_id="+call.CallID, "demo-bob"); status != http.StatusNotFound {
				t.Errorf("another person's sideband: %d", status)
			}
			side, _ := h.socket("call_id="+call.CallID, "demo-alice")
			w.tell(&realtime.ConversationItemCreate{Item: realtime.UserText("hello")})
			w.tell(&realtime.ResponseCreate{})
			audio := 0
			w.next("response.done", func(ev realtime.Event) bool {
				if is[*realtime.ResponseOutputAudioDelta](ev) {
					audio++
				}
				return is[*realtime.ResponseDone](ev)
			})
			if audio == 0 {
				t.Error("an answer without audio")
			}
			first := side.next("something", func(realtime.Event) bool { return true })
			if is[*realtime.SessionCreated](first) {
				t.Error("a sideband starts silent")
			}
			side.next("response.done", is[*realtime.ResponseDone])
			found, err := h.door.calls.Get("alice", call.CallID)
			if err != nil {
				t.Fatal(err)
			}
			found.Hangup("hangup")
			for _, s := range []*wire{w, side} {
				s.next("hovor.ended", is[*realtime.HovorEnded])
				_, _, err := s.ReadMessage()
				var bye *websocket.CloseError
				if !errors.As(err, &bye) || bye.Code != websocket.CloseNormalClosure || bye.Text != "hangup" {
					t.Errorf("closed with %v", err)
				}
			}
		})
	}
}

func TestASecretSaysWhatItsHolderMayDo(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *config.Config) { c.Assistants[0].Policy = "locked" })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	secret, err := client.MintSecret(ctx, nil, h.PublicURL()+"/v1/realtime", "demo-alice", realtime.ClientSecretRequest{
		Session: &realtime.Session{Type: "realtime", Model: "gpt-realtime"},
		Hovor: &realtime.HovorRequest{Events: []string{"session.update", "response.create"}, Fields: []string{"turn_detection", "instructions"},
			MaxDuration: 1, OneUse: true}})
	if err != nil {
		t.Fatal(err)
	}
	if secret.Session.Instructions != nil {
		t.Error("the reply to the mint shows the instructions of a locked assistant")
	}
	w, _ := h.socket("model=gpt-realtime", secret.Value)
	w.tell(&realtime.ConversationItemCreate{EventID: "e1", Item: realtime.UserText("hello")})
	if e := w.next("an error", is[*realtime.ErrorEvent]).(*realtime.ErrorEvent).Error; e.Code != realtime.CodeEventNotAllowed || e.EventID != "e1" {
		t.Errorf("error %+v", e)
	}
	text := "be somebody else"
	w.tell(&realtime.SessionUpdate{Session: realtime.Session{Type: "realtime", Instructions: &text, Audio: &realtime.Audio{Input: &realtime.AudioInput{
		TurnDetection: realtime.Null[realtime.TurnDetection](), NoiseReduction: realtime.Some(realtime.NoiseReduction{Type: "far_field"})}}}})
	s := w.next("session.updated", is[*realtime.SessionUpdated]).(*realtime.SessionUpdated).Session
	if s.TurnDetection() != nil || s.Audio.Input.NoiseReduction.Value != nil || s.Instructions != nil {
		t.Errorf("effective session %+v", s.Audio.Input)
	}
	if strings.Contains(h.heard.String(), text) {
		t.Error("a secret gave what the assistant does not")
	}
	if ended := w.next("the end", is[*realtime.HovorEnded]).(*realtime.HovorEnded); ended.Reason != "max_duration" {
		t.Errorf("ended: %s", ended.Reason)
	}
	if _, status := h.socket("model=gpt-realtime", secret.Value); status != http.StatusUnauthorized {
		t.Errorf("a one-use secret was used twice: %d", status)
	}
	if _, status := h.socket("intent=transcription", "demo-alice"); status != http.StatusBadRequest {
		t.Errorf("transcription only: %d", status)
	}
}
