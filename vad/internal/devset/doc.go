// Package devset reads the development set of the ear for tests: labelled clips of real speech and noise.
//
// It owns finding the set (HOVOR_DATA, or shared/data beside the repository), reading labels and FLAC. It never
// changes the set, and nothing but tests and evaluation imports it.
package devset
