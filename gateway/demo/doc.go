// Package demo is the small app that the quickstart talks about: documents, processes, changes and a message room.
//
// It owns its own people, their bearer tokens and its own access control, and stands in for the backend that a real
// installation already has. The gateway reaches it over HTTP like any other. It knows nothing of calls or tools beyond
// the catalogue file that describes it, and never trusts a caller for anything but a bearer token.
package demo
