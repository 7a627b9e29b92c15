package thread

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base32"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver registers itself as "sqlite"
)

// queueLen bounds the writes that wait for the disk, over all calls: about a minute of a thousand talkative calls.
const queueLen = 8192

// batchMax bounds how many writes share one transaction.
const batchMax = 256

// Store is one SQLite file of threads. Open it, let Run write, Close it when Run has returned.
type Store struct {
	db      *sql.DB // readers, and the writer's one connection at a time (SQLite serialises)
	queue   chan write
	dropped atomic.Int64
	failed  atomic.Int64

	// Refused is told when the disk refuses what was said: why, and how many writes are lost with it. It is called on Run's
	// goroutine; set it before Run. nil: nobody is told, and Lost counts all the same.
	Refused func(err error, writes int)
}

// write is an item to keep or, with done set, a barrier.
type write struct {
	thread string
	item   Item
	remove bool
	done   chan struct{}
}

// Open opens or creates the file at path (":memory:" for a store that forgets) in WAL mode. It starts nothing: writes wait
// in a bounded queue until Run takes them.
func Open(path string) (*Store, error) {
	if err := private(path); err != nil {
		return nil, fmt.Errorf("open thread store: %w", err)
	}
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return nil, fmt.Errorf("open thread store: %w", err)
	}
	if path == ":memory:" {
		db.SetMaxOpenConns(1) // every connection would be a database of its own
	} else {
		db.SetMaxOpenConns(4)
	}
	if _, err := db.Exec(schema); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare thread store %s: %w", filepath.Base(path), err), db.Close())
	}
	return &Store{db: db, queue: make(chan write, queueLen)}, nil
}

// private makes a new file that only its owner may read, for it holds what people say; SQLite gives the files beside it the same
// mode. A file that is there already keeps its own.
func private(path string) error {
	if path == ":memory:" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn asks for WAL, five seconds of patience with another writer, and NORMAL sync: a power cut may cost the last words, never the file.
func dsn(path string) string {
	q := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(NORMAL)", "busy_timeout(5000)", "foreign_keys(1)"}, "_txlock": {"immediate"}}
	if path == ":memory:" {
		return path + "?" + q.Encode()
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}
	return u.String()
}

// Run writes queued items until ctx ends, then writes what is left and returns. A failed write is counted and does not stop it.
func (s *Store) Run(ctx context.Context) error {
	for {
		select {
		case w := <-s.queue:
			s.writeBatch(w)
		case <-ctx.Done():
			for {
				select {
				case w := <-s.queue:
					s.writeBatch(w)
				default:
					return nil
				}
			}
		}
	}
}

// writeBatch puts the first write and whatever else already waits into one transaction, then wakes the barriers among them.
func (s *Store) writeBatch(first write) {
	batch := []write{first}
collect:
	for len(batch) < batchMax {
		select {
		case w := <-s.queue:
			batch = append(batch, w)
		default:
			break collect
		}
	}
	if err := s.commit(batch); err != nil {
		s.failed.Add(int64(len(batch)))
		if s.Refused != nil {
			s.Refused(err, len(batch))
		}
	}
	for _, w := range batch {
		if w.done != nil {
			close(w.done)
		}
	}
}

func (s *Store) commit(batch []write) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // a no-op after Commit
	for _, w := range batch {
		if w.done != nil {
			continue
		}
		if err := commitOne(tx, w); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func commitOne(tx *sql.Tx, w write) error {
	it := w.item
	if w.remove {
		_, err := tx.Exec(`DELETE FROM thread_items WHERE thread_id = ? AND item_id = ?`, w.thread, it.ID)
		return err
	}
	if _, err := tx.Exec(upsertItem, w.thread, it.ID, it.Seq, string(it.Role), string(it.Kind), string(it.Text), it.Complete,
		it.Audio.Milliseconds(), it.CallID, it.At.UnixMilli()); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE threads SET updated_at = max(updated_at, ?) WHERE id = ?`, time.Now().UnixMilli(), w.thread)
	return err
}

// Close closes the file. Call it after Run has returned.
func (s *Store) Close() error { return s.db.Close() }

// Lost says how many items were dropped because the queue was full, and how many the disk refused.
func (s *Store) Lost() (dropped, failed int64) { return s.dropped.Load(), s.failed.Load() }

// Create starts an empty thread that belongs to person.
func (s *Store) Create(ctx context.Context, person string) (*Handle, error) {
	id, now := newID(), time.Now().UnixMilli()
	_, err := s.db.ExecContext(ctx, `INSERT INTO threads (id, person, created_at, updated_at) VALUES (?, ?, ?, ?)`, id, person, now, now)
	if err != nil {
		return nil, fmt.Errorf("create thread: %w", err)
	}
	return &Handle{store: s, id: id}, nil
}

// Discard forgets a thread that was created for a call that did not come about.
func (s *Store) Discard(ctx context.Context, h *Handle) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM threads WHERE id = ? AND NOT EXISTS (SELECT 1 FROM thread_items WHERE thread_id = ?)`, h.id, h.id)
	if err != nil {
		return fmt.Errorf("discard thread: %w", err)
	}
	return nil
}

// Resume opens person's thread id for another call. ErrNotFound when it is not theirs.
func (s *Store) Resume(ctx context.Context, person, id string) (*Handle, error) {
	th, err := s.Get(ctx, person, id)
	if err != nil {
		return nil, err
	}
	h := &Handle{store: s, id: id, history: th.Items}
	if n := len(th.Items); n > 0 {
		h.base = th.Items[n-1].Seq
	}
	return h, nil
}

// Get reads a whole thread. ErrNotFound when there is none or it is another person's.
func (s *Store) Get(ctx context.Context, person, id string) (*Thread, error) {
	th := &Thread{ID: id, Person: person}
	var created, updated int64
	row := s.db.QueryRowContext(ctx, `SELECT created_at, updated_at FROM threads WHERE id = ? AND person = ?`, id, person)
	if err := row.Scan(&created, &updated); errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	} else if err != nil {
		return nil, fmt.Errorf("read thread: %w", err)
	}
	th.CreatedAt, th.UpdatedAt = time.UnixMilli(created), time.UnixMilli(updated)
	rows, err := s.db.QueryContext(ctx, `SELECT item_id, seq, role, kind, text, complete, audio_ms, call_id, created_at
		FROM thread_items WHERE thread_id = ? ORDER BY seq, created_at, item_id`, id)
	if err != nil {
		return nil, fmt.Errorf("read thread items: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var it Item
		var audio, at int64
		if err := rows.Scan(&it.ID, &it.Seq, &it.Role, &it.Kind, &it.Text, &it.Complete, &audio, &it.CallID, &at); err != nil {
			return nil, fmt.Errorf("read thread item: %w", err)
		}
		it.Audio, it.At = time.Duration(audio)*time.Millisecond, time.UnixMilli(at)
		th.Items = append(th.Items, it)
	}
	return th, rows.Err()
}

// Summary is one line of a person's list of threads.
type Summary struct {
	ID                   string
	CreatedAt, UpdatedAt time.Time
	Items                int
}

// List names a person's threads in which something was said, the latest first, at most limit.
func (s *Store) List(ctx context.Context, person string, limit int) ([]Summary, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT t.id, t.created_at, t.updated_at, count(i.item_id) FROM threads t
		JOIN thread_items i ON i.thread_id = t.id WHERE t.person = ? GROUP BY t.id ORDER BY t.updated_at DESC, t.id LIMIT ?`, person, limit)
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	defer rows.Close()
	var out []Summary
	for rows.Next() {
		var m Summary
		var created, updated int64
		if err := rows.Scan(&m.ID, &created, &updated, &m.Items); err != nil {
			return nil, fmt.Errorf("list threads: %w", err)
		}
		m.CreatedAt, m.UpdatedAt = time.UnixMilli(created), time.UnixMilli(updated)
		out = append(out, m)
	}
	return out, rows.Err()
}

// newID is "thread_" and 26 characters of which 128 bits are random: not to be guessed, though access is by person anyway.
func newID() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails, crypto/rand since Go 1.24
	return "thread_" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}
