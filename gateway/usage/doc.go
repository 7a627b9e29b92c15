// Package usage keeps what calls cost: one record of every response and of every transcription, and one of every call.
//
// It owns their tables in the store and the sums over a call. Its writers never wait for a disk. It never holds a word that
// was said, a tool's argument or a credential.
package usage
