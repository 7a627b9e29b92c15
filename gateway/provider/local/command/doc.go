// Package command is the small language the embedded provider understands: commands in English, Czech, German and
// Russian, written as templates in the syntax of a JSGF right-hand side.
//
// It owns the templates, the matcher for text and the English grammar for the recognizer, which are made from the same
// lines so that whatever is recognized can be understood. It never decides what to answer.
package command
