package signaling

import (
	"context"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/logging"
	"github.com/pion/turn/v5"
)

var servers = ICEServers{
	URLs:   []string{"stun:stun.example.org:3478", "turn:turn.example.org:3478?transport=udp", "turns:turn.example.org:443?transport=tcp"},
	Secret: NewCredential("canary-secret"), TTL: time.Hour,
}

// authenticating also tells who may have a TURN credential.
type authenticating struct{ *fakeService }

func (a authenticating) Authenticate(_ context.Context, c Caller) error {
	_, err := a.who(c)
	return err
}

var turnLink = regexp.MustCompile(`^<(turns?:[^>]+)>; rel="ice-server"; username="([^"]+)"; credential="([^"]+)"; credential-type="password"$`)

func TestRow5_2_AnAnswerAnnouncesICEServersWithCredentialsThatEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(newFake(), HandlerConfig{ICE: servers, AllowedOrigins: []string{"*"}})
		r := ask(h, "POST", "/v1/realtime/calls", goodOffer, "Origin", "https://app.example")
		links := r.Header.Values("Link")
		if len(links) != 3 || links[0] != `<stun:stun.example.org:3478>; rel="ice-server"` || !strings.Contains(r.Header.Get("Access-Control-Expose-Headers"), "Link") {
			t.Fatalf("links %q", links)
		}
		for _, link := range links[1:] {
			m := turnLink.FindStringSubmatch(link)
			if m == nil {
				t.Fatalf("link %s", link)
			}
			end, user, _ := strings.Cut(m[2], ":")
			if end != strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10) || user != "call_1" || strings.Contains(link, "canary") {
				t.Errorf("link %s", link)
			}
		}
	})
}

func TestRow5_2_OptionsAnnouncesTURNOnlyToSomebody(t *testing.T) {
	for _, c := range []struct {
		name   string
		header []string
		links  int
	}{
		{"somebody", nil, 3},
		{"nobody", []string{"Authorization", ""}, 1},
		{"a stranger", []string{"Authorization", "Bearer guess"}, 1},
		{"a preflight", []string{"Origin", "http://gw.example", "Access-Control-Request-Method", "POST"}, 0},
	} {
		r := ask(NewHandler(authenticating{newFake()}, HandlerConfig{ICE: servers}), "OPTIONS", "/v1/realtime/calls", "", c.header...)
		if r.StatusCode != 204 || len(r.Header.Values("Link")) != c.links || r.Header.Get("Accept-Post") != "application/sdp" {
			t.Errorf("%s: %d %q", c.name, r.StatusCode, r.Header.Values("Link"))
		}
	}
	r := ask(NewHandler(newFake(), HandlerConfig{ICE: servers}), "OPTIONS", "/v1/realtime/calls", "")
	if len(r.Header.Values("Link")) != 1 {
		t.Errorf("a service that cannot tell who asks: %q", r.Header.Values("Link"))
	}
	if r := ask(NewHandler(newFake(), HandlerConfig{}), "POST", "/v1/realtime/calls", goodOffer); len(r.Header.Values("Link")) != 0 {
		t.Errorf("nothing is configured, and announced is %q", r.Header.Values("Link"))
	}
}

func TestATURNServerWithTheSameSecretTakesTheCredential(t *testing.T) {
	listen := func() net.PacketConn {
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	socket := listen()
	quiet := logging.NewDefaultLoggerFactory()
	quiet.DefaultLogLevel = logging.LogLevelDisabled
	server, err := turn.NewServer(turn.ServerConfig{
		Realm: "example", AuthHandler: turn.LongTermTURNRESTAuthHandler("canary-secret", quiet.NewLogger("turn")), LoggerFactory: quiet,
		PacketConnConfigs: []turn.PacketConnConfig{{PacketConn: socket, RelayAddressGenerator: &turn.RelayAddressGeneratorStatic{RelayAddress: net.IPv4(127, 0, 0, 1), Address: "127.0.0.1"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, c := range []struct {
		name string
		at   time.Time
		ok   bool
	}{{"in time", time.Now(), true}, {"an hour and more ago", time.Now().Add(-61 * time.Minute), false}} {
		username, password := servers.credential(c.at, "call_1")
		conn := listen()
		client, err := turn.NewClient(&turn.ClientConfig{
			TURNServerAddr: socket.LocalAddr().String(), Conn: conn, Username: username, Password: password, Realm: "example", LoggerFactory: quiet,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Listen(); err != nil {
			t.Fatal(err)
		}
		relay, err := client.Allocate()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if relay != nil {
			_ = relay.Close()
		}
		client.Close()
		_ = conn.Close()
	}
}

func TestICEServersAreChecked(t *testing.T) {
	if err := servers.Validate(); err != nil {
		t.Error(err)
	}
	bad := ICEServers{URLs: []string{"http://x", "turn:", "stun:a>b", "turn:x?transport=carrier"}}
	err := bad.Validate()
	if err == nil || strings.Count(err.Error(), "ice server") != 4 {
		t.Errorf("%v", err)
	}
}
