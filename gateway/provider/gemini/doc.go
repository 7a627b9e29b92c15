// Package gemini is the adapter for Google's Gemini Live API: another protocol, behind the same seam.
//
// It owns the translation both ways: items and responses with ids of ours, the input buffer that Live does not have, the order
// of events that clients expect, tool calls that are always answered, and a connection that is renewed before Google ends it.
// Names of fields are those of the published types (@google/genai 2.32.0). It never sees the person's credential.
package gemini
