package gemini

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"hovor/gateway/provider"
	"hovor/gateway/provider/conformance/fake"
	"hovor/signaling/realtime"
)

// FuzzLive gives a leg whatever may come from the far side, one message a line: no panic, and no event that is not of the protocol.
func FuzzLive(f *testing.F) {
	files, _ := filepath.Glob("../conformance/golden/gemini_*.jsonl")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.ReplaceAll(text, []byte(`{"send":`), nil))
	}
	f.Add([]byte(`{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"mimeType":"audio/pcm","data":"AAAAAA=="}}]},"interrupted":true,"generationComplete":true,"turnComplete":true}}`))
	f.Add([]byte(`{"toolCall":{"functionCalls":[{"name":"x"},{}]}}` + "\n" + `{"toolCallCancellation":{"ids":["",null]}}` + "\n" + `{"usageMetadata":{"totalTokenCount":-1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &fake.Sink{}
		l, err := newLeg(New(Config{Model: "m"}).cfg, provider.Setup{CallID: "rtc_fuzz"}, in)
		if err != nil {
			t.Fatal(err)
		}
		defer l.close()
		l.line.Close()
		_ = l.Send(&realtime.ResponseCreate{})
		for _, line := range bytes.Split(data, []byte("\n")) {
			l.handleRaw(line)
		}
		for _, c := range l.calls {
			c.timer.Stop()
		}
		for _, ev := range in.Events() {
			if _, err := realtime.Encode(ev); err != nil {
				t.Errorf("%s: %v", ev.EventType(), err)
			}
		}
	})
}
