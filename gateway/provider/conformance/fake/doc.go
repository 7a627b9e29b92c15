// Package fake is the far side of provider adapters in tests: a network in memory that can be slow, narrow or dead, and small
// servers that speak a provider's WebSocket protocol and do as they are told.
//
// The shapes they send were made by us from the published types (openai 7, @google/genai 2.32.0); nothing here was recorded
// from a live service. Everything runs in a testing/synctest bubble. It is imported by tests only.
package fake
