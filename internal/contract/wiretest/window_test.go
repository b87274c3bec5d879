package wiretest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quickstream-go/quickstream"
)

// TestTooLateWhenConnected: sending again is in time when the connection is asked
// for, and too late when it is there. The service has forgotten the key by then.
func TestTooLateWhenConnected(t *testing.T) {
	for _, f := range []fault{
		{name: "carried out", when: committed},
		{name: "carried out and half answered", when: committed, cut: 20},
		{name: "not carried out", when: request},
	} {
		for _, void := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/void=%t", f.name, void), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { tooLate(t, f, void) })
			})
		}
	}
}

// tooLate makes a call whose second connection takes longer than a minute.
func tooLate(t *testing.T, f fault, void bool) {
	t.Helper()
	inMemory := route{name: "in memory", caller: func(*tls.Config) *http.Transport { return new(http.Transport) }}
	patient := setting{resends: true, opts: []quickstream.ClientOption{quickstream.WithAttemptTimeout(time.Hour)}}
	listener := newMemory()
	x := newScene(t, inMemory, patient, void, listener)
	dials := 0
	x.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		if dials++; dials > 1 {
			select {
			case <-time.After(time.Minute + time.Second):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return listener.dial(ctx)
	}
	// net/http may send the header before it asks for the body, which it must not get.
	if res := x.check(f, nil); res.whole != 1 || !errors.Is(res.err, quickstream.ErrOutcomeUnknown) {
		t.Errorf("sent again after a minute: %d requests, %d effects: %v", res.whole, res.effects, res.err)
	}
}

// memory is a listener whose connections a test's bubble can wait for.
type memory struct {
	conns chan net.Conn
	ended chan struct{}
}

func newMemory() *memory { return &memory{conns: make(chan net.Conn), ended: make(chan struct{})} }

func (m *memory) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.ended:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (m *memory) Close() error {
	close(m.ended)
	return nil
}

// Addr implements net.Listener.
func (m *memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
