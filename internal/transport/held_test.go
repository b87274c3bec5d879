package transport

import (
	"net"
	"testing"

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
		conn := &heldConn{Conn: brokenConn{takes: takes}}
		hold(conn, attempt)
		_, err := conn.Write([]byte("POST"))
		assert.ErrorIs(t, err, net.ErrClosed)
		assert.Equal(t, unsent, attempt.shut(), "%d bytes were taken", takes)
		_, err = conn.Write([]byte("POST"))
		assert.ErrorIs(t, err, errOver)
	}
	attempt := new(gate)
	hold(brokenConn{}, attempt)
	assert.False(t, attempt.shut(), "nobody knows what is written to it")
	twice := new(gate)
	conn := &heldConn{Conn: brokenConn{}}
	hold(conn, twice)
	twice.pass() // the body
	_, err := conn.Write([]byte("POST"))
	assert.Error(t, err)
	assert.False(t, twice.shut(), "something had passed before")
}
