// Package provider is the seam between a call and whoever answers in it: a hosted speech model, or the embedded one.
//
// It owns the three small interfaces that an adapter and a call meet at, and the closed set of ways in which a provider can
// fail, each with a sentence for the person. It never decides what a call does about a failure.
package provider
