package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// Kind names a network condition.
type Kind string

// The network conditions that callers can act on.
const (
	KindDNS               Kind = "dns"
	KindCertificate       Kind = "certificate"
	KindProxy             Kind = "proxy"
	KindConnectionRefused Kind = "connection_refused"
	KindTLS               Kind = "tls"
	KindTimeout           Kind = "timeout"
	KindReset             Kind = "reset"
	KindCancelled         Kind = "cancelled" // of the caller's context
	KindDeadline          Kind = "deadline"  // of the caller's context or of the whole call
	KindOther             Kind = "other"
)

// ErrProxyAuth is the cause when a proxy asks for credentials.
var ErrProxyAuth = errors.New("the proxy answered 407 Proxy Authentication Required")

// proxyAuthText is net/http's text for a 407 on CONNECT, an untyped error if the transport is not
// ours.
const proxyAuthText = "Proxy Authentication Required"

// Windows has its own numbers for ECONNREFUSED and ECONNRESET.
const (
	windowsAborted = syscall.Errno(10053)
	windowsReset   = syscall.Errno(10054)
	windowsRefused = syscall.Errno(10061)
)

// condition classifies err and says whether it is temporary.
func condition(err error) (kind Kind, temporary bool) {
	var (
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
		timeout     net.Error
	)
	switch {
	case errors.As(err, &dns):
		return KindDNS, dns.IsTemporary || dns.IsTimeout
	case errors.As(err, &certificate):
		return KindCertificate, false
	case errors.Is(err, ErrProxyAuth), err != nil && err.Error() == proxyAuthText:
		return KindProxy, false
	case errors.As(err, &record), errors.As(err, &alert):
		return KindTLS, false
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, windowsRefused):
		return KindConnectionRefused, true
	case errors.Is(err, context.Canceled):
		return KindCancelled, false
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return KindTimeout, true
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, windowsReset), errors.Is(err, windowsAborted),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, net.ErrClosed):
		return KindReset, true
	}
	return KindOther, true
}

// unquoted hides the text of an error in which net/http quotes an answer that is not HTTP: it may
// repeat values of the request.
func unquoted(err error) error {
	if strings.Contains(err.Error(), "transport connection broken: ") {
		return broken{func() error { return err }}
	}
	return err
}

// broken is an error that errors.Is and errors.As find, without its text.
type broken struct{ cause func() error }

func (broken) Error() string          { return "the HTTP connection broke" }
func (b broken) Is(target error) bool { return errors.Is(b.cause(), target) }
func (b broken) As(target any) bool   { return errors.As(b.cause(), target) }

// ended says how a context ended.
func ended(err error) Kind {
	if errors.Is(err, context.DeadlineExceeded) {
		return KindDeadline
	}
	return KindCancelled
}

// clean removes the address from err: its query can contain account numbers.
func clean(err error) error {
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	return err
}
