// Package conformance is the suite that every provider adapter passes: what a call may rely on, whoever answers.
//
// It owns the checks and a sink that notes what came. It runs in real time and inside a synctest bubble alike: it waits for
// events, never for a length of time.
package conformance
