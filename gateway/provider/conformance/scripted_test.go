package conformance_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"

	"hovor/gateway/provider"
	"hovor/gateway/provider/conformance/fake"
	"hovor/gateway/provider/local"
	"hovor/gateway/provider/local/brain"
	"hovor/gateway/provider/local/ear"
	"hovor/gateway/provider/local/voice"
	"hovor/gateway/provider/openaiws"
	"hovor/sfu/vnettest"
	"hovor/signaling/realtime"
)

// diary is a sink that writes down what it is told.
type diary struct {
	mu      sync.Mutex
	notices []provider.NoticeKind
	answers []string // status of each response.done
	closed  []error
	heard   int // packets
}

func (d *diary) write(f func()) { d.mu.Lock(); defer d.mu.Unlock(); f() }

func (d *diary) ProviderEvent(_ []byte, ev realtime.Event) {
	if ev, ok := ev.(*realtime.ResponseDone); ok {
		d.write(func() { d.answers = append(d.answers, ev.Response.Status) })
	}
}
func (d *diary) ProviderPacket(*rtp.Packet, time.Time) { d.write(func() { d.heard++ }) }
func (d *diary) ProviderClosed(err error)              { d.write(func() { d.closed = append(d.closed, err) }) }
func (d *diary) ProviderNotice(n provider.Notice) {
	d.write(func() { d.notices = append(d.notices, n.Kind) })
}

// talkTo opens a leg to an embedded provider that misbehaves as the script says, asks it twice, and gives what came.
func talkTo(t *testing.T, script string, apart time.Duration) (d *diary, dialled error, dials int, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b, err := brain.ParseScript([]byte("responses: [[{say: One two three four five six.}]]\nthen: again\n" + script))
		if err != nil {
			t.Fatal(err)
		}
		n := vnettest.New(t, vnettest.Link{}, 1)
		s, err := local.New(local.Config{APIKey: "sk-local", Engine: engine(t, n.Host("10.0.0.1")), Voice: voice.Tone{PerWord: 200 * time.Millisecond},
			Ear: ear.NewScripted(), Brain: b})
		if err != nil {
			t.Fatal(err)
		}
		line := fake.NewNetwork()
		h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { _ = s.Run(ctx) })
		wg.Go(func() { _ = h.Serve(line) })
		defer func() {
			line.Cut()
			_ = h.Close()
			cancel()
			wg.Wait()
			time.Sleep(time.Minute)
		}()
		p := openaiws.New(openaiws.Config{BaseURL: "ws://local/v1/realtime", Key: func() string { return "sk-local" }, Net: line.Dial})
		d = &diary{}
		begin := time.Now()
		leg, err := p.Dial(ctx, provider.Setup{Model: "gpt-realtime", CallID: "rtc_scripted", Session: realtime.Session{Type: "realtime",
			Audio: &realtime.Audio{Input: &realtime.AudioInput{TurnDetection: realtime.Null[realtime.TurnDetection]()}}}}, d)
		took = time.Since(begin)
		if dialled, dials = err, line.Dials(); err != nil {
			return
		}
		life, leave := context.WithCancel(ctx)
		wg.Go(func() { _ = leg.Run(life) })
		for range 2 {
			_ = leg.Send(&realtime.ConversationItemCreate{Item: realtime.UserText("hello")})
			_ = leg.Send(&realtime.ResponseCreate{})
			time.Sleep(apart)
		}
		leave()
		time.Sleep(10 * time.Second)
		dials = line.Dials()
	})
	return d, dialled, dials, took
}

// TestAnAdapterMeetsAScriptedProvider: each row is one thing that goes wrong on the far side, and what the adapter makes of it.
func TestAnAdapterMeetsAScriptedProvider(t *testing.T) {
	const fine = "completed completed"
	for name, c := range map[string]struct {
		script  string
		apart   time.Duration
		answers string
		dials   int
		notice  provider.NoticeKind // that must come; "" = none may
		class   provider.Class      // of a dial that fails
		waited  time.Duration       // the dial, at least
	}{
		"nothing goes wrong":           {"", 5 * time.Second, fine, 1, "", "", 0},
		"503, then open":               {"door: [{at: upgrade, status: 503, retry_after: 2s}]", 5 * time.Second, fine, 2, "", "", 2 * time.Second},
		"429 for a long time":          {"door: [{at: upgrade, status: 429, retry_after: 30s, times: 9}]", 0, "", 1, "", provider.RateLimited, 0},
		"401":                          {"door: [{at: upgrade, status: 401}]", 0, "", 1, "", provider.Unauthorized, 0},
		"a door that is slow":          {"door: [{at: upgrade, wait: 3s}]", 5 * time.Second, fine, 1, "", "", 3 * time.Second},
		"every event late":             {`sessions: [[{delay: {event: "*", for: 500ms, times: 10000}}]]`, 20 * time.Second, fine, 1, "", "", 0},
		"events twice":                 {`sessions: [[{wait: 1s}, {duplicate: {event: response.output_item.done, times: 2}}]]`, 5 * time.Second, fine, 1, "", "", 0},
		"a broken event":               {"sessions: [[{wait: 2s}, {garble: conversation.item.added}]]", 5 * time.Second, fine, 1, provider.Malformed, "", 0},
		"a session that ends soon":     {"sessions: [[{expires: 20s}], []]", 15 * time.Second, fine, 2, provider.Renewed, "", 0},
		"a connection cut between":     {"sessions: [[{wait: 3s}, {close: true}], []]", 5 * time.Second, fine, 2, provider.Renewed, "", 0},
		"closed with 1011 between":     {"sessions: [[{wait: 3s}, {close: {code: 1011, reason: internal_error}}], []]", 5 * time.Second, fine, 2, provider.Renewed, "", 0},
		"a server that does not read":  {"sessions: [[{wait: 3s}, {stall: 4s}]]", 10 * time.Second, fine, 1, "", "", 0},
		"a connection that only hangs": {"sessions: [[{wait: 3s}, {hang: true}], []]", 90 * time.Second, fine, 2, provider.Renewed, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d, err, dials, took := talkTo(t, c.script, c.apart)
			var e *provider.Error
			if c.class == "" && err != nil || c.class != "" && (!errors.As(err, &e) || e.Class != c.class) {
				t.Fatalf("dialled: %v", err)
			}
			if got := strings.Join(d.answers, " "); got != c.answers {
				t.Errorf("the answers ended %q, want %q; notices %v", got, c.answers, d.notices)
			}
			// A renewal ahead of need is tried again when something happens meanwhile.
			if dials < c.dials || dials > c.dials && c.notice != provider.Renewed || took < c.waited {
				t.Errorf("%d connections, the first after %v; want %d and at least %v", dials, took, c.dials, c.waited)
			}
			if c.notice != "" && !slices.Contains(d.notices, c.notice) || c.notice == "" && len(d.notices) > 0 {
				t.Errorf("notices %v, want %q", d.notices, c.notice)
			}
			if c.answers != "" && d.heard < 2*6*200/20 {
				t.Errorf("%d packets of two answers", d.heard)
			}
		})
	}
}
