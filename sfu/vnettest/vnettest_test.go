package vnettest

import (
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// exchange sends n packets, one a millisecond, and returns how long each took, in the order of arrival.
func exchange(t *testing.T, n *Network, link Link, packets int) (numbers []int, took []time.Duration) {
	t.Helper()
	a, b := n.Host("10.0.0.1"), n.Host("10.0.0.2")
	n.Set(a, b, link)
	from, err := a.ListenPacket("udp", "10.0.0.1:1000")
	if err != nil {
		t.Fatal(err)
	}
	to, err := b.ListenPacket("udp", "10.0.0.2:2000")
	if err != nil {
		t.Fatal(err)
	}
	sent := make([]time.Time, packets)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 10)
		for {
			if _, _, err := to.ReadFrom(buf); err != nil {
				return
			}
			i := int(buf[0])<<8 | int(buf[1])
			numbers, took = append(numbers, i), append(took, time.Since(sent[i]))
		}
	}()
	for i := range packets {
		sent[i] = time.Now()
		if _, err := from.WriteTo([]byte{byte(i >> 8), byte(i)}, &net.UDPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 2000}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(time.Second)
	_ = to.Close()
	_ = from.Close()
	<-done
	carried, lost := n.Carried(a, b)
	if carried != len(numbers) || carried+lost != packets {
		t.Errorf("carried %d, lost %d, arrived %d of %d", carried, lost, len(numbers), packets)
	}
	return numbers, took
}

func TestLinks(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name     string
		link     Link
		min, max time.Duration
		arrive   [2]int // of 1000
		reorder  bool
	}{
		{"delay", Link{Delay: 40 * ms}, 40 * ms, 40 * ms, [2]int{1000, 1000}, false},
		{"jitter keeps order", Link{Delay: 10 * ms, Jitter: 20 * ms}, 10 * ms, 30 * ms, [2]int{1000, 1000}, false},
		{"jitter reorders", Link{Delay: 10 * ms, Jitter: 20 * ms, Reorder: true}, 10 * ms, 30 * ms, [2]int{1000, 1000}, true},
		{"loss", Link{Delay: ms, Loss: 0.1}, ms, ms, [2]int{880, 920}, false},
		{"down", Link{Down: true}, 0, 0, [2]int{0, 0}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var first []int
			for range 2 {
				synctest.Test(t, func(t *testing.T) {
					numbers, took := exchange(t, New(t, Link{}, 5), c.link, 1000)
					for _, d := range took {
						if d < c.min || d > c.max {
							t.Fatalf("a packet took %v, want %v to %v", d, c.min, c.max)
						}
					}
					if len(numbers) < c.arrive[0] || len(numbers) > c.arrive[1] {
						t.Errorf("%d packets arrived, want %v", len(numbers), c.arrive)
					}
					reordered := false
					for i := 1; i < len(numbers); i++ {
						reordered = reordered || numbers[i] < numbers[i-1]
					}
					if reordered != c.reorder {
						t.Errorf("reordered: %v", reordered)
					}
					if first == nil {
						first = numbers
					}
					for i := range numbers {
						if numbers[i] != first[i] {
							t.Fatal("two runs with one seed differ")
						}
					}
				})
			}
		})
	}
}
