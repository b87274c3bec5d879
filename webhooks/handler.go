package webhooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// DefaultReadTimeout is how long a body may take to arrive, unless
// [WithReadTimeout] says otherwise.
const DefaultReadTimeout = 10 * time.Second

// A Func handles a notification. It is where a merchant stores the notification
// by its ID and digest, or commits its effect. Nil means that the notification is
// taken care of and need not come again; so does [ErrConflict], which is reported
// too. Any other error means that it should.
//
// The context is the request's: it ends when the sender goes away.
type Func func(ctx context.Context, n *Notification) error

// Failure is a delivery that was not acknowledged, or that was and is for a human
// to look at: an [ErrConflict].
type Failure struct {
	// Status is what the sender was answered: 200 for an [ErrConflict].
	Status int
	// Notification is nil when the request was refused before anything was asked
	// to handle it.
	Notification *Notification
	// Err is why: an error of [Verifier.Verify], of the function or the [Store], or
	// a [PanicError].
	Err error
}

// PanicError is a panic of the function, or of the signature scheme.
type PanicError struct {
	value func() any
	stack []byte
}

// Error does not print the value of the panic, which can be anything.
func (e *PanicError) Error() string { return "webhooks: panic while handling a notification" }

// Value returns the value of the panic.
func (e *PanicError) Value() any { return e.value() }

// Stack returns the stack at the panic.
func (e *PanicError) Stack() []byte { return e.stack }

// Format writes what Error returns, for every verb.
func (e *PanicError) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.Error()) }

type handlerConfig struct {
	readTimeout time.Duration
	tolerance   time.Duration
	store       Store
	logger      *slog.Logger
	report      func(context.Context, Failure)
}

// A HandlerOption changes how the handler of [NewHandler] works.
type HandlerOption func(*handlerConfig)

// WithReadTimeout limits how long a body may take to arrive, whatever the
// server's own limits are. A limit that is not positive leaves the default.
//
// The response writer has to support [http.ResponseController.SetReadDeadline]:
// middleware that wraps it needs an Unwrap method.
func WithReadTimeout(d time.Duration) HandlerOption {
	return func(c *handlerConfig) {
		if d > 0 {
			c.readTimeout = d
		}
	}
}

// WithStore calls the function once for each notification, as far as the store
// remembers. It is for handling notifications at once, without an inbox. A
// signature may be as old as [StoreTolerance], since what is played again is
// recognised by its ID and digest.
func WithStore(store Store) HandlerOption {
	return func(c *handlerConfig) {
		if store != nil {
			c.store, c.tolerance = store, StoreTolerance
		}
	}
}

// WithLogger logs deliveries: at debug level when acknowledged, as a warning when
// refused or in an [ErrConflict], and as an error when the function failed. A
// record holds the status, the duration, the ID and the event type of a verified
// notification, the latter if it is known, and a reason in this package's words;
// never a header, a body, or the text of the function's error. Without a logger
// nothing is logged.
func WithLogger(logger *slog.Logger) HandlerOption {
	return func(c *handlerConfig) { c.logger = logger }
}

// WithFailureReport calls report for each delivery that is not acknowledged, and
// for each [ErrConflict], with the request's context. The connection is free again
// when it returns.
func WithFailureReport(report func(ctx context.Context, f Failure)) HandlerOption {
	return func(c *handlerConfig) { c.report = report }
}

type handler struct {
	verifier *Verifier
	handle   Func
	config   handlerConfig
	// unlimited warns once that the read deadline cannot be set.
	unlimited sync.Once
}

// NewInbox returns the handler of a webhook endpoint that only keeps what it
// receives, for a job to confirm and to act on. It is [NewHandler] for a keep that
// stores n.Raw under n.ID and n.Digest, unless the two are there already, for at
// least eight days: a signature may be as old as [StoreTolerance], since what is
// played again is recognised. Where the ID is there with another digest, keep stores
// the new content beside the old and returns [ErrConflict].
func NewInbox(verifier *Verifier, keep Func, opts ...HandlerOption) http.Handler {
	kept := func(c *handlerConfig) { c.tolerance = StoreTolerance }
	return NewHandler(verifier, keep, append([]HandlerOption{kept}, opts...)...)
}

// NewHandler returns the handler of a webhook endpoint. It answers
//
//	200  when the function returned nil or [ErrConflict], and never before
//	400  when a verified body is not a notification, or the body broke off
//	401  when the signature or the Basic credentials are missing or wrong, or the
//	     signature is older than what the store remembers
//	405  when the request is not a POST
//	408  when the body took too long
//	413  when the body is too large
//	415  when the body has a content encoding
//	500  when the function returned an error or panicked
//
// without a body: a sender is not told why. The reasons go to [WithLogger] and
// [WithFailureReport].
//
// The handler limits the time for the body. The time for the headers, and the
// number of connections, are limited by the [http.Server], which by default does
// not: see the example Server.
//
// A notification that was signed more than [signature.DefaultTolerance] ago is
// refused, unless the handler has a [WithStore] or the verifier a [WithTolerance].
func NewHandler(verifier *Verifier, handle Func, opts ...HandlerOption) http.Handler {
	h := &handler{verifier: verifier, handle: handle, config: handlerConfig{
		readTimeout: DefaultReadTimeout, tolerance: signature.DefaultTolerance,
	}}
	for _, opt := range opts {
		if opt != nil {
			opt(&h.config)
		}
	}
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	status, n, err := h.serve(w, r)
	switch status {
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	case http.StatusUnauthorized:
		// Some clients send credentials only when asked for them.
		if h.verifier.basic != nil {
			w.Header().Set("WWW-Authenticate", `Basic realm="webhooks"`)
		}
	}
	w.WriteHeader(status)
	h.log(r.Context(), status, n, err, time.Since(start))
	if err != nil && h.config.report != nil {
		h.config.report(r.Context(), Failure{status, n, err})
	}
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) (status int, n *Notification, err error) {
	defer func() {
		if value := recover(); value != nil {
			status, err = http.StatusInternalServerError, &PanicError{func() any { return value }, debug.Stack()}
		}
	}()
	if n, err = h.receive(w, r); err != nil {
		return refusal(err), nil, err
	}
	if h.config.store == nil {
		err = h.handle(r.Context(), n)
	} else {
		err = h.config.store.Once(r.Context(), n, h.handle)
	}
	switch {
	case err == nil, errors.Is(err, ErrConflict):
		return http.StatusOK, n, err
	case h.config.store != nil && errors.Is(err, signature.ErrTooOld):
		return http.StatusUnauthorized, n, err
	default:
		return http.StatusInternalServerError, n, err
	}
}

func (h *handler) receive(w http.ResponseWriter, r *http.Request) (*Notification, error) {
	// The server lifts the deadline at the end of the body, so that it does not end
	// the context of a function that takes its time.
	err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.config.readTimeout))
	if err != nil && h.config.logger != nil {
		h.unlimited.Do(func() {
			h.config.logger.LogAttrs(r.Context(), slog.LevelWarn, "webhook endpoint cannot limit the time for a body",
				slog.String("reason", "the response writer does not support read deadlines"))
		})
	}
	return h.verifier.verify(w, r, h.config.tolerance)
}

// refusal returns the status for an error of the verifier.
func refusal(err error) int {
	if _, ok := errors.AsType[*ParseError](err); ok {
		return http.StatusBadRequest
	}
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	switch {
	case errors.Is(err, ErrMethod):
		return http.StatusMethodNotAllowed
	case errors.Is(err, ErrContentEncoding):
		return http.StatusUnsupportedMediaType
	case errors.Is(err, ErrBodyTooLarge):
		return http.StatusRequestEntityTooLarge
	case ok && timeout.Timeout():
		return http.StatusRequestTimeout
	case errors.Is(err, ErrBody):
		return http.StatusBadRequest
	default: // the credentials, or one of package signature's
		return http.StatusUnauthorized
	}
}

func (h *handler) log(ctx context.Context, status int, n *Notification, err error, took time.Duration) {
	if h.config.logger == nil {
		return
	}
	attrs := make([]slog.Attr, 0, 5)
	attrs = append(attrs, slog.Int("status", status), slog.Duration("duration", took))
	if n != nil {
		attrs = append(attrs, slog.String("notification", n.ID), slog.String("event_type", n.EventType.label()))
	}
	level, message := slog.LevelDebug, "webhook notification handled"
	switch {
	case err == nil:
	case status == http.StatusOK:
		level = slog.LevelWarn
	case status < http.StatusInternalServerError:
		level, message = slog.LevelWarn, "webhook request refused"
	default:
		level, message = slog.LevelError, "webhook notification failed"
	}
	if err != nil {
		attrs = append(attrs, slog.String("reason", reason(err)))
	}
	h.config.logger.LogAttrs(ctx, level, message, attrs...)
}

// reason is an error in this module's words: the text of any other error may
// repeat what was received.
func reason(err error) string {
	if e, ok := errors.AsType[*ParseError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*PanicError](err); ok {
		return e.Error()
	}
	for _, known := range []error{
		ErrMethod, ErrContentEncoding, ErrCredentials, ErrBodyTooLarge, ErrBody,
		signature.ErrMissing, signature.ErrMalformed, signature.ErrMismatch, signature.ErrTooOld, signature.ErrTooNew,
		ErrInProgress, ErrConflict, ErrUnconfirmed,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "the function returned an error"
}
