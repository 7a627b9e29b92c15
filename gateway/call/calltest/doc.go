// Package calltest is a whole call in virtual time: a browser, the gateway's call and a scripted provider on one virtual
// network, for tests that run in one testing/synctest bubble.
//
// It owns the three hosts, a person who makes tones, and a provider that does what it is told. Latency in it is an exact
// number and a leaked goroutine fails the test. It never opens a real socket and never sleeps in real time.
package calltest
