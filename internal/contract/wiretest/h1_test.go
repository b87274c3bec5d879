package wiretest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/quickstream-go/quickstream"
)

// used has a call go out on a connection that an earlier one has used: only there
// net/http repeats requests over HTTP/1.1.
func used() {}

// TestAnswerCutOff: the service has done what it was asked, and the connection ends
// somewhere in the answer.
func TestAnswerCutOff(t *testing.T) {
	each(t, routes(), func(x *scene) {
		honest := x.check(fault{name: "honest"}, nil)
		const wide = 61 // with TLS, with other settings and in the body
		step := wide
		if !x.route.tls && len(x.setting.opts) == 2 {
			step = 1
		}
		for n := 0; n < honest.length; n += step {
			if n > honest.head {
				step = wide
			}
			f := fault{name: fmt.Sprintf("%d bytes of %d", n, honest.length), when: committed, cut: n, reset: n%4 > 1}
			if n%2 == 0 {
				x.check(f, nil)
			} else {
				x.check(f, used)
			}
		}
		if res := x.check(fault{name: "the whole answer", when: committed, cut: 2 * honest.length}, used); honest.err != nil || res.err != nil {
			x.Errorf("answered, but %v and %v", honest.err, res.err)
		}
	})
}

// TestRequestCutOff: the connection ends before the service has carried anything
// out, which the client cannot know.
func TestRequestCutOff(t *testing.T) {
	each(t, routes(), func(x *scene) {
		for name, when := range map[string]moment{"first byte": firstByte, "header": header, "part of the body": partOfBody, "whole request": request} {
			for _, reset := range []bool{false, true} {
				f := fault{name: fmt.Sprintf("%s, reset %t", name, reset), when: when, reset: reset}
				x.check(f, nil)
				x.check(f, used)
			}
		}
	})
}

// TestClosedWhileIdle: the server gives up a connection that nobody uses.
func TestClosedWhileIdle(t *testing.T) {
	each(t, routes(), func(x *scene) {
		// The client knows: nothing goes to the dead connection.
		if res := x.check(fault{name: "closed and noticed"}, x.closing((*conn).leave)); res.err != nil {
			x.Errorf("closed and noticed: %v", res.err)
		}
		// Whether it knows in time is chance.
		x.check(fault{name: "closed just before"}, x.closing(func(c *conn) { c.end(false) }))
		x.check(fault{name: "reset just before"}, x.closing(func(c *conn) { c.end(true) }))
	})
}

// TestClosedWhenHandedOut: the client has chosen a connection, and sees it closed
// before anything was written. That is no unknown outcome.
func TestClosedWhenHandedOut(t *testing.T) {
	each(t, append(routes(), secureRoutes()...), func(x *scene) {
		x.onReused = x.closing((*conn).leave)
		res := x.check(fault{name: "closed when handed out"}, used)
		if x.route.caller == nil && errors.Is(res.err, quickstream.ErrOutcomeUnknown) {
			x.Errorf("nothing was written: %v", res.err)
		}
	})
}
