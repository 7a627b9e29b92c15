package call

import "hovor/gateway/call/conversation"

// EndReason is why a call ended. The set is closed: logs, metrics, the wire (hovor.ended) and call.md share it.
type EndReason = conversation.EndReason

// The reasons.
const (
	Hangup              = conversation.Hangup
	ClientGone          = conversation.ClientGone
	ClientFailed        = conversation.ClientFailed
	ProviderLost        = conversation.ProviderLost
	ProviderUnavailable = conversation.ProviderUnavailable
	SetupFailed         = conversation.SetupFailed
	SetupTimeout        = conversation.SetupTimeout
	MaxDuration         = conversation.MaxDuration
	Idle                = conversation.Idle
	Drain               = conversation.Drain
	DrainDeadline       = conversation.DrainDeadline
	Internal            = conversation.Internal
)

// EndReasons is the closed set, in the order of call.md.
func EndReasons() []EndReason { return conversation.EndReasons() }
