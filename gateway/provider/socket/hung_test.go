package socket_test

import (
	"context"
	"net"
)

// hung accepts a connection and never says a word.
func hung(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	go func() { // takes what is written until the near end is closed
		b := make([]byte, 1024)
		for {
			if _, err := far.Read(b); err != nil {
				return
			}
		}
	}()
	return near, nil
}
