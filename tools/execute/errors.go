package execute

import "errors"

// ErrService says that a base URL cannot be used.
var ErrService = errors.New("tools: service base URL")
