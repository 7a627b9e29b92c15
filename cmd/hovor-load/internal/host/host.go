package host

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrProc means that the kernel's account of a process could not be read.
var ErrProc = errors.New("cannot read the kernel's account of the process")

// clockTick is USER_HZ, which Linux fixes at 100 for user space on every architecture Go runs on.
const clockTick = 10 * time.Millisecond

// Machine says on what the figures were taken.
type Machine struct {
	OS     string  `json:"os"`
	Arch   string  `json:"arch"`
	Kernel string  `json:"kernel"`
	CPU    string  `json:"cpu"`
	Cores  int     `json:"cores"`
	Quota  float64 `json:"cpu_quota"`
}

// Describe reads the machine's account of itself. What is not known stays empty.
func Describe() Machine {
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Quota: Quota()}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(b))
	}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				m.CPU = strings.TrimSpace(v)
				break
			}
		}
	}
	return m
}

// Quota is how many cores this process may use: the smaller of the processors it may run on and its control group's limit.
func Quota() float64 {
	n := float64(runtime.NumCPU())
	if b, err := os.ReadFile("/sys/fs/cgroup/cpu.max"); err == nil { // version 2
		if q, ok := parseCPUMax(string(b)); ok {
			n = min(n, q)
		}
	}
	quota, err1 := os.ReadFile("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") // version 1
	period, err2 := os.ReadFile("/sys/fs/cgroup/cpu/cpu.cfs_period_us")
	if err1 == nil && err2 == nil {
		if q, ok := parseCPUMax(string(quota) + " " + string(period)); ok {
			n = min(n, q)
		}
	}
	return n
}

// parseCPUMax reads "quota period" in microseconds; "max" or -1 is no limit.
func parseCPUMax(s string) (float64, bool) {
	f := strings.Fields(s)
	if len(f) != 2 {
		return 0, false
	}
	q, err1 := strconv.ParseFloat(f[0], 64)
	p, err2 := strconv.ParseFloat(f[1], 64)
	if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0, false
	}
	return q / p, true
}

// OwnCPU is the CPU time this process has used, user and system.
func OwnCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// CPU is the CPU time a process has used, user and system, in steps of 10 ms. Errors: ErrProc.
func CPU(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrProc, err)
	}
	return parseStat(string(b))
}

// parseStat reads fields 14 and 15 of proc(5) stat; the second field, the name, may hold spaces and parentheses.
func parseStat(s string) (time.Duration, error) {
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(f) < 13 {
		return 0, ErrProc
	}
	user, err1 := strconv.ParseInt(f[11], 10, 64)
	system, err2 := strconv.ParseInt(f[12], 10, 64)
	if err1 != nil || err2 != nil {
		return 0, ErrProc
	}
	return time.Duration(user+system) * clockTick, nil
}

// RSS is a process's resident memory in bytes. Errors: ErrProc.
func RSS(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrProc, err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")), 10, 64)
			if err == nil {
				return kb << 10, nil
			}
		}
	}
	return 0, ErrProc
}

// Ticks is the host's CPU time so far: busy and all, over all cores.
type Ticks struct{ Busy, All uint64 }

// HostTicks reads the first line of /proc/stat; zero when there is none.
func HostTicks() Ticks {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Ticks{}
	}
	line, _, _ := strings.Cut(string(b), "\n")
	var t Ticks
	for i, f := range strings.Fields(line) {
		v, err := strconv.ParseUint(f, 10, 64)
		if i == 0 || i > 8 || err != nil { // guest time is already in user time
			continue
		}
		t.All += v
		if i != 4 && i != 5 { // idle, waiting for a disk
			t.Busy += v
		}
	}
	return t
}

// Since is the share of the host's CPU that was busy since before; -1 when unknown.
func (t Ticks) Since(before Ticks) float64 {
	if t.All <= before.All {
		return -1
	}
	return float64(t.Busy-before.Busy) / float64(t.All-before.All)
}
