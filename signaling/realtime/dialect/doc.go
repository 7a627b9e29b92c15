// Package dialect translates between the GA form of the Realtime protocol, which everything behind the door speaks, and the
// beta form, which some published clients still speak.
//
// It owns the tables of what differs, and is the one place where it is looked up: events, sessions, client secrets and the
// names of fields in errors. What is the same in both forms passes byte for byte, and so does what this package does not
// know. It is pure: it never sends, stores or logs, and it never checks what realtime.Decode checks.
package dialect
