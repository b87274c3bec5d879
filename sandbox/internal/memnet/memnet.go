// Package memnet is a network in memory: a listener, connections that can be reset,
// and an HTTP transport that leads to the listener and nowhere else.
package memnet

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

// Host is the one host of the network. It answers on port 80.
const Host = "localhost"

// Listener accepts connections that exist in memory only. They are made of channels,
// so that a testing/synctest bubble sees when all goroutines wait.
type Listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once

	mu        sync.Mutex
	abandoned int           // connections that the client has closed and the server has not
	drained   chan struct{} // closed when abandoned falls to 0
}

// NewListener returns a listener without connections.
func NewListener() *Listener {
	return &Listener{conns: make(chan net.Conn), done: make(chan struct{}), drained: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (*Listener) Addr() net.Addr { return addr{} }

// Dial returns the client's end of a new connection.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	p := &pipe{listener: l}
	select {
	case l.conns <- conn{far, p, &p.far}:
		return conn{near, p, &p.near}, nil
	case <-l.done:
		return nil, ConnectionRefused()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Drain waits until the server has closed every connection that the client has closed.
func (l *Listener) Drain(ctx context.Context) error {
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

// ConnectionRefused is the error of a dial to a port on which nothing listens.
func ConnectionRefused() error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: addr{}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// NoSuchHost is the error of a dial to a host name that does not resolve.
func NoSuchHost(host string) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
}

type addr struct{}

func (addr) Network() string { return "tcp" }
func (addr) String() string  { return Host + ":80" }

// pipe is the state that both ends of a connection share.
type pipe struct {
	listener  *Listener
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

// conn is one end of a pipe. It can be reset as a TCP connection can: the other end
// then reads ECONNRESET and not a clean end of file.
type conn struct {
	net.Conn
	pipe *pipe
	end  *bool // one of the pipe's two
}

// Close implements net.Conn.
func (c conn) Close() error {
	err := c.Conn.Close()
	c.pipe.closed(c.end)
	return err
}

func (c conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, c.asReset("read", err)
}

func (c conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, c.asReset("write", err)
}

func (c conn) asReset(op string, err error) error {
	if c.pipe.reset.Load() && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)) {
		return &net.OpError{Op: op, Net: "tcp", Addr: addr{}, Err: os.NewSyscallError(op, syscall.ECONNRESET)}
	}
	return err
}

// Reset closes a connection, in memory or of TCP, so that the peer sees a reset.
func Reset(c net.Conn) {
	switch c := c.(type) {
	case conn:
		c.pipe.reset.Store(true)
	case *net.TCPConn:
		_ = c.SetLinger(0) // without it the peer reads EOF
	}
	_ = c.Close()
}
