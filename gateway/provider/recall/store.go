package recall

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"hovor/signaling/realtime"
)

// Bounds of what is handed over, those of a resumed thread.
const (
	maxItems = 60
	maxBytes = 24 << 10
)

// Store remembers items. Its methods may be called at any time.
type Store struct {
	mu      sync.Mutex // guards what follows
	items   []realtime.Item
	frozen  map[string]bool // cut to what was heard; words that still come are not
	version uint64
}

// Put adds an item behind previous (nil or unknown: at the end, "root": at the front), or replaces it when it is there.
func (s *Store) Put(it realtime.Item, previous *string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if it.ID == "" {
		return
	}
	it = plain(it)
	if i := s.index(it.ID); i >= 0 {
		if it.Type == realtime.ItemMessage && (it.TextOf() == "" || s.frozen[it.ID]) {
			it.Content = s.items[i].Content // its words came before it was final
		}
		s.items[i] = it
	} else {
		at := len(s.items)
		switch {
		case previous != nil && *previous == "root":
			at = 0
		case previous != nil:
			if i := s.index(*previous); i >= 0 {
				at = i + 1
			}
		}
		s.items = slices.Insert(s.items, at, it)
	}
	for len(s.items) > 4*maxItems {
		s.items = s.items[1:]
	}
	s.version++
}

// plain leaves of an item what can be said again.
func plain(it realtime.Item) realtime.Item {
	if it.Type != realtime.ItemMessage {
		return it
	}
	text := it.TextOf()
	it.Content = nil
	if text != "" {
		it.Content = words(it.Role, text)
	}
	return it
}

func words(role, text string) []realtime.Content {
	if role == realtime.RoleAssistant {
		return []realtime.Content{{Type: realtime.ContentOutputText, Text: text}}
	}
	return []realtime.Content{{Type: realtime.ContentInputText, Text: text}}
}

// Text sets the words of a message that is known.
func (s *Store) Text(id, text string) { s.edit(id, func(string) string { return text }) }

// Append adds to the words of a message that is known.
func (s *Store) Append(id, delta string) {
	s.edit(id, func(have string) string { return have + delta })
}

// Cut shortens the words of a message to the share of its audio that was heard, at a word's end.
func (s *Store) Cut(id string, heard, of time.Duration) {
	if heard >= of || of <= 0 {
		return
	}
	defer s.freeze(id)
	s.edit(id, func(have string) string {
		n := int(float64(len(have)) * float64(heard) / float64(of))
		for n > 0 && !utf8.RuneStart(have[n]) {
			n--
		}
		if i := strings.LastIndexByte(have[:n], ' '); i >= 0 {
			return have[:i]
		}
		return ""
	})
}

func (s *Store) freeze(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frozen == nil {
		s.frozen = map[string]bool{}
	}
	s.frozen[id] = true
}

func (s *Store) edit(id string, f func(string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(id); i >= 0 && s.items[i].Type == realtime.ItemMessage && !s.frozen[id] {
		it := s.items[i]
		have := ""
		if len(it.Content) > 0 {
			have = it.Content[0].Text
		}
		it.Content = nil
		if text := f(have); text != "" {
			it.Content = words(it.Role, text)
		}
		s.items[i] = it
		s.version++
	}
}

// Delete forgets an item.
func (s *Store) Delete(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(id); i >= 0 {
		s.items = slices.Delete(s.items, i, i+1)
		delete(s.frozen, id)
		s.version++
	}
}

// Get gives an item as it is remembered.
func (s *Store) Get(id string) (realtime.Item, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(id); i >= 0 {
		return s.items[i], true
	}
	return realtime.Item{}, false
}

// Last is the id of the newest item, nil when there is none.
func (s *Store) Last() *string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.items) == 0 {
		return nil
	}
	id := s.items[len(s.items)-1].ID
	return &id
}

// Version changes with every change.
func (s *Store) Version() uint64 { s.mu.Lock(); defer s.mu.Unlock(); return s.version }

// Said is what can be handed over, oldest first and bounded: messages with words, calls, and outputs whose call is among them.
func (s *Store) Said() []realtime.Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []realtime.Item
	size := 0
	for i := len(s.items) - 1; i >= 0 && len(out) < maxItems; i-- {
		it := s.items[i]
		switch it.Type {
		case realtime.ItemMessage:
			if len(it.Content) == 0 {
				continue
			}
			size += len(it.Content[0].Text)
		case realtime.ItemFunctionCall:
			size += len(it.Arguments)
		case realtime.ItemFunctionCallOutput:
			if it.Output == nil {
				continue
			}
			size += len(*it.Output)
		default:
			continue // the provider's own affairs: MCP lists and calls
		}
		if size > maxBytes {
			break
		}
		it.Status, it.Object = realtime.StatusCompleted, ""
		out = append(out, it)
	}
	slices.Reverse(out)
	calls := map[string]bool{}
	return slices.DeleteFunc(out, func(it realtime.Item) bool {
		if it.Type == realtime.ItemFunctionCall {
			calls[it.CallID] = true
		}
		return it.Type == realtime.ItemFunctionCallOutput && !calls[it.CallID]
	})
}

func (s *Store) index(id string) int {
	return slices.IndexFunc(s.items, func(it realtime.Item) bool { return it.ID == id })
}
