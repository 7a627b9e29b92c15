// Package bench compares servers that stand between people and an upstream: what each costs per forwarded packet, how long it takes to set
// a call up, how much memory it holds, and what it adds to the time of a packet.
//
// It owns the upstream end, the callers, the bare relay that is the yardstick, and the server processes it starts; it leaves none behind.
// Every server under test is a process of its own, and only the kernel's account of that process counts.
package bench
