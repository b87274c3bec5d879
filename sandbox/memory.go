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
}

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), done: make(chan struct{})}
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
	reset := new(atomic.Bool)
	select {
	case l.conns <- memoryConn{far, reset}:
		return memoryConn{near, reset}, nil
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

// memoryConn is one end of a pipe that can be reset as a TCP connection can:
// the other end then reads ECONNRESET and not a clean end of file.
type memoryConn struct {
	net.Conn
	reset *atomic.Bool // shared by both ends
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
	if c.reset.Load() && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)) {
		return &net.OpError{Op: op, Net: "tcp", Addr: memoryAddr{}, Err: os.NewSyscallError(op, syscall.ECONNRESET)}
	}
	return err
}

// resetConn closes a connection of either kind so that the peer sees a reset.
func resetConn(conn net.Conn) {
	switch c := conn.(type) {
	case memoryConn:
		c.reset.Store(true)
	case *net.TCPConn:
		_ = c.SetLinger(0) // turns the close into a RST; without it the peer sees EOF
	}
	_ = conn.Close()
}
