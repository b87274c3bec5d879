package wiretest

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
)

// serveHTTP1 answers one request after the other, until a fault ends the
// connection.
func (s *server) serveHTTP1(c *conn) {
	in := bufio.NewReader(c)
	for {
		if _, err := in.Peek(1); err != nil {
			return
		}
		f := s.begin()
		r, ok := s.read(in, f)
		if !ok {
			c.end(f.reset)
			return
		}
		answer, status := s.written(r)
		s.measure(answer)
		rest := len(answer)
		if f.when == committed {
			rest = min(f.cut, rest)
		}
		if rest == len(answer) {
			s.answering(status)
		}
		if _, err := c.Write(answer[:rest]); err != nil || f.when != never {
			c.end(f.reset)
			return
		}
	}
}

// read takes a request as far as the fault lets it come; false when that is not
// as far as the sandbox.
func (s *server) read(in *bufio.Reader, f fault) (*http.Request, bool) {
	if f.when == firstByte {
		return nil, false
	}
	r, err := http.ReadRequest(in)
	if err != nil || f.when == header {
		return nil, false
	}
	if f.when == partOfBody {
		_, _ = io.CopyN(io.Discard, r.Body, r.ContentLength/2)
		return nil, false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, false
	}
	s.arrived()
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r, f.when != request
}

// written returns the sandbox's answer as it goes over the wire.
func (s *server) written(r *http.Request) (answer []byte, status int) {
	resp := s.carryOut(r)
	defer resp.Body.Close()
	resp.ProtoMajor, resp.ProtoMinor = 1, 1
	var b bytes.Buffer
	_ = resp.Write(&b) // into memory
	return b.Bytes(), resp.StatusCode
}
