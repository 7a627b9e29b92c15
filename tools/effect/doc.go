// Package effect says what a tool does to the world and over which channel a person may agree to it.
//
// It owns two closed sets, the effect classes and the channel ceilings, and the table that joins them. It is plain
// tables and no rules engine: a decision is a look-up that a reviewer can read. It never looks at a call's arguments,
// and nothing here can lower a ceiling.
package effect
