package conversation

import (
	"slices"
)

// playbackOf finds the playback of a response and applies change to it.
func (st *step) playbackOf(response string, change func(*playback)) (current, found bool) {
	if st.play.live && st.play.response == response {
		change(&st.play)
		return true, true
	}
	for i := range st.later {
		if st.later[i].response == response {
			st.later = slices.Clone(st.later)
			change(&st.later[i])
			return false, true
		}
	}
	return false, false
}

// audioPart: the item will be spoken.
func (st *step) audioPart(response, item string, output, content int) {
	current, _ := st.playbackOf(response, func(p *playback) { p.item, p.output, p.content, p.sounding = item, output, content, true })
	if current {
		st.beginPlay()
	}
}

// sounds: the provider says that the response's audio flows now.
func (st *step) sounds(response string) {
	if current, found := st.playbackOf(response, func(p *playback) { p.sounding = true }); found && !current {
		st.finish(false) // what was before it has ended without a word
	}
	if st.play.live && st.play.response == response && !st.play.audible {
		if !st.play.begun {
			st.beginPlay() // no part was announced; the item's name is not known
		}
		st.audible()
	}
}

// audible: from now on the person can hear the assistant.
func (st *step) audible() {
	if st.play.audible {
		return
	}
	st.play.audible, st.play.sounding, st.spoke = true, true, true
	st.word()
	st.do(AssistantAudible{On: true})
}

// firstAudio: the first packet of the answer has been written to the client.
func (st *step) firstAudio(h FirstAudio) {
	if !st.play.live || st.play.epoch != h.Epoch {
		return
	}
	st.audible()
	if !st.voiced {
		st.voiced = true
		st.count(SetupDone{Phase: "first_audio", Took: h.Sent})
	}
	if !st.answer.open || st.answer.first != 0 {
		return
	}
	x := &st.answer
	x.first, x.sent = h.Came, h.Sent
	st.stage("provider_first_audio", x.mode, x.first-x.committed)
	st.stage("first_frame_sent", x.mode, x.sent-x.first)
	st.stage("total", x.mode, x.sent-x.speechEnd)
	st.report(answered, 0)
}

// stopped: the provider has played the response to its end.
func (st *step) stopped(response string) {
	if st.play.live && st.play.response == response {
		st.finish(true)
		return
	}
	st.later = slices.DeleteFunc(slices.Clone(st.later), func(p playback) bool { return p.response == response })
}

// finish closes the current playback as heard to its end, and goes on to the next.
func (st *step) finish(whole bool) {
	p := st.play
	if p.item != "" && p.sounding {
		heard := st.media.Heard
		if heard.ItemID != p.item {
			heard = Heard{ItemID: p.item}
		}
		st.do(AudioDone{ItemID: p.item})
		st.heardAssistant(p, heard.Sent, heard.Sent, whole)
		st.playedOut(p, heard.Sent)
	}
	st.release(p.response, "")
	st.dropPlay()
	if !st.play.live && st.gen.stage == idle && len(st.calls) == 0 && !st.queued.waiting {
		if whole {
			st.report(answered, 0)
		}
		st.settle(unanswered, 0) // unless it was reported as answered
	}
}

// dropPlay lets go of the current playback and begins the next.
func (st *step) dropPlay() {
	if st.play.audible {
		st.do(AssistantAudible{On: false})
		st.word()
	}
	st.play = playback{}
	if st.hears() && st.floor != free {
		st.tellSpeech() // it began over the assistant's last words and goes on
	}
	if len(st.later) > 0 {
		next := st.later[0]
		st.later = st.later[1:]
		st.start(next)
	}
}

// clearedByProvider: the provider threw the rest of the response's audio away, asked or not.
func (st *step) clearedByProvider(response string) {
	if st.play.live && st.play.response == response && st.play.sounding {
		st.interrupt(byProvider, st.now)
	}
}
