package tools_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	goyaml "go.yaml.in/yaml/v3"

	"hovor/tools"
)

func TestACredentialCannotPrintMarshalOrLog(t *testing.T) {
	const canary = "canary-4711"
	p := tools.Person{ID: "alice", Credential: tools.NewCredential(canary)}
	wrapped := struct {
		P     *tools.Person
		inner tools.Credential
		any   any
	}{&p, p.Credential, p}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%t", "%T"} {
		fmt.Fprintf(&out, verb+"\n", p.Credential)
		fmt.Fprintf(&out, verb+"\n", &p.Credential)
		fmt.Fprintf(&out, verb+"\n", p)
		fmt.Fprintf(&out, verb+"\n", wrapped)
		fmt.Fprintf(&out, verb+"\n", []any{p, wrapped})
	}
	for _, handler := range []slog.Handler{
		slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}),
		slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}),
	} {
		slog.New(handler).Info("who", "person", p, "credential", p.Credential, "pointer", &p.Credential, "wrapped", wrapped)
	}
	_ = json.NewEncoder(&out).Encode(wrapped)
	_ = json.NewEncoder(&out).Encode(map[string]any{"p": p})
	_ = xml.NewEncoder(&out).Encode(p.Credential)
	_ = goyaml.NewEncoder(&out).Encode(p)
	_ = gob.NewEncoder(&out).Encode(p)
	fmt.Fprintln(&out, fmt.Errorf("for %v: %w", p, fmt.Errorf("inner %v", p.Credential)))
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), "Y2FuYXJ5", "99 97 110"} {
		if strings.Contains(out.String(), form) {
			t.Fatalf("%q got out:\n%s", form, out.String())
		}
	}
	if !strings.Contains(out.String(), "[11 bytes]") {
		t.Fatal("the length is not shown")
	}
}

func TestWipingOneCopyEmptiesThemAll(t *testing.T) {
	c := tools.NewCredential("token")
	copied := tools.Person{Credential: c}
	if !c.Equal(tools.NewCredential("token")) || c.Equal(tools.NewCredential("other")) {
		t.Fatal("comparison is wrong")
	}
	c.Wipe()
	if copied.Credential.Reveal() != "" || copied.Credential.Len() != 0 || copied.Credential.String() != "[0 bytes]" {
		t.Fatal("a copy kept the token")
	}
	if c.Equal(c) || (tools.Credential{}).Equal(tools.Credential{}) {
		t.Fatal("nobody equals nobody")
	}
	c.Wipe()
	(tools.Credential{}).Wipe()
}
