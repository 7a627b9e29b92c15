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
		if n == "transcription_session.update" { // beta
			continue
		}
		last := n[strings.LastIndexByte(n, '.'):]
		if !strings.Contains(string(doc), "`"+n+"`") && !strings.Contains(string(doc), "`"+last+"`") {
			t.Errorf("%s is not in protocol.md", n)
		}
	}
	for _, e := range []*realtime.Error{ErrCallNotFound, ErrNoCredential, ErrBadCredential, errOrigin, errNoEndpoint, errMethod, errBearer,
		errBodyTooLarge, errEmptyOffer, errNotSDP, errNoAudio, errCodec, errNegotiation, errTimeout, errCanceled, errInternal} {
		if !strings.Contains(string(doc), "`"+e.Code+"`") {
			t.Errorf("error code %s is not in protocol.md", e.Code)
		}
	}
}
