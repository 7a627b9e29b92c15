// Package host reads what the kernel knows of processes and of this machine: CPU time, memory, quota, names.
//
// It owns the parsing of /proc and of control groups. It never changes anything.
package host
