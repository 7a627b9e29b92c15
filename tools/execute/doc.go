// Package execute runs tools that only read, against the app's own backend, as the person who is speaking.
//
// It owns the HTTP client, its limits and the mapping of answers to statuses. It sends one request per call with the
// person's own credential to a configured base URL, and never anything else, anywhere else or as anybody else. It
// refuses every entry whose class is not a read: what changes the world is not run from here.
package execute
