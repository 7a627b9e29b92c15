package local

import "errors"

var (
	// ErrConfig is returned by New for a configuration that cannot work.
	ErrConfig = errors.New("embedded provider configuration")
	// ErrFull is returned when MaxSessions calls are open.
	ErrFull = errors.New("embedded provider is full")
	// ErrDraining is returned once Run's context has ended.
	ErrDraining = errors.New("embedded provider is draining")
)
