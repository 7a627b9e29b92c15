// Package web is the page that people open: the built client and page, embedded and served.
//
// It owns the TypeScript sources (client/, page/), their built form (dist/, committed, so that a Go build
// needs no Node), and how they are served: compressed, with entity tags, under a strict content policy.
// It never talks to a call, a tool or a provider: the page reaches those through the same HTTP as any other client.
package web

//go:generate go run ./build
