package thread

// schema is applied at every start; statements are idempotent. Times are unix milliseconds, audio is milliseconds.
const schema = `
CREATE TABLE IF NOT EXISTS threads (
	id         TEXT PRIMARY KEY,
	person     TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS threads_by_person ON threads(person, updated_at);
CREATE TABLE IF NOT EXISTS thread_items (
	thread_id  TEXT NOT NULL REFERENCES threads(id) ON DELETE CASCADE,
	item_id    TEXT NOT NULL,
	seq        REAL NOT NULL,
	role       TEXT NOT NULL,
	kind       TEXT NOT NULL,
	text       TEXT NOT NULL,
	complete   INTEGER NOT NULL,
	audio_ms   INTEGER NOT NULL,
	call_id    TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (thread_id, item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS thread_items_in_order ON thread_items(thread_id, seq);
`

// upsertItem keeps the first place and the first time of an item; words, completeness and heard time follow the latest write.
const upsertItem = `
INSERT INTO thread_items (thread_id, item_id, seq, role, kind, text, complete, audio_ms, call_id, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (thread_id, item_id) DO UPDATE SET
	text = excluded.text, complete = excluded.complete, audio_ms = excluded.audio_ms, kind = excluded.kind`
