package call

import "errors"

var (
	// ErrFull: the node carries as many calls as it may.
	ErrFull = errors.New("all lines are busy; try again in a few seconds")
	// ErrDraining: the node takes no new calls because it is going down.
	ErrDraining = errors.New("this server is about to restart and takes no new calls; try again in a few seconds")
	// ErrNotLive: the call is not connected yet, or has ended.
	ErrNotLive = errors.New("the call is not connected")
	// ErrBusy: the call's mailbox is full; what was to be delivered was dropped and counted.
	ErrBusy = errors.New("the call is too busy")
	// ErrNotFound: there is no live call of this id, or not of this person.
	ErrNotFound = errors.New("there is no live call of this id")
	// ErrSidebands: the call has had as many sidebands as it may.
	ErrSidebands = errors.New("this call has had as many sidebands as it may")
	// ErrNoPath: the client's leg has no ICE session that could be changed.
	ErrNoPath = errors.New("this call has no media path of its own")
	// ErrETag: the client means another ICE session than the current one.
	ErrETag = errors.New("this is not the current ICE session")
)
