package sandbox

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// memoryListener hands out connections that exist in memory only. They are made
// of channels, which is what lets a testing/synctest bubble see that everybody
// waits.
type memoryListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once

	mu        sync.Mutex
	abandoned int           // connections that the client has closed and the server has not
	drained   chan struct{} // closed when there are none any more
}

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), done: make(chan struct{}), drained: make(chan struct{})}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *memoryListener) Addr() net.Addr { return memoryAddr{} }

func (l *memoryListener) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	p := &pipe{listener: l}
	select {
	case l.conns <- memoryConn{far, p, &p.far}:
		return memoryConn{near, p, &p.near}, nil
	case <-l.done:
		return nil, refused()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func refused() error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: memoryAddr{}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

type memoryAddr struct{}

func (memoryAddr) Network() string { return "tcp" }
func (memoryAddr) String() string  { return memoryHost + ":80" }

// drain waits until the server has closed what the client has.
func (l *memoryListener) drain(ctx context.Context) error {
	for {
		l.mu.Lock()
		none, drained := l.abandoned == 0, l.drained
		l.mu.Unlock()
		if none {
			return nil
		}
		select {
		case <-drained:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pipe is what both ends of a connection know of it.
type pipe struct {
	listener  *memoryListener
	reset     atomic.Bool
	near, far bool // whether the client's end is closed, and the server's
}

func (p *pipe) closed(end *bool) {
	l := p.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	if *end {
		return
	}
	*end = true
	switch {
	case end == &p.near && !p.far:
		l.abandoned++
	case end == &p.far && p.near:
		if l.abandoned--; l.abandoned == 0 {
			close(l.drained)
			l.drained = make(chan struct{})
		}
	}
}

// memoryConn is one end of a pipe that can be reset as a TCP connection can:
// the other end then reads ECONNRESET and not a clean end of file.
type memoryConn struct {
	net.Conn
	pipe *pipe
	end  *bool // of the pipe's two
}

// Close implements net.Conn.
func (c memoryConn) Close() error {
	err := c.Conn.Close()
	c.pipe.closed(c.end)
	return err
}

func (c memoryConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, c.asReset("read", err)
}

func (c memoryConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, c.asReset("write", err)
}

func (c memoryConn) asReset(op string, err error) error {
	if c.pipe.reset.Load() && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)) {
		return &net.OpError{Op: op, Net: "tcp", Addr: memoryAddr{}, Err: os.NewSyscallError(op, syscall.ECONNRESET)}
	}
	return err
}

// resetConn closes a connection of either kind so that the peer sees a reset.
func resetConn(conn net.Conn) {
	switch c := conn.(type) {
	case memoryConn:
		c.pipe.reset.Store(true)
	case *net.TCPConn:
		_ = c.SetLinger(0) // turns the close into a RST; without it the peer sees EOF
	}
	_ = conn.Close()
}
