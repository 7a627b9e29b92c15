package demo

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	maxMessages = 1000 // kept per room, oldest dropped
	maxKeys     = 4096 // idempotency keys kept, oldest dropped
)

// rooms holds messages, and the answer to every idempotency key it has seen. A key belongs to the person who used it.
type rooms struct {
	mu       sync.Mutex
	members  map[string][]string // room id to person ids
	messages map[string][]message
	answers  map[string]keyed
	keys     []string
	next     int
}

type message struct {
	ID   string    `json:"id"`
	By   string    `json:"by"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

type keyed struct {
	room, text string
	message    message
}

func newRooms() *rooms {
	return &rooms{
		members:  map[string][]string{"room-1": {"alice", "bob"}, "room-2": {"alice"}},
		messages: map[string][]message{},
		answers:  map[string]keyed{},
	}
}

func (r *rooms) count() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, all := range r.messages {
		n += len(all)
	}
	return n
}

func (a *App) messages(w http.ResponseWriter, r *http.Request, p Person) {
	room := r.PathValue("id")
	if !a.enter(w, room, p) {
		return
	}
	a.rooms.mu.Lock()
	all := slices.Clone(a.rooms.messages[room])
	a.rooms.mu.Unlock()
	if all == nil {
		all = []message{}
	}
	answer(w, http.StatusOK, map[string]any{"messages": all})
}

// publish adds a message once per Idempotency-Key: the same key with the same message is answered as the first time, with
// another it is refused.
func (a *App) publish(w http.ResponseWriter, r *http.Request, p Person) {
	room, key := r.PathValue("id"), r.Header.Get("Idempotency-Key")
	if !a.enter(w, room, p) {
		return
	}
	if key == "" || len(key) > 255 {
		refuse(w, http.StatusBadRequest, "idempotency_key", "Send an Idempotency-Key of 1 to 255 characters.")
		return
	}
	var body struct {
		Text string `json:"text"`
	}
	d := json.NewDecoder(io.LimitReader(r.Body, 16<<10))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_json", "Send a JSON object with text.")
		return
	}
	text := strings.TrimSpace(body.Text)
	if n := utf8.RuneCountInString(text); n < 1 || n > 280 {
		refuse(w, http.StatusUnprocessableEntity, "text_length", "A message has 1 to 280 characters.")
		return
	}
	m, replayed, ok := a.rooms.add(p.ID+"\x00"+key, room, p.ID, text)
	if !ok {
		refuse(w, http.StatusUnprocessableEntity, "idempotency_key_reused", "This key belongs to another message.")
		return
	}
	if replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	answer(w, http.StatusCreated, m)
}

func (r *rooms) add(key, room, by, text string) (m message, replayed, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, seen := r.answers[key]; seen {
		return before.message, true, before.room == room && before.text == text
	}
	r.next++
	m = message{ID: "msg-" + strconv.Itoa(r.next), By: by, Text: text, At: time.Now().UTC()}
	r.answers[key] = keyed{room, text, m}
	if r.keys = append(r.keys, key); len(r.keys) > maxKeys {
		delete(r.answers, r.keys[0])
		r.keys = r.keys[1:]
	}
	all := append(r.messages[room], m)
	r.messages[room] = all[max(0, len(all)-maxMessages):]
	return m, false, true
}

// enter answers for a room that does not exist or that the person is not in.
func (a *App) enter(w http.ResponseWriter, room string, p Person) bool {
	members, ok := a.rooms.members[room]
	switch {
	case !ok:
		refuse(w, http.StatusNotFound, "not_found", "There is no such room.")
	case !slices.Contains(members, p.ID):
		refuse(w, http.StatusForbidden, "forbidden", "You are not in this room.")
	default:
		return true
	}
	return false
}
