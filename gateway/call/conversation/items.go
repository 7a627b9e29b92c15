package conversation

import (
	"slices"
	"strings"

	"hovor/signaling/realtime"
)

// The store of items answers conversation.item.retrieve for every provider. It holds what the client was told, under the ids
// the client knows, and for the assistant what was heard. It holds no audio, and it is gone with the call; the thread stays.

// putItem keeps an item as it is now. An item that says less than what is known does not take words away.
func (st *step) putItem(it realtime.Item) {
	if it.ID == "" || slices.Contains(st.removed, it.ID) {
		return
	}
	it.Object = "realtime.item"
	content := make([]realtime.Content, 0, len(it.Content))
	for _, c := range it.Content {
		c.Audio = ""
		if c.Type == realtime.PartAudio {
			c.Type = realtime.ContentOutputAudio
		}
		content = append(content, c)
	}
	it.Content = content
	i := st.itemAt(it.ID)
	if i < 0 {
		st.items = addBounded(st.items, &it, maxItems)
		return
	}
	if old := st.items[i]; it.TextOf() == "" && old.TextOf() != "" {
		it.Content = old.Content
	}
	st.items = slices.Clone(st.items)
	st.items[i] = &it
}

func (s *State) itemAt(id string) int {
	return slices.IndexFunc(s.items, func(it *realtime.Item) bool { return it.ID == id })
}

// changeItem changes a copy of an item that is known.
func (st *step) changeItem(id string, change func(*realtime.Item)) {
	i := st.itemAt(id)
	if i < 0 {
		return
	}
	it := *st.items[i]
	it.Content = slices.Clone(it.Content)
	change(&it)
	st.items = slices.Clone(st.items)
	st.items[i] = &it
}

// removeItem forgets an item; its id is never taken again.
func (st *step) removeItem(id string) {
	st.removed = addBounded(st.removed, id, maxItems)
	if i := st.itemAt(id); i >= 0 {
		st.items = slices.Delete(slices.Clone(st.items), i, i+1)
	}
}

// speech sets the words of an item that is spoken, by the person or by the assistant.
func (st *step) speech(id, text string, status string) {
	st.changeItem(id, func(it *realtime.Item) {
		kind := realtime.ContentOutputAudio
		if it.Role == realtime.RoleUser {
			kind = realtime.ContentInputAudio
		}
		if status != "" {
			it.Status = status
		}
		for i, c := range it.Content {
			if c.Type == kind || c.Transcript != nil {
				it.Content[i].Transcript = &text
				return
			}
		}
		it.Content = append(it.Content, realtime.Content{Type: kind, Transcript: &text})
	})
}

// noteItem follows the provider's events.
func (st *step) noteItem(ev realtime.Event) {
	switch ev := ev.(type) {
	case *realtime.InputAudioBufferCommitted:
		st.putItem(realtime.Item{ID: st.mine(ev.ItemID), Type: realtime.ItemMessage, Role: realtime.RoleUser, Status: realtime.StatusCompleted,
			Content: []realtime.Content{{Type: realtime.ContentInputAudio}}})
	case *realtime.ConversationItemAdded:
		st.tookItem(ev.Item)
	case *realtime.ConversationItemCreated:
		st.tookItem(ev.Item)
	case *realtime.ConversationItemDone:
		st.tookItem(ev.Item)
	case *realtime.ResponseOutputItemAdded:
		st.tookItem(ev.Item)
	case *realtime.ResponseOutputItemDone:
		st.tookItem(ev.Item)
	case *realtime.ConversationItemInputAudioTranscriptionCompleted:
		st.speech(st.mine(ev.ItemID), ev.Transcript, "")
	case *realtime.ResponseOutputAudioTranscriptDone:
		st.speech(st.mine(ev.ItemID), ev.Transcript, "")
	case *realtime.ResponseOutputTextDone:
		st.changeItem(st.mine(ev.ItemID), func(it *realtime.Item) {
			it.Content = []realtime.Content{{Type: realtime.ContentOutputText, Text: ev.Text}}
		})
	case *realtime.ConversationItemDeleted:
		st.removeItem(st.mine(ev.ItemID))
	}
}

func (st *step) tookItem(it realtime.Item) {
	it.ID = st.mine(it.ID)
	if i := st.itemAt(it.ID); i >= 0 && st.items[i].Status == realtime.StatusIncomplete {
		return // it was cut; what still comes of it was not heard
	}
	st.putItem(it)
}

// retrieve answers from the store. An item that is not in it may still be known upstream.
func (st *step) retrieve(ev *realtime.ConversationItemRetrieve) {
	i := st.itemAt(ev.ItemID)
	switch {
	case i >= 0:
		it := *st.items[i]
		if it.Role == realtime.RoleAssistant && it.Status == realtime.StatusInProgress {
			if said := strings.TrimSpace(st.saidOf(it.ID)); said != "" && it.TextOf() == "" {
				it.Content = []realtime.Content{{Type: realtime.ContentOutputAudio, Transcript: &said}}
			}
		}
		st.tell(&realtime.ConversationItemRetrieved{Item: st.shown(it)})
	case slices.Contains(st.removed, ev.ItemID) || !st.ready:
		st.refuse(&realtime.Error{Type: realtime.TypeInvalidRequest, Code: "item_not_found", Param: "item_id", EventID: ev.EventID,
			Message: "There is no item of this id in the conversation."})
	default:
		st.up(&realtime.ConversationItemRetrieve{EventID: ev.EventID, ItemID: st.theirs(ev.ItemID)}, ev.EventID)
	}
}
