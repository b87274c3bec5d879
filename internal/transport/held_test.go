package transport

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// brokenConn fails after so many bytes.
type brokenConn struct {
	net.Conn
	takes int
}

func (c brokenConn) Write([]byte) (int, error) { return c.takes, net.ErrClosed }

// TestOnlyWhatGotOutCounts: a request of which a connection has taken no byte was not
// sent, and one of which it has taken any may have arrived.
func TestOnlyWhatGotOutCounts(t *testing.T) {
	for takes, unsent := range map[int]bool{0: true, 1: false} {
		attempt := new(gate)
		conn := newHeldConn(brokenConn{takes: takes})
		conn.reading = true
		hold(conn, attempt)
		_, err := conn.Write([]byte("POST"))
		assert.ErrorIs(t, err, net.ErrClosed)
		assert.Equal(t, unsent, attempt.shut(), "%d bytes were taken", takes)
		_, err = conn.Write([]byte("POST"))
		assert.ErrorIs(t, err, errOver)
	}
	synctest.Test(t, func(t *testing.T) {
		conn, start := newHeldConn(brokenConn{takes: 1}), time.Now()
		conn.reading = true
		hold(conn, new(gate))
		for range 2 { // the second part needs nobody who reads
			_, err := conn.Write([]byte("POST"))
			assert.ErrorIs(t, err, net.ErrClosed)
			conn.reading = false
		}
		assert.Zero(t, time.Since(start))
	})
	attempt := new(gate)
	hold(brokenConn{}, attempt)
	assert.False(t, attempt.shut(), "nobody knows what is written to it")
	twice := new(gate)
	conn := newHeldConn(brokenConn{})
	conn.reading = true
	hold(conn, twice)
	twice.pass() // the body
	_, err := conn.Write([]byte("POST"))
	assert.Error(t, err)
	assert.False(t, twice.shut(), "something had passed before")
	slow := &gate{window: window{time.Now().Add(-29 * time.Second), 30 * time.Second}}
	slow.pass()
	slow.window.length = time.Second // which is over when the next part is written
	_, ok := slow.pass()
	assert.True(t, ok)
	assert.False(t, slow.shut(), "something had passed in time")
	for ago, out := range map[time.Duration]bool{29 * time.Second: true, 31 * time.Second: false} {
		claimed := &gate{window: window{time.Now().Add(-ago), 30 * time.Second}}
		conn := newHeldConn(brokenConn{takes: 1})
		conn.reading = true
		hold(conn, claimed)
		_, err := conn.Write([]byte("PATCH")) // without a body
		assert.Equal(t, !out, errors.Is(err, errOver))
		assert.Equal(t, !out, claimed.shut(), "claimed %v ago", ago)
	}
}

// TestNothingIsLeftOver: a request waits until all that came in is read, and what comes in
// while there is none is no answer.
func TestNothingIsLeftOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		conn, attempt := newHeldConn(near), new(gate)
		hold(conn, attempt)
		out := make(chan string, 1)
		go func() {
			got, _ := io.ReadAll(io.LimitReader(far, 4))
			out <- string(got)
		}()
		go func() { _, _ = conn.Write([]byte("POST")) }()
		synctest.Wait()
		begun := time.Now()
		assert.Empty(t, out, "written while something may be left to read")
		in := make(chan error)
		read := func() {
			_, err := conn.Read(make([]byte, 9))
			in <- err
		}
		go read()
		synctest.Wait()
		assert.Equal(t, "POST", <-out)
		assert.Zero(t, time.Since(begun), "it waits no longer than it must")
		_, _ = far.Write([]byte("HTTP"))
		assert.NoError(t, <-in)

		attempt.shut()
		for _, idle := range []*gate{attempt, new(gate)} {
			hold(conn, idle)
			go read()
			_, _ = far.Write([]byte("HTTP"))
			assert.ErrorIs(t, <-in, errUnasked)
		}
		go func() { _, _ = conn.Write([]byte("POST")) }()
		synctest.Wait()
		assert.NoError(t, conn.Close())
		synctest.Wait()
		assert.NoError(t, far.Close())
	})
}

// TestNobodyReads: a request is not begun on a connection that nobody reads.
func TestNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		conn, attempt := newHeldConn(near), new(gate)
		hold(conn, attempt)
		_, err := conn.Write([]byte("POST"))
		assert.ErrorIs(t, err, errOver)
		assert.True(t, attempt.shut(), "nothing was sent")
	})
}

type connOver struct{ net.Conn }

func (c connOver) NetConn() net.Conn { return c.Conn }

// TestTLSReadsByItself: what comes in below TLS before a request, such as its tickets, is no answer.
func TestTLSReadsByItself(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	conn := newHeldConn(near)
	hold(connOver{conn}, new(gate))
	go func() { _, _ = far.Write([]byte("ticket")) }()
	n, err := conn.Read(make([]byte, 9))
	assert.NoError(t, err)
	assert.Equal(t, 6, n)
}

// TestOtherSideEnded: no request is begun on a connection whose other side has ended.
func TestOtherSideEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		conn, attempt := newHeldConn(near), new(gate)
		hold(conn, attempt)
		assert.NoError(t, far.Close())
		_, err := conn.Read(make([]byte, 1))
		assert.ErrorIs(t, err, io.EOF)
		begun := time.Now()
		_, err = conn.Write([]byte("POST"))
		assert.ErrorIs(t, err, errOver)
		assert.Zero(t, time.Since(begun), "nobody will read again")
		assert.True(t, attempt.shut(), "nothing was sent")
	})
}
