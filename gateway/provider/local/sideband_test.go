package local

import (
	"errors"
	"testing"
	"time"

	"hovor/signaling/client"
	"hovor/signaling/realtime"
	"hovor/signaling/socket"
)

func onCall(p *phone) func(*client.SocketConfig) {
	return func(c *client.SocketConfig) { c.Model, c.CallID = "", p.conn.CallID() }
}

func TestASidebandStartsSilentAndSharesTheCall(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		until[*realtime.SessionUpdated](p)
		d := h.open(onCall(p))
		time.Sleep(time.Second)
		if got := d.order(); len(got) != 0 {
			t.Errorf("a sideband is greeted with %v", got)
		}
		words := "Be brief."
		d.send(&realtime.SessionUpdate{Session: realtime.Session{Type: "realtime", Instructions: &words}})
		if got := next[*realtime.SessionUpdated](d).Session; *got.Instructions != words {
			t.Errorf("instructions %q", *got.Instructions)
		}
		if got := until[*realtime.SessionUpdated](p).Session; *got.Instructions != words {
			t.Error("the client is not told")
		}
		d.send(&realtime.ResponseCancel{EventID: "mine"}, &realtime.InputAudioBufferAppend{EventID: "audio", Audio: "AAAA"})
		for _, want := range []string{"mine", "audio"} {
			if e := next[*realtime.ErrorEvent](d).Error; e.EventID != want {
				t.Errorf("error %+v, want it to answer %s", e, want)
			}
		}
		p.send(&realtime.ResponseCancel{EventID: "theirs"})
		until[*realtime.ErrorEvent](p)
		d.send(typedText("hello"), &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStopped](p)
		next[*realtime.OutputAudioBufferStopped](d)
		if n := len(all[*realtime.ErrorEvent](p)); n != 1 {
			t.Errorf("the client was told %d errors, one is its own", n)
		}
		if len(p.audio()) == 0 || len(every[*realtime.ResponseOutputAudioDelta](d)) != 0 {
			t.Error("the sound left the track")
		}
		if err := p.conn.Hangup(t.Context()); err != nil {
			t.Error(err)
		}
		<-d.ended
		var bye *socket.CloseError
		if d.err != nil || !errors.As(d.sock.Conn().Err(), &bye) || bye.Code != socket.CodeNormal || bye.Reason != "hangup" {
			t.Errorf("the sideband ended with %v, %v", d.err, d.sock.Conn().Err())
		}
		<-p.ended
		p.cancel()
	})
}

func TestASidebandMayComeBeforeTheMediaAndGo(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		d := h.open(onCall(p))
		d.hang()
		time.Sleep(time.Second)
		p.send(typedText("hello"), &realtime.ResponseCreate{})
		until[*realtime.OutputAudioBufferStopped](p)
		p.hang()
	})
}

func TestASidebandNeedsACallAndItsKey(t *testing.T) {
	inHouse(t, scriptedBrain(t, oneAnswer), nil, func(t *testing.T, h *house) {
		p := h.call(manual())
		other, err := client.MintSecret(t.Context(), h.http, baseURL, testKey, realtime.ClientSecretRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(*client.SocketConfig){
			"no call":       func(c *client.SocketConfig) { c.CallID = "rtc_none" },
			"another key":   func(c *client.SocketConfig) { c.Token = other.Value },
			"no such key":   func(c *client.SocketConfig) { c.Token = "sk-wrong" },
			"nobody at all": func(c *client.SocketConfig) { c.Token = "" },
		} {
			_, err := h.dialSocket(onCall(p), change)
			var e *realtime.Error
			if !errors.As(err, &e) || e.Status != 404 && e.Status != 401 {
				t.Errorf("%s: %v", name, err)
			}
		}
		p.hang()
	})
}
