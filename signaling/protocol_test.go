package signaling

import (
	"os"
	"strings"
	"testing"

	"hovor/signaling/realtime"
)

func TestTheDocumentNamesEveryEventOfOursAndEveryClientEvent(t *testing.T) {
	doc, err := os.ReadFile("protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	names := realtime.EventTypes(realtime.FromClient)
	for _, n := range realtime.EventTypes(realtime.FromServer) {
		if strings.HasPrefix(n, "hovor.") {
			names = append(names, n)
		}
	}
	for _, n := range names {
		last := n[strings.LastIndexByte(n, '.'):]
		if !strings.Contains(string(doc), "`"+n+"`") && !strings.Contains(string(doc), "`"+last+"`") {
			t.Errorf("%s is not in protocol.md", n)
		}
	}
	for _, e := range []*realtime.Error{ErrCallNotFound, ErrNoCredential, ErrBadCredential, errOrigin, errNoEndpoint, errMethod, errBearer,
		errBodyTooLarge, errEmptyOffer, errNotSDP, errNoAudio, errCodec, errNegotiation, errTimeout, errCanceled, errInternal,
		ErrPrecondition, ErrPatchKind, ErrNoTranscription, errNoIfMatch, errIfMatch, errNotUpgrade, errNoSocket, errSIP, errNoSDPPart,
		{Code: realtime.CodeInvalidFragment}} {
		if !strings.Contains(string(doc), "`"+e.Code+"`") {
			t.Errorf("error code %s is not in protocol.md", e.Code)
		}
	}
}

func TestTheDocumentNamesEveryEndpointAndWhatABetaClientCallsThings(t *testing.T) {
	doc, err := os.ReadFile("protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	for path, methods := range routes {
		if path == "calls/{id}/accept" || path == "calls/{id}/reject" || path == "calls/{id}/refer" {
			continue // refused
		}
		for method := range methods {
			want := strings.TrimSuffix(method+" "+base+path, "/")
			if !strings.Contains(string(doc), want) {
				t.Errorf("%s is not in protocol.md", want)
			}
		}
	}
	for _, name := range []string{"modalities", "voice", "speed", "input_audio_format", "output_audio_format", "input_audio_transcription", "input_audio_noise_reduction",
		"turn_detection", "max_response_output_tokens", "pcm16", "g711_ulaw", "g711_alaw", "OpenAI-Beta: realtime=v1", betaProtocol, keyProtocol, "1008", "1009", "1011", "1013", "3000", "3003", "3008"} {
		if !strings.Contains(string(doc), name) {
			t.Errorf("%s is not in protocol.md", name)
		}
	}
}
