package thread

import (
	"context"
	"slices"
)

// Handle is one call's grip on one thread. Its methods never wait for the disk, except Flush.
type Handle struct {
	store   *Store
	id      string
	base    float64 // the place of the last item before this call
	history []Item
}

// ID is the thread's id.
func (h *Handle) ID() string { return h.id }

// Base is the place of the last item that was there before this call; this call's items come after it.
func (h *Handle) Base() float64 { return h.base }

// Put keeps an item, or changes the words of one that is there already. ErrQueueFull: it was dropped and counted.
func (h *Handle) Put(it Item) error {
	if err := it.validate(); err != nil {
		return err
	}
	return h.enqueue(write{thread: h.id, item: it})
}

// Remove forgets an item.
func (h *Handle) Remove(itemID string) error {
	return h.enqueue(write{thread: h.id, item: Item{ID: itemID}, remove: true})
}

func (h *Handle) enqueue(w write) error {
	select {
	case h.store.queue <- w:
		return nil
	default:
		h.store.dropped.Add(1)
		return ErrQueueFull
	}
}

// Flush waits until everything that was put before is on disk, or ctx ends. It needs the store's Run.
func (h *Handle) Flush(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case h.store.queue <- write{done: done}:
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

// History gives the last items before this call that hold words, oldest first, at most max of them and at most maxBytes of
// text: what a provider is told so that a new call continues the old one.
func (h *Handle) History(max, maxBytes int) []Item {
	var out []Item
	for i := len(h.history) - 1; i >= 0 && len(out) < max; i-- {
		it := h.history[i]
		if it.Text == "" {
			continue
		}
		if maxBytes -= len(it.Text); maxBytes < 0 {
			break
		}
		out = append(out, it)
	}
	slices.Reverse(out)
	return out
}
