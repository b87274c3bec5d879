package wiretest

import (
	"fmt"
	"testing"

	"golang.org/x/net/http2"
)

// breaks are the ways in which a server can end a stream without an answer. Over
// HTTP/1.1 the connection is reset.
func breaks() map[string]func(*stream) {
	list := map[string]func(*stream){
		"closed": func(x *stream) { x.end(false) },
		"reset":  func(x *stream) { x.end(true) },
	}
	for code := range http2.ErrCodeHTTP11Required + 2 { // the last one means nothing
		list["RST_STREAM "+code.String()] = func(x *stream) { x.resetStream(code) }
	}
	for _, code := range []http2.ErrCode{http2.ErrCodeNo, http2.ErrCodeProtocol, http2.ErrCodeInternal, http2.ErrCodeEnhanceYourCalm} {
		list["GOAWAY before the stream, "+code.String()] = func(x *stream) { x.goAway(x.id-1, code) }
		list["GOAWAY with the stream, "+code.String()] = func(x *stream) {
			x.goAway(x.id, code)
			x.end(false)
		}
	}
	return list
}

// TestAttack09StreamBroken: a request over HTTP/2 is carried out, or not, and the stream or
// the connection ends without an answer. No payment is made twice, or said to have failed.
func TestAttack09StreamBroken(t *testing.T) {
	each(t, secureRoutes(), func(x *scene) {
		for name, frames := range breaks() {
			for _, when := range []moment{header, committed} {
				f := fault{name: fmt.Sprintf("%s, committed %t", name, when == committed), when: when, frames: frames, reset: true}
				x.check(f, nil)
				x.check(f, used)
			}
		}
	})
}

// TestStreamAnswerCutOff: the stream ends within the answer of a request that was
// carried out.
func TestStreamAnswerCutOff(t *testing.T) {
	each(t, secureRoutes(), func(x *scene) {
		for name, end := range map[string]func(*stream){
			"closed":        func(x *stream) { x.end(false) },
			"reset":         func(x *stream) { x.end(true) },
			"NO_ERROR":      func(x *stream) { x.resetStream(http2.ErrCodeNo) },
			"PROTOCOL":      func(x *stream) { x.resetStream(http2.ErrCodeProtocol) },
			"REFUSED":       func(x *stream) { x.resetStream(http2.ErrCodeRefusedStream) },
			"GOAWAY before": func(x *stream) { x.goAway(x.id-1, http2.ErrCodeNo) },
		} {
			for _, part := range []int{0, 1, 100} {
				f := fault{name: fmt.Sprintf("%s after HEADERS and %d bytes", name, part), when: committed, frames: func(x *stream) {
					x.answer(part)
					end(x)
				}}
				x.check(f, nil)
				x.check(f, used)
			}
		}
	})
}

// TestHTTP2LeftWhileIdle: the server gives up a connection that nobody uses.
func TestHTTP2LeftWhileIdle(t *testing.T) {
	each(t, secureRoutes(), func(x *scene) {
		for name, end := range map[string]func(*conn){
			"closed and noticed": (*conn).leave,
			"closed":             func(c *conn) { c.end(false) },
			"reset":              func(c *conn) { c.end(true) },
			"GOAWAY":             func(c *conn) { c.goAway(1, http2.ErrCodeNo) },
		} {
			res := x.check(fault{name: name}, x.closing(end))
			if name == "closed and noticed" && res.err != nil {
				x.Errorf("%s: %v", name, res.err)
			}
		}
	})
}
