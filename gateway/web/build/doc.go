// Package main of build turns the page's TypeScript and CSS into the committed, embedded files of ../dist.
//
// It owns the choice of bundler, targets and file names. It never runs at serving time and is not part of the binary.
package main
