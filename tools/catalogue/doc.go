// Package catalogue reads the one file in which every callable tool is declared.
//
// It owns the file's form, its checks and the sentences that may be said about an outcome. A file loads whole or not
// at all, and a file that does not load is answered with every problem at once, each with its line and its fix. It
// never runs a tool and never sees a credential.
package catalogue
