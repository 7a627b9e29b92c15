// Package dialogue is the brain that converses: an interviewer with a small command grammar, in four languages.
// Commands call tools; a question or loose words are looked up in the documents; telling something, or asking for it, begins
// the interview.
//
// It owns what is said and which function is called for which command. It establishes nothing by itself: whether
// something is open, found or done it says only from a tool's output, and what a tool does not know it does not know.
package dialogue
