package effect

import "errors"

var (
	// ErrClass says that a name is not one of the closed set of effect classes.
	ErrClass = errors.New("not an effect class")
	// ErrCeiling says that a name is not one of the closed set of channel ceilings.
	ErrCeiling = errors.New("not a channel ceiling")
)
