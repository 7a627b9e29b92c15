// Package realtime holds the events of the Realtime protocol as Go types, with their validation and their schemas.
//
// It owns names, shapes, defaults and merge rules of every event that crosses a data channel, in both directions,
// the GA events as well as our own hovor.* ones. The structs and their rt tags are the one source: Decode, Encode and
// the files under schema/ all follow from them. It never opens a connection and never decides what an event does.
package realtime
