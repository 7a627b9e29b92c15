// Package language guesses which of the embedded provider's four languages a short text is written in.
//
// It owns a small honest heuristic: letters that only one of the languages has, and everyday words. It says nothing
// rather than something wrong.
package language
