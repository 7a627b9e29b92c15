package conversation

import (
	"hovor/gateway/provider"
	"hovor/signaling/realtime"
)

// noticed passes on what a provider's connection says of itself, as far as the person can do something with it.
func (st *step) noticed(h ProviderNoticed) {
	if !st.channel || st.doom.near {
		return
	}
	switch kind := provider.NoticeKind(h.Kind); kind {
	case provider.Expiring:
		st.tell(&realtime.HovorProvider{State: "expiring", InMS: ms(h.In)})
	case provider.Renewing:
		if h.Class != "" { // else it is the leg's own idea, at a moment that nobody notices
			st.renewing = true
			st.tell(&realtime.HovorProvider{State: "renewing", Reason: h.Class, Message: h.Sentence})
		}
	case provider.Renewed:
		if st.renewing {
			st.renewing = false
			st.tell(&realtime.HovorProvider{State: "connected"})
		}
	case provider.AudioLost:
		st.tell(&realtime.HovorProvider{State: "connected", Reason: h.Kind, Message: h.Sentence})
	default:
		st.count(ProviderFault{Class: h.Kind})
	}
}
