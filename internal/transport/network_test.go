package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCondition(t *testing.T) {
	op := func(name string, err error) error { return &net.OpError{Op: name, Net: "tcp", Err: err} }
	sys := func(name string, errno syscall.Errno) error { return op(name, os.NewSyscallError("connect", errno)) }
	for _, c := range []struct {
		err       error
		kind      Kind
		temporary bool
	}{
		{&net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}, KindDNS, false},
		{op("dial", &net.DNSError{Err: "server misbehaving", IsTemporary: true}), KindDNS, true},
		{&net.DNSError{Err: "i/o timeout", IsTimeout: true}, KindDNS, true},

		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, KindCertificate, false},
		{&tls.CertificateVerificationError{Err: errors.New("no certificates of the system")}, KindCertificate, false},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, KindTLS, false},
		{tls.AlertError(40), KindTLS, false},
		{op("remote error", tls.AlertError(42)), KindTLS, false},

		{ErrProxyAuth, KindProxy, false},
		{op("proxyconnect", ErrProxyAuth), KindProxy, false},
		{errors.New("Proxy Authentication Required"), KindProxy, false},
		{errors.New("a message with Proxy Authentication Required in it"), KindOther, true},

		{sys("dial", syscall.ECONNREFUSED), KindConnectionRefused, true},
		{sys("dial", syscall.Errno(10061)), KindConnectionRefused, true}, // as Windows says it
		{sys("read", syscall.Errno(10054)), KindReset, true},
		{sys("write", syscall.Errno(10053)), KindReset, true},
		{sys("dial", syscall.ENETUNREACH), KindOther, true},
		{op("dial", context.DeadlineExceeded), KindTimeout, true},
		{op("dial", os.ErrDeadlineExceeded), KindTimeout, true},

		{sys("read", syscall.ECONNRESET), KindReset, true},
		{sys("write", syscall.EPIPE), KindReset, true},
		{io.EOF, KindReset, true},
		{io.ErrUnexpectedEOF, KindReset, true},
		{op("read", net.ErrClosed), KindReset, true},
		{io.ErrClosedPipe, KindReset, true},
		{op("read", os.ErrDeadlineExceeded), KindTimeout, true},
		{context.DeadlineExceeded, KindTimeout, true},
		{context.Canceled, KindCancelled, false},
		{errors.New("anything"), KindOther, true},
	} {
		for _, err := range []error{c.err, fmt.Errorf("wrapped: %w", c.err), &url.Error{Op: "Get", URL: "https://h.invalid/", Err: c.err}} {
			if c.kind == KindProxy && !errors.Is(err, ErrProxyAuth) && err != c.err { //nolint:errorlint // the very same
				continue // a text is known by itself only
			}
			kind, temporary := condition(err)
			assert.Equal(t, c.kind, kind, "%v", err)
			assert.Equal(t, c.temporary, temporary, "%v", err)
		}
	}
	kind, _ := condition(nil)
	assert.Equal(t, KindOther, kind)
}

// TestClean: addresses carry account numbers in their queries, and no error of
// this package shows one.
func TestClean(t *testing.T) {
	at := func(err error) error {
		return &url.Error{Op: "Get", URL: "https://key:@h.invalid/t?accountNumber=999994", Err: err}
	}
	for _, err := range []error{
		at(io.EOF), at(at(io.EOF)), fmt.Errorf("sending %w", at(io.EOF)), fmt.Errorf("a: %w", at(fmt.Errorf("b: %w", at(io.EOF)))),
		errors.Join(at(io.EOF)),
	} {
		clean := clean(err)
		assert.ErrorIs(t, clean, io.EOF)
		var address *url.Error
		assert.NotErrorAs(t, clean, &address)
		assert.NotContains(t, clean.Error(), "999994")
		assert.NotContains(t, clean.Error(), "key")
	}
	assert.Equal(t, io.EOF, clean(io.EOF))
	assert.NoError(t, clean(nil))
}

// TestOwnTransport: a payment goes through no proxy of the environment, and over no old TLS.
func TestOwnTransport(t *testing.T) {
	for _, config := range []HTTPConfig{{}, {Client: &http.Client{}}} {
		client, own := newHTTPClient(config)
		assert.True(t, own)
		tuned, ok := client.Transport.(*http.Transport)
		require.True(t, ok)
		assert.Greater(t, tuned.MaxIdleConns, tuned.MaxIdleConnsPerHost, "of more than one host")
		assert.Nil(t, tuned.Proxy, "no proxy that nobody asked for")
		assert.GreaterOrEqual(t, tuned.TLSClientConfig.MinVersion, uint16(tls.VersionTLS12))
	}
}
