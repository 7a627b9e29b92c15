// Package identity proves who is speaking.
//
// It owns the table of demo people and the way from a bearer token to a person. Proof is compared in constant time and
// kept only inside the person's credential. It never decides what a person may do; the app that owns the data does.
package identity
