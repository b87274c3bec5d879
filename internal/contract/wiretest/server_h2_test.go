package wiretest

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// stream is a request over HTTP/2 and, once it was carried out, its answer.
type stream struct {
	*conn
	id     uint32
	fault  fault
	head   *http2.MetaHeadersFrame
	sent   bytes.Buffer // the request's body
	status int
	header http.Header
	body   []byte
}

// write sends frames; nobody else does meanwhile. What the client does not want
// any more it need not get.
func (c *conn) write(frames func(*http2.Framer) error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.framer != nil { // otherwise the client chose HTTP/1.1
		_ = frames(c.framer)
	}
}

// serveHTTP2 reads the frames of a connection to its end.
func (s *server) serveHTTP2(c *conn) {
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	frames := http2.NewFramer(c, c)
	frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.writing.Lock()
	c.framer = frames
	c.writing.Unlock()
	c.write(func(f *http2.Framer) error { return f.WriteSettings() })
	streams := make(map[uint32]*stream)
	for {
		frame, err := frames.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				c.write((*http2.Framer).WriteSettingsAck)
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				c.write(func(f *http2.Framer) error { return f.WritePing(true, frame.Data) })
			}
		case *http2.MetaHeadersFrame:
			if x := s.header2(c, frame); x != nil {
				streams[x.id] = x
				s.request2(x, frame.StreamEnded())
			}
		case *http2.DataFrame:
			if x := streams[frame.StreamID]; x != nil {
				x.sent.Write(frame.Data())
				s.request2(x, frame.StreamEnded())
			}
		}
	}
}

// header2 begins a stream, unless the fault is met at once.
func (s *server) header2(c *conn, frame *http2.MetaHeadersFrame) *stream {
	c.writing.Lock()
	leaving := c.leaving
	c.writing.Unlock()
	if leaving { // as GOAWAY promised
		return nil
	}
	x := &stream{conn: c, id: frame.StreamID, fault: s.begin(), head: frame}
	switch x.fault.when {
	case firstByte:
		c.end(true)
	case header:
		x.fault.frames(x)
	default:
		return x
	}
	return nil
}

// request2 answers a request that has arrived to its end.
func (s *server) request2(x *stream, ended bool) {
	if !ended {
		return
	}
	s.arrived()
	address, err := url.ParseRequestURI(x.head.PseudoValue("path"))
	if err != nil {
		x.end(true)
		return
	}
	r := &http.Request{
		Method: x.head.PseudoValue("method"), Host: x.head.PseudoValue("authority"), URL: address,
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: http.Header{}, Body: io.NopCloser(&x.sent),
	}
	for _, f := range x.head.RegularFields() {
		r.Header.Add(f.Name, f.Value)
	}
	resp := s.carryOut(r)
	defer resp.Body.Close()
	x.status, x.header = resp.StatusCode, resp.Header
	x.body, _ = io.ReadAll(resp.Body) // from memory
	if x.fault.when == committed {
		x.fault.frames(x)
		return
	}
	s.answering(x.status)
	x.answer(len(x.body))
}

// answer sends the answer's HEADERS and so much of its DATA.
func (x *stream) answer(n int) {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	field := func(name, value string) { _ = encoder.WriteField(hpack.HeaderField{Name: name, Value: value}) } // into memory
	field(":status", strconv.Itoa(x.status))
	for name, values := range x.header {
		for _, value := range values {
			field(strings.ToLower(name), value)
		}
	}
	x.write(func(f *http2.Framer) error {
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: x.id, BlockFragment: block.Bytes(), EndHeaders: true}); err != nil || n == 0 {
			return err
		}
		return f.WriteData(x.id, n == len(x.body), x.body[:n])
	})
}

// resetStream sends RST_STREAM.
func (x *stream) resetStream(code http2.ErrCode) {
	x.write(func(f *http2.Framer) error { return f.WriteRSTStream(x.id, code) })
}

// goAway sends GOAWAY, after which requests beyond last are ignored.
func (c *conn) goAway(last uint32, code http2.ErrCode) {
	c.write(func(f *http2.Framer) error {
		c.leaving = true
		return f.WriteGoAway(last, code, nil)
	})
}
