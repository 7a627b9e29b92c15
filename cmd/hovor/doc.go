// Command hovor is the voice gateway: serve it, check a configuration, or run the embedded provider alone.
//
// It owns flags, exit codes and signals, and hands everything else to the gateway. It never holds state of its own.
package main
