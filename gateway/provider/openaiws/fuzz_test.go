package openaiws

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"hovor/gateway/provider"
	"hovor/gateway/provider/conformance/fake"
	"hovor/signaling/realtime"
)

// FuzzServer gives a leg whatever may come from the far side, one message a line: no panic, whatever it is.
func FuzzServer(f *testing.F) {
	files, _ := filepath.Glob("../conformance/golden/openai_*.jsonl")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.ReplaceAll(text, []byte(`{"send":`), nil))
	}
	f.Add([]byte(`{"type":"response.output_audio.delta","response_id":"r","item_id":"i","delta":"AAA="}` + "\n" + `{"type":"response.done","response":{"id":"r","status":"completed"}}`))
	f.Add([]byte(`{"type":"error","event_id":"e","error":{"code":"session_expired"}}` + "\n" + `{"type":"response.audio.delta"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := newLeg(New(Config{}).cfg, provider.Setup{CallID: "rtc_fuzz"}, &fake.Sink{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.close()
		l.line.Close()
		_ = l.Send(&realtime.ResponseCreate{})
		for _, line := range bytes.Split(data, []byte("\n")) {
			l.handle(line)
		}
		_ = l.Send(&realtime.ConversationItemTruncate{ItemID: "i", AudioEndMS: 10})
		l.lost(&provider.Error{Class: provider.Lost})
	})
}
