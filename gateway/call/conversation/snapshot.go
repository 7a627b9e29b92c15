package conversation

import "time"

// Snapshot is where a call stands, for GET of the call and for operators. It holds nothing that was said.
type Snapshot struct {
	CallID    string
	ThreadID  string
	Phase     string // connecting, listening, hearing, thinking, speaking, ended
	Ready     bool   // the provider is connected
	Channel   bool   // the client's event channel is open
	Mode      string // open, ptt
	Turns     int
	Ended     bool
	Reason    EndReason
	SinceTurn time.Duration // since the last word of either side
}
