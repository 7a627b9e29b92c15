package person

// Mode is how the person takes turns.
type Mode string

// The two ways to speak.
const (
	Open Mode = "open" // open microphone: the gateway decides when the turn is over
	PTT  Mode = "ptt"  // push-to-talk: the person does
)
