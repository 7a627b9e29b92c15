package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrServer means that a server under test did not start.
var ErrServer = errors.New("the server under test did not start")

const (
	startWithin = 20 * time.Second
	stopWithin  = 15 * time.Second
)

// process is one server under test: a program in a process group of its own, which dies with us.
type process struct {
	pid  int
	line chan string   // what it printed on standard output; bounded, the rest is dropped
	done chan struct{} // closed when it has ended
	log  string        // path of what it printed on standard error

	patience time.Duration // between asking it to end and killing it
}

// start runs a program. cpus, when not empty, are the processors it may run on.
func start(name string, args, env []string, log string, cpus []int) (*process, error) {
	stderr, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = stderr
	// Pdeathsig covers the one end that no defer covers: this process being killed. The signal follows the thread that started the
	// program, so that thread is kept until the program has ended.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &process{line: make(chan string, 64), done: make(chan struct{}), log: log, patience: stopWithin}
	started := make(chan error)
	go func() { // ends with the program; stop waits for it
		runtime.LockOSThread() // never unlocked: a thread with a changed affinity must not go back
		defer close(p.done)
		if err := pin(0, cpus); err != nil {
			started <- err
			return
		}
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		p.pid = cmd.Process.Pid
		close(started)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			select {
			case p.line <- lines.Text():
			default:
			}
		}
		cmd.Wait()
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrServer, name, err)
	}
	return p, nil
}

// until reads standard output until a line holds what is looked for, and gives what follows it on that line.
func (p *process) until(ctx context.Context, mark string) (string, error) {
	limit := time.NewTimer(startWithin)
	defer limit.Stop()
	for {
		select {
		case l := <-p.line:
			if _, rest, ok := strings.Cut(l, mark); ok {
				return strings.TrimSpace(rest), nil
			}
		case <-p.done:
			return "", fmt.Errorf("%w: %s", ErrServer, p.lastWords())
		case <-limit.C:
			return "", fmt.Errorf("%w within %v", ErrServer, startWithin)
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// lastWords is the end of what it printed on standard error.
func (p *process) lastWords() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	const most = 600
	return strings.TrimSpace(string(b[max(0, len(b)-most):]))
}

// stop ends the program: asked first, then killed with its whole group. It returns when it is gone.
func (p *process) stop() {
	if p == nil {
		return
	}
	select {
	case <-p.done: // its number may be somebody else's by now
		return
	default:
	}
	syscall.Kill(p.pid, syscall.SIGTERM)
	select {
	case <-p.done:
		return
	case <-time.After(p.patience):
	}
	syscall.Kill(-p.pid, syscall.SIGKILL)
	<-p.done
}

// pin lets a thread (0: the calling one) run on these processors only. Programs that it starts inherit that. No processors: no change.
func pin(thread int, cpus []int) error {
	if len(cpus) == 0 {
		return nil
	}
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	return unix.SchedSetaffinity(thread, &set)
}

// pinSelf lets every thread of this process run on these processors only.
func pinSelf(cpus []int) error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		var id int
		if _, err := fmt.Sscan(t.Name(), &id); err != nil {
			return err
		}
		if err := pin(id, cpus); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}
