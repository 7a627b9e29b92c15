package config

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	nodeID = regexp.MustCompile(`^[A-Za-z0-9]{1,8}$`)
	name   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

	iceURL      = regexp.MustCompile(`^(stun|stuns|turn|turns):[^\s<>"\\,]+$`)
	clientEvent = regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+$`)
)

// checker collects problems under one configuration's file and lines.
type checker struct {
	c  *Config
	ps Problems
}

func (k *checker) bad(key, what, fix string) {
	k.ps = append(k.ps, Problem{File: k.c.file, Line: k.c.line(key), Key: key, What: what, Fix: fix})
}

// line is where the key stands, or the nearest thing around it that does.
func (c *Config) line(key string) int {
	for key != "" {
		if n, ok := c.lines[key]; ok {
			return n
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return 0
}

// Validate returns every problem of the values at once, none when the configuration can be started.
func (c *Config) Validate() Problems {
	k := &checker{c: c}
	k.addresses()
	k.limits()
	k.people()
	providers := k.providers()
	k.assistants(providers)
	k.services()
	return k.ps
}

func (k *checker) addresses() {
	for key, addr := range map[string]string{"listen": k.c.Listen, "admin_listen": k.c.AdminListen} {
		if _, port, err := net.SplitHostPort(addr); err != nil || !portOK(port) {
			k.bad(key, fmt.Sprintf("%q is not an address", addr), "write host:port, such as 127.0.0.1:8080")
		}
	}
	if k.c.Listen == k.c.AdminListen && !strings.HasSuffix(k.c.Listen, ":0") {
		k.bad("admin_listen", "is the public address", "give metrics and health an address of their own")
	}
	if !nodeID.MatchString(k.c.NodeID) {
		k.bad("node_id", fmt.Sprintf("%q is not a node id", k.c.NodeID), "1 to 8 letters or digits")
	}
	if k.c.Media.Port < 0 || k.c.Media.Port > 65535 {
		k.bad("media.port", fmt.Sprintf("%d is not a port", k.c.Media.Port), "0 to 65535, 0 picks a free one")
	}
	if a := k.c.Media.Address; a != "" {
		if _, err := netip.ParseAddr(a); err != nil {
			k.bad("media.address", fmt.Sprintf("%q is not an IP address", a), "leave it out to listen on all")
		}
	}
	for i, ip := range k.c.Media.PublicIPs {
		if _, err := netip.ParseAddr(ip); err != nil {
			k.bad(fmt.Sprintf("media.public_ips[%d]", i), fmt.Sprintf("%q is not an IP address", ip), "")
		}
	}
	for i, u := range k.c.Media.ICEServers {
		if !iceURL.MatchString(u) {
			k.bad(fmt.Sprintf("media.ice_servers[%d]", i), fmt.Sprintf("%q is no STUN or TURN URL", u), "such as turn:turn.example.org:3478?transport=udp")
		}
	}
	if k.c.Media.TURNSecretEnv != "" && len(k.c.Media.ICEServers) == 0 {
		k.bad("media.turn_secret_env", "no TURN server is named", "set media.ice_servers, or take it out")
	}
	for i, o := range k.c.CORS.Origins {
		u, err := url.Parse(o)
		if o != "*" && (err != nil || u.Host == "" || u.Path != "" || u.Scheme != "http" && u.Scheme != "https") {
			k.bad(fmt.Sprintf("cors.origins[%d]", i), fmt.Sprintf("%q is not an origin", o), `write https://app.example, or "*"`)
		}
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(k.c.Log.Level)); err != nil {
		k.bad("log.level", fmt.Sprintf("%q is not a level", k.c.Log.Level), "debug, info, warn or error")
	}
}

func portOK(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && n <= 65535
}

func (k *checker) limits() {
	l := k.c.Limits
	if l.Sessions < 1 || l.Sessions > 100_000 {
		k.bad("limits.sessions", fmt.Sprintf("%d calls at once", l.Sessions), "1 to 100000")
	}
	for key, d := range map[string]Duration{
		"limits.setup_timeout": l.SetupTimeout, "limits.max_duration": l.MaxDuration, "limits.idle": l.Idle,
	} {
		if d <= 0 {
			k.bad(key, "must be longer than nothing", "such as 15s")
		}
	}
	if l.Drain < 0 {
		k.bad("limits.drain", "must not be negative", "such as 10s, or 0s")
	}
}

func (k *checker) people() {
	ids, tokens := map[string]bool{}, map[Secret]bool{}
	for i, p := range k.c.People {
		at := fmt.Sprintf("people[%d]", i)
		if !name.MatchString(p.ID) {
			k.bad(at+".id", fmt.Sprintf("%q is not an id", p.ID), "small letters, digits and dashes")
		}
		if len(p.Token) < 8 {
			k.bad(at+".token", "is missing or shorter than 8 characters", "give this person a token")
		}
		if ids[p.ID] {
			k.bad(at+".id", fmt.Sprintf("%q stands here twice", p.ID), "ids are unique")
		}
		if tokens[p.Token] {
			k.bad(at+".token", "is another person's too", "tokens are unique")
		}
		ids[p.ID], tokens[p.Token] = true, true
	}
	if len(k.c.People) == 0 {
		k.bad("people", "nobody could ever sign in", "add at least one person")
	}
}

func (k *checker) providers() map[string]bool {
	known := map[string]bool{}
	for i, p := range k.c.Providers {
		at := fmt.Sprintf("providers[%d]", i)
		if !name.MatchString(p.Name) || known[p.Name] {
			k.bad(at+".name", fmt.Sprintf("%q is not a name, or stands here twice", p.Name), "small letters, digits and dashes")
		}
		known[p.Name] = true
		k.provider(at, p)
	}
	if len(k.c.Providers) == 0 {
		k.bad("providers", "there is nobody to talk to", "add a provider of kind local or openai")
	}
	return known
}

// kinds of providers, and what each wants.
var kinds = map[string]struct {
	url, key   bool // must be there
	optional   bool // a URL may be there
	transports []string
	direct     bool // an offer can be handed to it
}{
	"local":     {transports: []string{"webrtc", "websocket"}, direct: true},
	"openai":    {url: true, key: true, direct: true},
	"openai-ws": {url: true, key: true},
	"azure":     {url: true, key: true, transports: []string{"websocket", "webrtc"}},
	"gemini":    {key: true, optional: true},
}

func (k *checker) provider(at string, p Provider) {
	want, known := kinds[p.Kind]
	if !known {
		k.bad(at+".kind", fmt.Sprintf("%q is not a kind of provider", p.Kind), "local, openai, openai-ws, azure or gemini")
		return
	}
	if p.Kind == "local" && (p.URL != "" || p.KeyEnv != "") {
		k.bad(at, "the embedded provider takes no url and no key_env", "take them out")
	} else if (want.url || p.URL != "") && p.Kind != "local" && !webURL(p.URL) {
		k.bad(at+".url", fmt.Sprintf("%q is not a URL", p.URL), "such as https://api.openai.com/v1")
	}
	if want.key && p.KeyEnv == "" {
		k.bad(at+".key_env", "is missing", "name the environment variable that holds the API key, such as OPENAI_API_KEY")
	}
	if p.SessionLimit < 0 {
		k.bad(at+".session_limit", "must not be negative", "such as 60m")
	}
	if p.Kind != "local" && p.Brain != "" {
		k.bad(at+".brain", "is only for the embedded provider", "take it out")
	}
	if p.Transport != "" && !slices.Contains(want.transports, p.Transport) {
		k.bad(at+".transport", fmt.Sprintf("%q is not a transport of this kind", p.Transport), "webrtc or websocket for local and azure; take it out for others")
	}
}

func (k *checker) mode(at string, a Assistant) {
	switch a.Mode {
	case "", "relay":
	case "direct":
		for _, p := range k.c.Providers {
			if p.Name == a.Provider && (!kinds[p.Kind].direct || p.Transport == "websocket") {
				k.bad(at+".mode", fmt.Sprintf("provider %q takes no offer of a browser", p.Name), "direct is for kinds openai and local, over WebRTC")
			}
		}
	default:
		k.bad(at+".mode", fmt.Sprintf("%q is not a mode", a.Mode), "relay or direct")
	}
}

func (k *checker) policy(at string, a Assistant) {
	switch a.Policy {
	case "", "locked", "merge", "open":
	default:
		k.bad(at+".policy", fmt.Sprintf("%q is not a policy", a.Policy), "locked, merge or open")
	}
	if a.Locked && a.Policy != "" && a.Policy != "locked" {
		k.bad(at+".locked", "says the contrary of policy", "keep one of the two")
	}
	for i, name := range a.ClientFields {
		if !slices.Contains(ClientFields, name) {
			k.bad(fmt.Sprintf("%s.client_fields[%d]", at, i), fmt.Sprintf("%q is no part of a session", name), "one of "+strings.Join(ClientFields, ", "))
		}
	}
	for i, name := range a.ClientEvents {
		if !clientEvent.MatchString(name) {
			k.bad(fmt.Sprintf("%s.client_events[%d]", at, i), fmt.Sprintf("%q is not an event", name), "such as response.create")
		}
	}
	if a.MaxDuration < 0 {
		k.bad(at+".max_duration", "must not be negative", "such as 15m")
	}
}

// ClientFields are the parts of a session that assistants[].client_fields may name.
var ClientFields = []string{"instructions", "prompt", "tools", "tool_choice", "parallel_tool_calls", "max_output_tokens", "reasoning",
	"truncation", "voice", "speed", "output_modalities", "turn_detection", "transcription", "noise_reduction", "tracing", "include"}

func (k *checker) services() {
	if len(k.c.Services) > 0 && k.c.Catalogue == "" {
		k.bad("services", "no catalogue says what to call there", "set catalogue, or take the services out")
	}
	for i, s := range k.c.Services {
		at := fmt.Sprintf("services[%d]", i)
		if !name.MatchString(s.Name) {
			k.bad(at+".name", fmt.Sprintf("%q is not a name", s.Name), "small letters, digits and dashes")
		}
		if !webURL(s.URL) {
			k.bad(at+".url", fmt.Sprintf("%q is not a URL", s.URL), "such as https://app.example/api")
		}
	}
}

func webURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func (k *checker) assistants(providers map[string]bool) {
	aliases := map[string]bool{}
	for i, a := range k.c.Assistants {
		at := fmt.Sprintf("assistants[%d]", i)
		if !name.MatchString(a.Name) {
			k.bad(at+".name", fmt.Sprintf("%q is not a name", a.Name), "small letters, digits and dashes")
		}
		if !providers[a.Provider] {
			k.bad(at+".provider", fmt.Sprintf("no provider is named %q", a.Provider), "name one of providers")
		}
		k.mode(at, a)
		k.policy(at, a)
		if len(a.Aliases) == 0 {
			k.bad(at+".aliases", "no client could ask for this assistant", `add a model name, or "*"`)
		}
		for j, alias := range a.Aliases {
			if aliases[alias] {
				k.bad(fmt.Sprintf("%s.aliases[%d]", at, j), fmt.Sprintf("%q is taken by another assistant", alias), "")
			}
			aliases[alias] = true
		}
	}
	if len(k.c.Assistants) == 0 {
		k.bad("assistants", "there is nobody to be", "add an assistant")
	}
}

// Assistant is the assistant that a model name stands for; exact is false when only "*" took it, nil when none does.
func (c *Config) Assistant(model string) (a *Assistant, exact bool) {
	var any *Assistant
	for i := range c.Assistants {
		for _, alias := range c.Assistants[i].Aliases {
			switch alias {
			case model:
				return &c.Assistants[i], true
			case "*":
				any = &c.Assistants[i]
			}
		}
	}
	return any, false
}

// Print is the effective configuration as YAML, with every secret hidden.
func (c *Config) Print() ([]byte, error) { return yaml.Marshal(c) }
