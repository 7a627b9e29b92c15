package realtime

import "testing"

// What stock clients send, in the shapes of @openai/agents-realtime 0.20.0.
func TestWhatStockClientsSendIsTaken(t *testing.T) {
	for name, raw := range map[string]string{
		"session.update on open": `{"type":"session.update","session":{"type":"realtime","instructions":"hi","model":"gpt-realtime-2","output_modalities":["audio"],
			"audio":{"input":{"format":{"type":"audio/pcm","rate":24000},"noise_reduction":null,"transcription":{"model":"gpt-4o-mini-transcribe"},"turn_detection":{"type":"semantic_vad"}},
			"output":{"format":{"type":"audio/pcm","rate":24000},"speed":1}},"tool_choice":"auto","tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{},"required":[],"additionalProperties":false},"strict":true}],"providerKey":1}}`,
		"tracing afterwards":    `{"type":"session.update","session":{"type":"realtime","tracing":"auto"}}`,
		"tracing by name":       `{"type":"session.update","session":{"type":"realtime","tracing":{"group_id":"g","workflow_name":"w","metadata":{"a":"b"}}}}`,
		"typed text":            `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"Dobrý den"}]}}`,
		"history":               `{"type":"conversation.item.create","event_id":"agents_create_1","previous_item_id":"root","item":{"id":"i","type":"message","role":"user","status":"completed","content":[{"type":"input_audio","audio":null,"transcript":"x"}]}}`,
		"an image":              `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}}`,
		"a tool's result":       `{"type":"conversation.item.create","item":{"type":"function_call_output","output":"{}","call_id":"call_1"}}`,
		"an empty result":       `{"type":"conversation.item.create","item":{"type":"function_call_output","output":"","call_id":"call_1"}}`,
		"an approval":           `{"type":"conversation.item.create","previous_item_id":"i","item":{"type":"mcp_approval_response","approval_request_id":"i","approve":false}}`,
		"an answer":             `{"type":"response.create","event_id":"agents_js_response_create_1"}`,
		"an answer out of band": `{"type":"response.create","response":{"conversation":"none","output_modalities":["text"],"input":[{"type":"item_reference","id":"i"}],"metadata":{"a":"b"},"max_output_tokens":"inf"}}`,
		"an interruption":       `{"type":"response.cancel"}`,
		"silence":               `{"type":"output_audio_buffer.clear"}`,
		"a truncation":          `{"type":"conversation.item.truncate","item_id":"i","content_index":0,"audio_end_ms":1234}`,
		"a retrieval":           `{"type":"conversation.item.retrieve","item_id":"i"}`,
	} {
		if _, err := Decode(FromClient, []byte(raw)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkDecodeDelta(b *testing.B) {
	raw := []byte(`{"type":"response.output_audio_transcript.delta","event_id":"event_1","response_id":"resp_1","item_id":"item_1","output_index":0,"content_index":0,"delta":" some words"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(FromServer, raw); err != nil {
			b.Fatal(err)
		}
	}
}
