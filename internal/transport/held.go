package transport

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// gate lets bytes out until it is shut. Shutting it reports whether none has passed, and none can
// pass afterwards. It shuts by itself if its time passes before the first byte.
type gate struct {
	state  atomic.Int32
	window window
	late   atomic.Bool // it has shut by itself
}

// window is a period that begins at a time; the zero value has no end.
type window struct {
	begun  time.Time
	length time.Duration
}

func (w window) over() bool { return !w.begun.IsZero() && since(w.begun) >= w.length }

const (
	unused int32 = iota
	passed
	shut
)

func (g *gate) pass() (first, ok bool) {
	if g.window.over() && g.state.CompareAndSwap(unused, shut) {
		g.late.Store(true)
	}
	if g.state.CompareAndSwap(unused, passed) {
		return true, true
	}
	return false, g.state.Load() == passed
}

// retract undoes the first pass, whose bytes did not get out.
func (g *gate) retract() { g.state.CompareAndSwap(passed, unused) }

// shut reports whether nothing has passed.
func (g *gate) shut() bool { return g.state.Swap(shut) == unused || g.late.Load() }

// heldConn is a connection of our own. It carries one request at a time, and sends bytes only for
// the attempt that holds it, after all earlier input was read: net/http would take the rest of the
// last answer for the next answer.
type heldConn struct {
	net.Conn

	mu      sync.Mutex
	changed *sync.Cond
	holder  *gate
	below   bool // TLS, which reads and writes by itself, is on top
	reading bool
	ended   bool // closed, or reading failed
}

// readPatience is how long a request waits for net/http to read again. It does so at once or never.
const readPatience = time.Second

func newHeldConn(conn net.Conn) *heldConn {
	c := &heldConn{Conn: conn}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// hold gives a connection to an attempt. Through a proxy the gate sees the bytes of TLS, a few more
// than those of the request.
func hold(conn net.Conn, attempt *gate) {
	over, below := conn.(interface{ NetConn() net.Conn })
	if below {
		conn = over.NetConn()
	}
	held, ok := conn.(*heldConn)
	if !ok { // bytes written to it cannot be seen
		attempt.pass()
		return
	}
	held.mu.Lock()
	defer held.mu.Unlock()
	held.holder, held.below = attempt, below
}

// Read refuses an answer that arrives before its request.
func (c *heldConn) Read(p []byte) (int, error) {
	c.set(&c.reading)
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	c.reading = false
	if n > 0 && c.holder != nil && !c.below && c.holder.state.Load() != passed {
		n, err = 0, errUnasked
	}
	c.mu.Unlock()
	if err != nil {
		c.set(&c.ended)
	}
	return n, err
}

// Write begins a request only while the connection is being read, so that no earlier input is left.
func (c *heldConn) Write(p []byte) (int, error) {
	holder, first, ok := c.begin()
	if holder == nil { // before the first request
		return c.Conn.Write(p)
	}
	if !ok {
		return 0, errOver
	}
	n, err := c.Conn.Write(p)
	if first && n == 0 && err != nil { // the connection was closed while idle
		holder.retract()
	}
	return n, err
}

// begin waits until a request may begin. It may not begin if its answer would not be read.
func (c *heldConn) begin() (holder *gate, first, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holder == nil {
		return nil, false, true
	}
	if !c.decided() {
		expired := false
		timer := time.AfterFunc(readPatience, func() { c.set(&expired) })
		defer timer.Stop()
		for !c.decided() && !expired {
			c.changed.Wait()
		}
	}
	if c.holder.state.Load() == unused && !c.reading {
		return c.holder, false, false
	}
	first, ok = c.holder.pass()
	return c.holder, first, ok
}

// decided reports whether begin can decide.
func (c *heldConn) decided() bool {
	return c.reading || c.ended || c.holder.state.Load() != unused
}

// Close implements net.Conn.
func (c *heldConn) Close() error {
	c.set(&c.ended)
	return c.Conn.Close()
}

func (c *heldConn) set(flag *bool) {
	c.mu.Lock()
	*flag = true
	c.mu.Unlock()
	c.changed.Broadcast()
}
