package usage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver registers itself as "sqlite"

	"hovor/gateway/provider"
)

// queueLen bounds the records that wait for the disk, over all calls; batchMax how many share a transaction.
const (
	queueLen = 4096
	batchMax = 256
)

// schema is applied at every start; statements are idempotent. Times are unix milliseconds, durations milliseconds.
const schema = `
CREATE TABLE IF NOT EXISTS call_usage (
	call_id    TEXT PRIMARY KEY,
	person     TEXT NOT NULL,
	assistant  TEXT NOT NULL,
	provider   TEXT NOT NULL,
	model      TEXT NOT NULL,
	audio_path TEXT NOT NULL,
	thread_id  TEXT NOT NULL,
	reason     TEXT NOT NULL,
	began_at   INTEGER NOT NULL,
	lasted_ms  INTEGER NOT NULL,
	turns      INTEGER NOT NULL,
	responses  INTEGER NOT NULL,
	untold     INTEGER NOT NULL,
	input_text INTEGER NOT NULL, input_audio INTEGER NOT NULL, input_image INTEGER NOT NULL,
	cached_text INTEGER NOT NULL, cached_audio INTEGER NOT NULL, cached_image INTEGER NOT NULL,
	output_text INTEGER NOT NULL, output_audio INTEGER NOT NULL,
	total      INTEGER NOT NULL,
	audio_in_ms INTEGER NOT NULL, audio_out_ms INTEGER NOT NULL, heard_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS call_usage_by_person ON call_usage(person, began_at);
CREATE TABLE IF NOT EXISTS response_usage (
	call_id TEXT NOT NULL,
	kind    TEXT NOT NULL,
	id      TEXT NOT NULL,
	model   TEXT NOT NULL,
	status  TEXT NOT NULL,
	told    INTEGER NOT NULL,
	input_text INTEGER NOT NULL, input_audio INTEGER NOT NULL, input_image INTEGER NOT NULL,
	cached_text INTEGER NOT NULL, cached_audio INTEGER NOT NULL, cached_image INTEGER NOT NULL,
	output_text INTEGER NOT NULL, output_audio INTEGER NOT NULL,
	total   INTEGER NOT NULL,
	billed_ms INTEGER NOT NULL, audio_in_ms INTEGER NOT NULL, audio_out_ms INTEGER NOT NULL, sent_ms INTEGER NOT NULL, heard_ms INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (call_id, kind, id)
) STRICT, WITHOUT ROWID;
`

const putCall = `INSERT OR REPLACE INTO call_usage (call_id, person, assistant, provider, model, audio_path, thread_id, reason, began_at,
	lasted_ms, turns, responses, untold, input_text, input_audio, input_image, cached_text, cached_audio, cached_image, output_text, output_audio, total,
	audio_in_ms, audio_out_ms, heard_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const putResponse = `INSERT OR REPLACE INTO response_usage (call_id, kind, id, model, status, told, input_text, input_audio, input_image, cached_text,
	cached_audio, cached_image, output_text, output_audio, total, billed_ms, audio_in_ms, audio_out_ms, sent_ms, heard_ms, at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// Store writes records to the SQLite file of the threads, by a connection of its own. Open it, let Run write, Close it.
type Store struct {
	db    *sql.DB
	queue chan any // Call, Response, chan struct{}
	lost  atomic.Int64
}

// Open makes the tables in the file at path.
func Open(path string) (*Store, error) {
	q := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(NORMAL)", "busy_timeout(5000)"}, "_txlock": {"immediate"}}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, fmt.Errorf("open usage store: %w", err)
	}
	db.SetMaxOpenConns(2)
	if _, err := db.Exec(schema); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare usage store %s: %w", filepath.Base(path), err), db.Close())
	}
	return &Store{db: db, queue: make(chan any, queueLen)}, nil
}

// PutCall keeps the record of a call. ErrQueueFull: it was dropped and counted.
func (s *Store) PutCall(c Call) error { return s.put(c) }

// PutResponse keeps the record of a response, or its newer form.
func (s *Store) PutResponse(r Response) error { return s.put(r) }

func (s *Store) put(record any) error {
	select {
	case s.queue <- record:
		return nil
	default:
		s.lost.Add(1)
		return ErrQueueFull
	}
}

// Lost is how many records were dropped, or refused by the disk.
func (s *Store) Lost() int64 { return s.lost.Load() }

// Flush waits until what was put before is on disk, or ctx ends. It needs Run.
func (s *Store) Flush(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case s.queue <- done:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Run writes until ctx ends, then what is left.
func (s *Store) Run(ctx context.Context) error {
	for {
		select {
		case r := <-s.queue:
			s.write(r)
		case <-ctx.Done():
			for {
				select {
				case r := <-s.queue:
					s.write(r)
				default:
					return nil
				}
			}
		}
	}
}

// Close closes the file. Call it after Run has returned.
func (s *Store) Close() error { return s.db.Close() }

// write puts the first record and what else waits into one transaction.
func (s *Store) write(first any) {
	batch := []any{first}
	for more := true; more && len(batch) < batchMax; {
		select {
		case r := <-s.queue:
			batch = append(batch, r)
		default:
			more = false
		}
	}
	if err := s.commit(batch); err != nil {
		s.lost.Add(int64(len(batch)))
	}
	for _, r := range batch {
		if done, ok := r.(chan struct{}); ok {
			close(done)
		}
	}
}

func (s *Store) commit(batch []any) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // a no-op after Commit
	for _, r := range batch {
		switch r := r.(type) {
		case Call:
			_, err = tx.Exec(putCall, r.ID, r.Person, r.Assistant, r.Provider, r.Model, r.AudioPath, r.ThreadID, r.Reason, r.Began.UnixMilli(),
				r.Lasted.Milliseconds(), r.Turns, r.Responses, r.Untold, r.Input.Text, r.Input.Audio, r.Input.Image, r.Cached.Text, r.Cached.Audio,
				r.Cached.Image, r.Output.Text, r.Output.Audio, r.Total, r.AudioIn.Milliseconds(), r.AudioOut.Milliseconds(), r.Heard.Milliseconds())
		case Response:
			_, err = tx.Exec(putResponse, r.CallID, string(r.Kind), r.ID, r.Model, r.Status, r.Told, r.Input.Text, r.Input.Audio, r.Input.Image,
				r.Cached.Text, r.Cached.Audio, r.Cached.Image, r.Output.Text, r.Output.Audio, r.Total, r.Duration.Milliseconds(),
				r.AudioIn.Milliseconds(), r.AudioOut.Milliseconds(), r.Sent.Milliseconds(), r.Heard.Milliseconds(), r.At.UnixMilli())
		}
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Of reads what a call cost: its own record (ok is false while it runs) and those of its responses, in no particular order.
func (s *Store) Of(ctx context.Context, callID string) (c Call, ok bool, list []Response, err error) {
	row := s.db.QueryRowContext(ctx, `SELECT call_id, person, assistant, provider, model, audio_path, thread_id, reason, began_at, lasted_ms, turns,
		responses, untold, input_text, input_audio, input_image, cached_text, cached_audio, cached_image, output_text, output_audio, total,
		audio_in_ms, audio_out_ms, heard_ms FROM call_usage WHERE call_id = ?`, callID)
	var began, lasted, in, out, heard int64
	err = row.Scan(&c.ID, &c.Person, &c.Assistant, &c.Provider, &c.Model, &c.AudioPath, &c.ThreadID, &c.Reason, &began, &lasted, &c.Turns,
		&c.Responses, &c.Untold, &c.Input.Text, &c.Input.Audio, &c.Input.Image, &c.Cached.Text, &c.Cached.Audio, &c.Cached.Image,
		&c.Output.Text, &c.Output.Audio, &c.Total, &in, &out, &heard)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return c, false, nil, fmt.Errorf("read usage: %w", err)
	default:
		ok = true
		c.Began, c.Lasted = time.UnixMilli(began), ms(lasted)
		c.AudioIn, c.AudioOut, c.Heard = ms(in), ms(out), ms(heard)
	}
	list, err = s.responses(ctx, callID)
	return c, ok, list, err
}

func (s *Store) responses(ctx context.Context, callID string) ([]Response, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT kind, id, model, status, told, input_text, input_audio, input_image, cached_text, cached_audio,
		cached_image, output_text, output_audio, total, billed_ms, audio_in_ms, audio_out_ms, sent_ms, heard_ms, at
		FROM response_usage WHERE call_id = ?`, callID)
	if err != nil {
		return nil, fmt.Errorf("read usage: %w", err)
	}
	defer rows.Close()
	var list []Response
	for rows.Next() {
		r := Response{CallID: callID}
		var kind string
		var billed, in, out, sent, heard, at int64
		if err := rows.Scan(&kind, &r.ID, &r.Model, &r.Status, &r.Told, &r.Input.Text, &r.Input.Audio, &r.Input.Image, &r.Cached.Text, &r.Cached.Audio,
			&r.Cached.Image, &r.Output.Text, &r.Output.Audio, &r.Total, &billed, &in, &out, &sent, &heard, &at); err != nil {
			return nil, fmt.Errorf("read usage: %w", err)
		}
		r.Kind = provider.UsageKind(kind)
		r.Duration, r.AudioIn, r.AudioOut, r.Sent, r.Heard, r.At = ms(billed), ms(in), ms(out), ms(sent), ms(heard), time.UnixMilli(at)
		list = append(list, r)
	}
	return list, rows.Err()
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
