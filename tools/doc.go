// Package tools is the hands: the only place where a tool that a model names can be run.
//
// It owns the catalogue, the effect classes, the decision, the executors and the record of every call's result. It
// runs a call with the credentials of the person who is speaking and holds none of its own. It never touches audio and
// imports nothing of this module's other rooms.
package tools
