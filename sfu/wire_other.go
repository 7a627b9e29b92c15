//go:build !linux

package sfu

import "github.com/pion/transport/v5"

// newWires opens sockets of n.
func newWires(_ Config, n transport.Net, count *socketCounters) (wires, error) {
	return &plainWires{net: n, count: count}, nil
}
