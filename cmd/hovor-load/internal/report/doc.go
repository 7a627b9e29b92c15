// Package report says what a run showed: one screen for people, one file for programs.
//
// It owns the file's schema and its completeness: a file is whole or it does not exist. It never computes a figure.
package report
