package openaiws

import (
	"slices"

	"hovor/gateway/provider/socket"
)

// journal is what was sent and not confirmed yet, in its order: on a new connection it is said again. The leg's lock guards it.
type journal struct {
	entries []entry
	audio   int
}

type entry struct {
	kind string // audio, commit, clear, create, item
	id   string // event_id; of the item for an item
	raw  []byte
}

const (
	// retain bounds the audio that is said again: 6 s in frames of 20 ms.
	retain = 300
	// unsure bounds the events that wait to be confirmed.
	unsure = 64
)

func (j *journal) add(e entry) {
	if e.kind == "audio" {
		if j.audio++; j.audio > retain {
			j.drop(slices.IndexFunc(j.entries, func(e entry) bool { return e.kind == "audio" }))
		}
	} else if len(j.entries)-j.audio >= unsure {
		j.drop(slices.IndexFunc(j.entries, func(e entry) bool { return e.kind != "audio" }))
	}
	j.entries = append(j.entries, e)
}

func (j *journal) drop(i int) {
	if j.entries[i].kind == "audio" {
		j.audio--
	}
	j.entries = slices.Delete(j.entries, i, i+1)
}

// confirm takes an event off: the first of the kind, or the one with that id. "" fits all.
func (j *journal) confirm(kind, id string) {
	if i := slices.IndexFunc(j.entries, func(e entry) bool {
		return e.kind != "audio" && (kind == "" || e.kind == kind) && (id == "" || e.id == id)
	}); i >= 0 {
		j.drop(i)
	}
}

// taken takes the audio off that a confirmed commit or clear speaks of: what stands before it; all, when it was not ours.
func (j *journal) taken(kind string) {
	i := slices.IndexFunc(j.entries, func(e entry) bool { return e.kind == kind })
	rest := j.entries[i+1:]
	kept := slices.DeleteFunc(slices.Clone(j.entries[:max(i, 0)]), func(e entry) bool { return e.kind == "audio" })
	if i < 0 {
		rest = slices.DeleteFunc(slices.Clone(rest), func(e entry) bool { return e.kind == "audio" })
	}
	j.entries = slices.Concat(kept, rest)
	j.audio = 0
	for _, e := range j.entries {
		if e.kind == "audio" {
			j.audio++
		}
	}
}

// waits tells whether an event waits to be confirmed.
func (j *journal) waits() bool { return len(j.entries) > j.audio }

// again is what has to be said on a new connection that was told those items.
func (j *journal) again(told map[string]bool) []socket.Pending {
	var out []socket.Pending
	for _, e := range j.entries {
		if e.kind == "item" && told[e.id] {
			continue
		}
		out = append(out, socket.Pending{Raw: e.raw, Audio: e.kind == "audio"})
	}
	return out
}
