// Package config is the one YAML file that says what a gateway is.
//
// It owns the defaults, the reading, the checking and the printing of the configuration. Every problem of a file is
// reported at once with its line and a fix. It never opens a socket, starts nothing, and prints no secret.
package config
