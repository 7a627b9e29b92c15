package secrets

import (
	"container/heap"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"time"
)

// Times to live, as published for POST /v1/realtime/client_secrets.
const (
	MinTTL     = 10 * time.Second
	DefaultTTL = 600 * time.Second
	MaxTTL     = 7200 * time.Second
)

// DefaultCapacity is how many secrets a store holds: at one a second with the default time to live it is never reached,
// and at about 200 bytes each it is 2 MB.
const DefaultCapacity = 10_000

// ownerCapacity is how many secrets one owner may have that have not expired: enough for a load test that is one person, too
// few to leave no room for others.
const ownerCapacity = DefaultCapacity / 5

// Prefix is what stock clients look for before they send anything.
const Prefix = "ek_"

// graceful is how long a secret is remembered after its end, so that its user is told "expired" and not "unknown".
const graceful = time.Hour

type hash = [sha256.Size]byte

// Store holds secrets with claims of type C. It is safe for concurrent use, and holds at most its capacity of them: what
// has expired makes room first, and a full store refuses to mint. It keeps a keyed hash of each token, so a look-up takes
// the same time however much of a guess is right, and a memory dump opens no call.
type Store[C any] struct {
	key      [32]byte
	capacity int

	mu     sync.Mutex // guards what follows
	byHash map[hash]*entry[C]
	byEnd  ends[C]
	owned  map[string][]*entry[C] // at most ownerCapacity each
}

type entry[C any] struct {
	owner   string
	index   int // in byEnd
	hash    hash
	claims  C
	expires time.Time
	oneUse  bool
	used    bool
}

// New makes a store that holds at most capacity secrets; 0 = DefaultCapacity.
func New[C any](capacity int) *Store[C] {
	if capacity <= 0 {
		capacity = DefaultCapacity
	}
	s := &Store[C]{capacity: capacity, byHash: make(map[hash]*entry[C]), owned: make(map[string][]*entry[C])}
	rand.Read(s.key[:]) // never fails (package crypto/rand)
	return s
}

// Mint issues a secret that is good for ttl (0 = DefaultTTL), for one call or for any number. Errors: ErrTTL, ErrFull.
func (s *Store[C]) Mint(claims C, ttl time.Duration, oneUse bool) (token string, expires time.Time, err error) {
	return s.MintFor("", claims, ttl, oneUse)
}

// MintFor is Mint for somebody who may have only so many secrets that have not expired, so that nobody can take all the room.
// Owner "" is nobody, and has no such bound.
func (s *Store[C]) MintFor(owner string, claims C, ttl time.Duration, oneUse bool) (token string, expires time.Time, err error) {
	if ttl == 0 {
		ttl = DefaultTTL
	}
	if ttl < MinTTL || ttl > MaxTTL {
		return "", time.Time{}, ErrTTL
	}
	token = newToken()
	now := time.Now()
	e := &entry[C]{owner: owner, hash: s.hash(token), claims: claims, expires: now.Add(ttl), oneUse: oneUse}

	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.makeRoom(now) || !s.makeRoomFor(owner, now) {
		return "", time.Time{}, ErrFull
	}
	if owner != "" {
		s.owned[owner] = append(s.owned[owner], e)
	}
	s.byHash[e.hash] = e
	heap.Push(&s.byEnd, e)
	return token, e.expires, nil
}

// Redeem checks a secret and returns its claims; a one-use secret is used up by it. Of several goroutines that redeem
// the same one-use secret exactly one succeeds. Errors: ErrUnknown, ErrExpired, ErrUsed.
func (s *Store[C]) Redeem(token string) (C, error) {
	var none C
	if !strings.HasPrefix(token, Prefix) {
		return none, ErrUnknown
	}
	h := s.hash(token)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byHash[h]
	switch {
	case !ok:
		return none, ErrUnknown
	case e.used:
		return none, ErrUsed
	case !time.Now().Before(e.expires):
		return none, ErrExpired
	}
	claims := e.claims
	if e.oneUse {
		e.used = true
	}
	return claims, nil
}

// Recall returns the claims of a secret that was issued here, spent and expired ones too while they are remembered: who
// opened a call with a secret may end that call with it. It uses nothing up and opens nothing. Error: ErrUnknown.
func (s *Store[C]) Recall(token string) (C, error) {
	h := s.hash(token)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byHash[h]; ok {
		return e.claims, nil
	}
	var none C
	return none, ErrUnknown
}

// Len is how many secrets are held, spent and expired ones among them.
func (s *Store[C]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byHash)
}

// makeRoom forgets what ended long ago, and, when the store is full, what has expired at all. The caller holds mu.
func (s *Store[C]) makeRoom(now time.Time) bool {
	for len(s.byEnd) > 0 {
		oldest := s.byEnd[0]
		full := len(s.byHash) >= s.capacity
		if now.Before(oldest.expires) || !full && now.Before(oldest.expires.Add(graceful)) {
			break
		}
		s.forget(oldest)
	}
	return len(s.byHash) < s.capacity
}

// makeRoomFor forgets an owner's expired secrets when their share is used up. The caller holds mu.
func (s *Store[C]) makeRoomFor(owner string, now time.Time) bool {
	if len(s.owned[owner]) < ownerCapacity {
		return true
	}
	for _, e := range slices.Clone(s.owned[owner]) {
		if !now.Before(e.expires) {
			s.forget(e)
		}
	}
	return len(s.owned[owner]) < ownerCapacity
}

// forget takes a secret out of everything. The caller holds mu.
func (s *Store[C]) forget(e *entry[C]) {
	heap.Remove(&s.byEnd, e.index)
	delete(s.byHash, e.hash)
	if e.owner == "" {
		return
	}
	if left := slices.DeleteFunc(s.owned[e.owner], func(o *entry[C]) bool { return o == e }); len(left) > 0 {
		s.owned[e.owner] = left
	} else {
		delete(s.owned, e.owner)
	}
}

func (s *Store[C]) hash(token string) (h hash) {
	m := hmac.New(sha256.New, s.key[:])
	m.Write([]byte(token))
	m.Sum(h[:0])
	return h
}

func newToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails (package crypto/rand)
	return Prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// ends is a heap with the earliest end first (container/heap).
type ends[C any] []*entry[C]

func (e ends[C]) Len() int           { return len(e) }
func (e ends[C]) Less(i, j int) bool { return e[i].expires.Before(e[j].expires) }
func (e ends[C]) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].index, e[j].index = i, j
}
func (e *ends[C]) Push(x any) {
	one := x.(*entry[C])
	one.index = len(*e)
	*e = append(*e, one)
}
func (e *ends[C]) Pop() any {
	old := *e
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*e = old[:len(old)-1]
	return last
}
