package conversation

// EndReason is why a call ended; a closed set.
type EndReason string

// The reasons.
const (
	Hangup              EndReason = "hangup"               // somebody asked for the end
	ClientGone          EndReason = "client_gone"          // the client closed its connection
	ClientFailed        EndReason = "client_failed"        // the client's connection broke
	ProviderLost        EndReason = "provider_lost"        // the provider went away in mid-call
	ProviderUnavailable EndReason = "provider_unavailable" // the provider could not be reached or refused
	SetupFailed         EndReason = "setup_failed"         // the call never came to be
	SetupTimeout        EndReason = "setup_timeout"        // the client did not connect in time
	MaxDuration         EndReason = "max_duration"         // the longest time a call may take
	Idle                EndReason = "idle"                 // nobody said anything for too long
	Drain               EndReason = "drain"                // the server is going down and the call had not begun
	DrainDeadline       EndReason = "drain_deadline"       // the server is going down and could not wait longer
	Internal            EndReason = "internal"             // a fault of ours
)

// EndReasons is the closed set, in the order of the documents.
func EndReasons() []EndReason {
	return []EndReason{Hangup, ClientGone, ClientFailed, ProviderLost, ProviderUnavailable, SetupFailed, SetupTimeout,
		MaxDuration, Idle, Drain, DrainDeadline, Internal}
}

// Sentence is what the person is told.
func (r EndReason) Sentence() string { return sentences[r] }

var sentences = map[EndReason]string{
	Hangup:              "The call was ended.",
	ClientGone:          "The page left the call.",
	ClientFailed:        "The connection to the page broke. What was said so far is kept; a new call continues it.",
	ProviderLost:        "The connection to the voice service was lost. What was said so far is kept; a new call continues it.",
	ProviderUnavailable: "The voice service cannot be used just now. Start a new call in a moment.",
	SetupFailed:         "The call could not be set up. Start a new call.",
	SetupTimeout:        "The connection could not be made in time. A firewall may block it; try another network.",
	MaxDuration:         "The call reached the longest time a call may take. What was said is kept; a new call continues it.",
	Idle:                "Nobody said anything for a long time, so the call was ended. A new call continues it.",
	Drain:               "This server is about to restart. Start a new call in a few seconds.",
	DrainDeadline:       "This server is restarting. What was said so far is kept; a new call continues it.",
	Internal:            "Something went wrong on this server. What was said so far is kept; a new call continues it.",
}
