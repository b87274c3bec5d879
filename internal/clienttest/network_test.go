package clienttest_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// Real sockets on this machine, for what connections in memory cannot show. Every
// client here uses the client's own transport.

// server starts a server and returns a client of it, and counts its connections.
func server(t *testing.T, handler http.HandlerFunc, start func(*httptest.Server), opts ...quickstream.ClientOption) (*quickstream.Client, *atomic.Int64) {
	t.Helper()
	connections := new(atomic.Int64)
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	start(s)
	t.Cleanup(s.Close)
	if s.TLS != nil && opts == nil {
		pool := x509.NewCertPool()
		pool.AddCert(s.Certificate())
		opts = append(opts, quickstream.WithRootCAs(pool))
	}
	client, err := quickstream.NewClient(quickstream.CustomURL(s.URL+"/rest/v1"), testKeys(), opts...)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client, connections
}

func plain(s *httptest.Server)  { s.Start() }
func secure(s *httptest.Server) { s.StartTLS() }
func http2(s *httptest.Server)  { s.EnableHTTP2 = true; s.StartTLS() }

func networkKind(t *testing.T, err error) quickstream.NetworkKind {
	t.Helper()
	failed, ok := errors.AsType[*quickstream.NetworkError](err)
	require.True(t, ok, "%v", err)
	return failed.Kind
}

// closedPort is an address that nothing listens on.
func closedPort(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return "http://" + listener.Addr().String()
}

// raw answers with bytes of its own and closes the connection.
func raw(t *testing.T, answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if assert.NoError(t, err) {
			_, _ = io.WriteString(conn, answer)
			_ = conn.Close()
		}
	}
}

// TestOwnTransportSpeaksHTTP1, even to a server that would rather not: there a
// connection carries one request at a time.
func TestOwnTransportSpeaksHTTP1(t *testing.T) {
	client, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "HTTP/1.1", r.Proto)
		assert.Equal(t, "key-1", r.Header.Get("Idempotency-Key"))
		user, _, _ := r.BasicAuth()
		assert.Equal(t, "SECRET_KEY_1", user)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"singleUseTokenId":"T-1"}`)
	}, http2)
	err := client.Do(t.Context(), quickstream.Request{Method: http.MethodPost, Route: "/notes"}, nil, quickstream.WithIdempotencyKey("key-1"))
	require.NoError(t, err)
}

// TestAttack20ProxyCredentials: a proxy that wants credentials is asked once, and gets
// nothing of the payment. Credentials for it go to nobody else, and into no error.
func TestAttack20ProxyCredentials(t *testing.T) {
	var asked, served atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		assert.Equal(t, http.MethodConnect, r.Method)
		if r.Header.Get("Proxy-Authorization") == "" {
			w.Header().Set("Proxy-Authenticate", "Basic")
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		tunnel(t, w, r.Host)
	}))
	t.Cleanup(proxy.Close)
	target := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		assert.Empty(t, r.Header.Get("Proxy-Authorization"))
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(target.Close)
	pool := x509.NewCertPool()
	pool.AddCert(target.Certificate())
	through := func(address string) *quickstream.Client {
		u, err := url.Parse(address)
		require.NoError(t, err)
		client, err := quickstream.NewClient(quickstream.CustomURL(target.URL), testKeys(), quickstream.WithProxy(http.ProxyURL(u)), quickstream.WithRootCAs(pool))
		require.NoError(t, err)
		t.Cleanup(client.CloseIdleConnections)
		return client
	}
	_, err := through(proxy.URL).Transactions.Pay(t.Context(), payment())
	assert.Equal(t, quickstream.NetworkKindProxy, networkKind(t, err))
	assert.EqualValues(t, 1, asked.Load(), "it is not tried again")
	assert.Zero(t, served.Load())

	credentials := strings.Replace(proxy.URL, "http://", "http://user:proxy-password@", 1)
	_, err = through(credentials).Transactions.Get(t.Context(), "R-1")
	assert.ErrorIs(t, err, quickstream.ErrNotFound)
	assert.EqualValues(t, 1, served.Load())

	proxy.Close()
	_, err = through(credentials).Transactions.Pay(t.Context(), payment(), quickstream.WithMaxAttempts(1))
	assert.Equal(t, quickstream.NetworkKindConnectionRefused, networkKind(t, err))
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		assert.NotContains(t, fmt.Sprintf("%+v", cause), "proxy-password")
	}
}

// tunnel connects two sockets, as a proxy does.
func tunnel(t *testing.T, w http.ResponseWriter, host string) {
	t.Helper()
	target, err := net.Dial("tcp", host)
	if !assert.NoError(t, err) {
		return
	}
	defer target.Close()
	conn, _, err := w.(http.Hijacker).Hijack()
	if !assert.NoError(t, err) {
		return
	}
	defer conn.Close()
	_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	assert.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = io.Copy(target, conn); target.Close() })
	_, _ = io.Copy(conn, target)
	conn.Close()
	wg.Wait()
}

// certificate returns one that is good for a host and until a time, and a pool that
// trusts it.
func certificate(t *testing.T, host string, until time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: until, IsCA: true, BasicConstraintsValid: true}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// TestAttack21WrongCertificate: who cannot prove to be the service gets one handshake and
// not a byte of a payment.
func TestAttack21WrongCertificate(t *testing.T) {
	const host = "127.0.0.1"
	later := time.Now().Add(time.Hour)
	good, pool := certificate(t, host, later)
	expired, ofExpired := certificate(t, host, later.Add(-2*time.Hour))
	other, ofOther := certificate(t, "other.invalid", later)
	for name, c := range map[string]struct {
		certificate tls.Certificate
		roots       *x509.CertPool
	}{
		"this machine's roots": {good, nil}, "other roots": {good, ofOther}, "no roots": {good, x509.NewCertPool()},
		"expired": {expired, ofExpired}, "another host's": {other, ofOther},
	} {
		received := 0
		client, connections := server(t, func(http.ResponseWriter, *http.Request) { received++ }, func(s *httptest.Server) {
			s.TLS = &tls.Config{Certificates: []tls.Certificate{c.certificate}, MinVersion: tls.VersionTLS12}
			s.StartTLS()
		}, quickstream.WithRootCAs(c.roots))
		_, err := client.Transactions.Pay(t.Context(), payment())
		assert.Equal(t, quickstream.NetworkKindCertificate, networkKind(t, err), name)
		assert.EqualValues(t, 1, connections.Load(), "%s: it is not tried again", name)
		assert.ErrorContains(t, err, "WithRootCAs", name)
		assert.Zero(t, received, name)
	}
	client, _ := server(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, approvedBody) }, func(s *httptest.Server) {
		s.TLS = &tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS12}
		s.StartTLS()
	}, quickstream.WithRootCAs(pool))
	_, err := client.Transactions.Pay(t.Context(), payment())
	assert.NoError(t, err)
}
