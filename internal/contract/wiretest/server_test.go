package wiretest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// guard is after how many requests of one call the server answers none any more.
const guard = 20

// moment is how far a request gets before the server misbehaves.
type moment int

const (
	never     moment = iota // the server is honest
	firstByte               // of the request; over HTTP/2 its HEADERS
	header
	partOfBody
	request   // all of it has arrived, and is not carried out
	committed // the sandbox has carried it out
)

// fault is what the server does in place of an answer.
type fault struct {
	name   string
	when   moment
	cut    int           // HTTP/1.1: how many bytes of the answer are sent nevertheless
	reset  bool          // HTTP/1.1: the connection ends with RST and not with FIN
	frames func(*stream) // HTTP/2
}

// server stands in front of a sandbox.
type server struct {
	box      http.Handler
	listener net.Listener
	tls      *tls.Config // nil for plain
	running  sync.WaitGroup

	mu    sync.Mutex
	conns map[*conn]bool
	fault fault
	tally tally
}

// tally counts what the server saw of one call.
type tally struct {
	begun    int // requests of which something arrived
	whole    int // requests that arrived to their end
	answered int // successes that were sent whole
	length   int // of the last answer over HTTP/1.1
	head     int // of its part before the body
}

// conn is a connection, with TLS or without. raw is what lies below.
type conn struct {
	net.Conn
	raw  net.Conn
	gone chan struct{} // closed when nobody serves it any more

	writing sync.Mutex // of frames
	framer  *http2.Framer
	leaving bool // it has sent GOAWAY
}

func serve(t *testing.T, box http.Handler, listener net.Listener, config *tls.Config) *server {
	s := &server{box: box, listener: listener, tls: config, conns: make(map[*conn]bool)}
	s.running.Go(func() {
		for {
			raw, err := listener.Accept()
			if err != nil {
				return
			}
			s.accept(raw)
		}
	})
	t.Cleanup(func() { s.close(t) })
	return s
}

func (s *server) accept(raw net.Conn) {
	c := &conn{Conn: raw, raw: raw, gone: make(chan struct{})}
	s.mu.Lock()
	s.conns[c] = true
	s.mu.Unlock()
	s.running.Go(func() {
		defer func() {
			raw.Close()
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
			close(c.gone)
		}()
		if s.tls == nil {
			s.serveHTTP1(c)
			return
		}
		secure := tls.Server(raw, s.tls)
		if secure.Handshake() != nil {
			return
		}
		c.Conn = secure
		if secure.ConnectionState().NegotiatedProtocol == http2.NextProtoTLS {
			s.serveHTTP2(c)
			return
		}
		s.serveHTTP1(c)
	})
}

// arm starts the count of a new call, whose requests meet f.
func (s *server) arm(f fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.tally = f, tally{}
}

// begin counts a request and says what it meets.
func (s *server) begin() fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.begun++
	if s.tally.begun > guard {
		return fault{when: firstByte}
	}
	met := s.fault // by one request
	s.fault = fault{}
	return met
}

// carryOut has the sandbox answer a request.
func (s *server) carryOut(r *http.Request) *http.Response {
	recorder := httptest.NewRecorder()
	s.box.ServeHTTP(recorder, r)
	return recorder.Result()
}

// answering is called before the last of an answer is sent.
func (s *server) answering(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status < 300 {
		s.tally.answered++
	}
}

// arrived counts a request that has come to its end.
func (s *server) arrived() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.whole++
}

// measure keeps the length of an answer.
func (s *server) measure(answer []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.length, s.tally.head = len(answer), bytes.Index(answer, []byte("\r\n\r\n"))+4
}

// open returns the connections there are.
func (s *server) open() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		list = append(list, c)
	}
	return list
}

// finish ends all connections and returns what was counted.
func (s *server) finish() tally {
	for _, c := range s.open() {
		c.end(false)
		<-c.gone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tally
}

func (s *server) close(t *testing.T) {
	if err := s.listener.Close(); err != nil {
		t.Error(err)
	}
	s.finish()
	s.running.Wait()
}

// end closes a connection, with RST where that exists.
func (c *conn) end(reset bool) {
	if tcp, ok := c.raw.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	_ = c.raw.Close()
}

// leave sends FIN and returns when the client has closed its side too, so that it
// knows.
func (c *conn) leave() {
	_ = c.raw.(*net.TCPConn).CloseWrite()
	<-c.gone
}

// certificate returns one for this machine, and a pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}
