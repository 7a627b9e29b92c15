package main

import (
	"encoding/json"
	"time"
)

// flags are the command line as understood, for the report. Credentials are never among them: their fields have no JSON name, and a
// --person that is not one of the built-in demo people could be a token too.
func (c *runCmd) flags() map[string]any {
	m := asMap(c)
	for k, d := range map[string]time.Duration{
		"duration": c.Duration, "interrupt_at": c.InterruptAt, "pause": c.Pause, "answer_within": c.AnswerWithin, "setup_within": c.SetupWithin,
	} {
		m[k] = d.String()
	}
	if c.Token != "" || (c.Person != "demo-alice" && c.Person != "demo-bob") {
		m["person"] = "(given)"
	}
	return m
}

func asMap(v any) map[string]any {
	m := map[string]any{}
	if b, err := json.Marshal(v); err == nil {
		json.Unmarshal(b, &m)
	}
	return m
}
