// Package load opens many calls at a chosen pace, puts a simulated person on each, and hangs up.
//
// It owns the life of the sessions of a run. What a person does on the line is package person's; what it all means is package report's.
package load
