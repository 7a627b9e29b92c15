package sfu

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/pion/transport/v5"
	"golang.org/x/sys/unix"
)

// newWires opens sockets of the operating system, or of the network that was configured.
func newWires(cfg Config, n transport.Net, count *socketCounters) (wires, error) {
	if cfg.Net != nil {
		return &plainWires{net: n, count: count}, nil
	}
	number := cfg.pumps
	if number == 0 {
		number = min(max(runtime.GOMAXPROCS(0)/2, 1), maxPumps)
	}
	return newPumps(number, count)
}

// maxPumps: batches get smaller with every pump, and this many move more than a network card brings.
const maxPumps = 8

// pumps share the sockets of an engine: every pump reads its part of the sockets that serve one peer, and one of as many
// twins of each shared socket, between which the kernel deals by the far side's address (SO_REUSEPORT).
type pumps struct {
	all  []*pump
	next atomic.Uint32

	mu     sync.Mutex  // guards what follows
	shared []*pumpWire // replaced, never changed
}

func newPumps(number int, count *socketCounters) (*pumps, error) {
	s := new(pumps)
	for range number {
		p, err := newPump(s, count)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.all = append(s.all, p)
	}
	return s, nil
}

// close waits for the pumps; the sockets are closed before.
func (s *pumps) close() error {
	var errs []error
	for _, p := range s.all {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}

func (s *pumps) open(addr netip.Addr, port int, shared bool, to receiver) (wire, error) {
	at := netip.AddrPortFrom(addr, uint16(port)) // 0 to 65535
	if !shared {
		return s.all[int(s.next.Add(1))%len(s.all)].open(at, ownSocket, to)
	}
	// The first may not share its port, so that a port that somebody else holds is noticed.
	first, err := s.all[0].open(at, sharedSocket, to)
	if err != nil {
		return nil, err
	}
	twins := twinWires{first}
	for _, p := range s.all[1:] {
		_ = unix.SetsockoptInt(first.fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		w, err := p.open(first.addr, twinSocket, to)
		if err != nil {
			return nil, errors.Join(err, twins.close())
		}
		twins = append(twins, w)
	}
	s.mu.Lock()
	s.shared = append(append([]*pumpWire(nil), s.shared...), twins...)
	s.mu.Unlock()
	return twins, nil
}

func (s *pumps) sharedWires() []*pumpWire {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shared
}

func (s *pumps) forget(w *pumpWire) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shared = slices.DeleteFunc(slices.Clone(s.shared), func(o *pumpWire) bool { return o == w })
}

// twinWires are one address, read by every pump.
type twinWires []*pumpWire

func (t twinWires) local() netip.AddrPort { return t[0].addr }

// send keeps to one socket per far side, and so to the order.
func (t twinWires) send(b []byte, to netip.AddrPort) error {
	return t[int(to.Port())%len(t)].send(b, to)
}

func (t twinWires) close() error {
	var errs []error
	for _, w := range t {
		errs = append(errs, w.close())
	}
	return errors.Join(errs...)
}

// pump moves packets on one goroutine: it asks the kernel which of its sockets have packets, reads and hands on everything
// that waits, and then sends what its receivers wrote to shared sockets meanwhile with one call each. So the batch
// is what happened to be there: a lone packet leaves as soon as it has come, and the busier the machine the larger the
// batches. There is no timer.
//
// Its calls never block, and are made without telling the scheduler (RawSyscall): that would wake the runtime's monitor
// thread for each, which costs more than the calls. The price is that a batch of 64 cannot be preempted.
type pump struct {
	set   *pumps
	epoll int
	file  *os.File // of epoll: the runtime's poller says when there is something to ask for
	raw   syscall.RawConn
	done  chan struct{}
	count *socketCounters

	mu   sync.Mutex // guards what follows
	byFD map[int32]*pumpWire

	// The pump's goroutine only.
	events [passEvents]unix.EpollEvent
	in     batch
}

const (
	passEvents = 32 // sockets per question; with what they bring it bounds how long a packet waits to be sent
	batchSize  = 64 // packets per read or write
	ownBatch   = 8  // packets per read of a socket that serves one peer
)

func newPump(set *pumps, count *socketCounters) (*pump, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open the media poller: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // makes os.NewFile give it to the runtime's poller
		_ = unix.Close(fd)
		return nil, fmt.Errorf("open the media poller: %w", err)
	}
	p := &pump{
		set: set, epoll: fd, file: os.NewFile(uintptr(fd), "media poller"), done: make(chan struct{}), count: count, // a descriptor
		byFD: make(map[int32]*pumpWire),
	}
	if p.raw, err = p.file.SyscallConn(); err != nil {
		_ = p.file.Close()
		return nil, fmt.Errorf("open the media poller: %w", err)
	}
	p.in.init()
	go p.run()
	return p, nil
}

func (p *pump) close() error {
	err := p.file.Close()
	<-p.done
	return err
}

// run stays within one Read of the runtime's poller for all its life: a wake-up that comes while packets are being
// handed on is then remembered, and no question is needed to make sure that none was missed.
func (p *pump) run() {
	defer close(p.done)
	_ = p.raw.Read(func(uintptr) bool {
		for p.pass() {
		}
		return false
	})
}

// pass reads what waits; false: nothing did.
func (p *pump) pass() bool {
	n, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.epoll), uintptr(unsafe.Pointer(&p.events[0])), passEvents, 0, 0, 0)
	if e != 0 || n == 0 {
		return e == unix.EINTR
	}
	shared := p.set.sharedWires()
	for _, w := range shared {
		w.cork()
	}
	for i := range n {
		p.mu.Lock()
		w := p.byFD[p.events[i].Fd]
		p.mu.Unlock()
		if w != nil {
			w.read(&p.in)
		}
	}
	for _, w := range shared {
		w.uncork()
	}
	return true
}

type socketKind int

const (
	ownSocket    socketKind = iota // of one peer
	sharedSocket                   // of many
	twinSocket                     // of many, at the address of another
)

func (p *pump) open(at netip.AddrPort, kind socketKind, to receiver) (*pumpWire, error) {
	fd, local, err := bindUDP(at, kind)
	if err != nil {
		return nil, err
	}
	w := &pumpWire{pump: p, fd: fd, addr: local, v6: at.Addr().Is6(), to: to, count: p.count, most: ownBatch}
	if kind != ownSocket {
		w.most, w.out = batchSize, new(batch)
		w.out.init()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)} // a descriptor
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("epoll_ctl", err)
	}
	p.byFD[ev.Fd] = w
	return w, nil
}

func (p *pump) forget(w *pumpWire) {
	p.mu.Lock()
	delete(p.byFD, int32(w.fd)) // a descriptor
	p.mu.Unlock()
	if w.out != nil {
		p.set.forget(w)
	}
}

// bindUDP opens a socket that the runtime's poller knows nothing of: it would be woken for every packet.
func bindUDP(addr netip.AddrPort, kind socketKind) (fd int, local netip.AddrPort, err error) {
	family := unix.AF_INET
	if addr.Addr().Is6() {
		family = unix.AF_INET6
	}
	fd, err = unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, local, os.NewSyscallError("socket", err)
	}
	fail := func(call string, err error) (int, netip.AddrPort, error) {
		_ = unix.Close(fd)
		return 0, netip.AddrPort{}, os.NewSyscallError(call, err)
	}
	if family == unix.AF_INET6 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
			return fail("setsockopt", err)
		}
	}
	if kind == twinSocket {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			return fail("setsockopt", err)
		}
	}
	if kind != ownSocket {
		enlarge(fd, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF)
		enlarge(fd, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF)
	}
	var name unix.RawSockaddrInet6
	size := putAddr(&name, addr)
	if _, _, e := unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&name)), uintptr(size)); e != 0 {
		return fail("bind", e)
	}
	size = unix.SizeofSockaddrInet6
	if _, _, e := unix.Syscall(unix.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&name)), uintptr(unsafe.Pointer(&size))); e != 0 {
		return fail("getsockname", e)
	}
	return fd, getAddr(&name), nil
}

// enlarge sets a buffer to what a stall needs: beyond the system's limit where we may (CAP_NET_ADMIN), else up to it,
// which the kernel does not tell.
func enlarge(fd, force, polite int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, socketBuffer) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, polite, socketBuffer)
	}
}

// pumpWire is one socket of a pump.
type pumpWire struct {
	pump  *pump
	fd    int
	addr  netip.AddrPort
	v6    bool
	to    receiver
	count *socketCounters
	most  int // packets per read

	reading sync.Mutex // held during a read, so that the descriptor is not closed under it
	over    atomic.Bool

	mu     sync.Mutex // guards what follows, and the descriptor during a write
	corks  int        // pumps that are in a pass
	out    *batch     // nil: everything is sent at once
	closed bool
}

func (w *pumpWire) local() netip.AddrPort { return w.addr }

func (w *pumpWire) close() error {
	w.pump.forget(w)
	w.over.Store(true)
	w.reading.Lock()
	defer w.reading.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	if w.out != nil {
		w.out.n = 0
	}
	return unix.Close(w.fd) // which also takes it out of the epoll set: nobody else has the descriptor
}

// read takes up to one batch of what waits.
func (w *pumpWire) read(b *batch) {
	n := w.receive(b)
	for i := range n {
		if w.over.Load() {
			return
		}
		h := &b.headers[i]
		if h.hdr.Flags&unix.MSG_TRUNC != 0 {
			w.count.oversized.Add(1)
			continue
		}
		w.to.receive(b.buffers[i][:h.size], getAddr(&b.names[i]))
	}
}

func (w *pumpWire) receive(b *batch) int {
	w.reading.Lock()
	defer w.reading.Unlock()
	if w.over.Load() {
		return 0
	}
	b.forReading(w.most)
	n, _, e := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(w.fd), uintptr(unsafe.Pointer(&b.headers[0])), uintptr(w.most), unix.MSG_DONTWAIT, 0, 0)
	w.count.readCalls.Add(1)
	if e != 0 {
		return 0
	}
	w.count.received.Add(uint64(n))
	return int(n) // at most batchSize
}

func (w *pumpWire) send(b []byte, to netip.AddrPort) error {
	if len(b) == 0 || to.Addr().Is6() != w.v6 {
		return unix.EAFNOSUPPORT
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return os.ErrClosed
	}
	if w.corks > 0 && w.out != nil && len(b) <= maxDatagram {
		if w.out.n == batchSize {
			w.flush()
		}
		w.out.add(b, to)
		return nil
	}
	var name unix.RawSockaddrInet6
	size := putAddr(&name, to)
	_, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(w.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)),
		unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(&name)), uintptr(size))
	w.count.writeCalls.Add(1)
	switch e {
	case 0:
		w.count.sent.Add(1)
		return nil
	case unix.EAGAIN, unix.ENOBUFS:
		w.count.sendDropped.Add(1)
		return nil
	}
	return os.NewSyscallError("sendto", e)
}

// cork collects what is written until uncork; other pumps may send it earlier.
func (w *pumpWire) cork() {
	w.mu.Lock()
	w.corks++
	w.mu.Unlock()
}

func (w *pumpWire) uncork() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.corks--; !w.closed {
		w.flush()
	}
}

// flush sends what was collected. The caller holds mu.
func (w *pumpWire) flush() {
	for from := 0; from < w.out.n; {
		n, _, e := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(w.fd), uintptr(unsafe.Pointer(&w.out.headers[from])),
			uintptr(w.out.n-from), unix.MSG_DONTWAIT, 0, 0)
		w.count.writeCalls.Add(1)
		if e != 0 { // of the first of them: it is lost, the others are not
			w.count.sendDropped.Add(1)
			n = 1
		} else {
			w.count.sent.Add(uint64(n))
		}
		from += int(n) // at most batchSize
	}
	w.out.n = 0
}

// batch is memory for the kernel to read packets into, or to send them from.
type batch struct {
	n       int // packets to send
	headers [batchSize]mmsghdr
	parts   [batchSize]unix.Iovec
	names   [batchSize]unix.RawSockaddrInet6
	buffers [batchSize][maxDatagram]byte
}

// mmsghdr is struct mmsghdr of recvmmsg(2).
type mmsghdr struct {
	hdr  unix.Msghdr
	size uint32
}

func (b *batch) init() {
	for i := range b.headers {
		b.parts[i].Base = &b.buffers[i][0]
		h := &b.headers[i].hdr
		h.Iov = &b.parts[i]
		h.SetIovlen(1)
		h.Name = (*byte)(unsafe.Pointer(&b.names[i]))
	}
}

func (b *batch) forReading(n int) {
	for i := range n {
		b.parts[i].SetLen(maxDatagram)
		b.headers[i].hdr.Namelen = unix.SizeofSockaddrInet6
	}
}

// add copies a packet behind those that wait. There must be room.
func (b *batch) add(p []byte, to netip.AddrPort) {
	i := b.n
	b.n++
	copy(b.buffers[i][:], p)
	b.parts[i].SetLen(len(p))
	b.headers[i].hdr.Namelen = putAddr(&b.names[i], to)
}

// putAddr writes a socket address and returns its size.
func putAddr(to *unix.RawSockaddrInet6, a netip.AddrPort) uint32 {
	port := (*[2]byte)(unsafe.Pointer(&to.Port)) // the same place in both families
	port[0], port[1] = byte(a.Port()>>8), byte(a.Port())
	if a.Addr().Is4() {
		to.Family = unix.AF_INET
		(*unix.RawSockaddrInet4)(unsafe.Pointer(to)).Addr = a.Addr().As4()
		return unix.SizeofSockaddrInet4
	}
	to.Family, to.Flowinfo, to.Scope_id = unix.AF_INET6, 0, 0
	to.Addr = a.Addr().As16()
	return unix.SizeofSockaddrInet6
}

func getAddr(from *unix.RawSockaddrInet6) netip.AddrPort {
	b := (*[2]byte)(unsafe.Pointer(&from.Port))
	port := uint16(b[0])<<8 | uint16(b[1])
	if from.Family == unix.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(from)).Addr), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom16(from.Addr), port)
}
