package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// MaxBody is the longest body of a notification, in bytes.
const MaxBody = 1 << 20

// readTimeout limits how long a body may take to arrive.
const readTimeout = 10 * time.Second

// A Func handles a notification: it stores it by ID and digest, or commits its effect. Nil
// acknowledges the notification, and so does [ErrConflict], which is also logged. Any other error
// asks for redelivery, and so does a panic, which is left to net/http. The context is the request's and
// ends when the sender goes away. Concurrent requests call a Func concurrently.
type Func func(ctx context.Context, n *Notification) error

type handlerConfig struct {
	tolerance time.Duration
	basic     basicAuth
	store     Store
	logger    *slog.Logger
}

// A HandlerOption configures [NewHandler] and [NewInbox].
type HandlerOption func(*handlerConfig)

// WithStore calls the function once for each notification, as far as the store remembers. Use it to
// handle notifications at once, without an inbox. A signature may be as old as [StoreTolerance],
// because the store recognises replays by ID and digest.
func WithStore(store Store) HandlerOption {
	return func(c *handlerConfig) {
		if store != nil {
			c.store, c.tolerance = store, StoreTolerance
		}
	}
}

// WithLogger logs deliveries: acknowledged ones at debug level, refusals and [ErrConflict] as
// warnings, errors of the function as errors. A record holds the status, the duration, the ID of a
// verified notification, its event type if it is known, and a reason in this package's words. It
// never holds a header, a body or the text of the function's error. By default nothing is logged.
func WithLogger(logger *slog.Logger) HandlerOption {
	return func(c *handlerConfig) { c.logger = logger }
}

type handler struct {
	verifier *signature.Verifier
	handle   Func
	config   handlerConfig
	// unlimited makes the warning about read deadlines appear once.
	unlimited sync.Once
}

// NewInbox returns the handler of a webhook endpoint that only stores notifications, for a job to
// confirm and to act on. It is [NewHandler] with a tolerance of [StoreTolerance].
//
// keep stores n.Raw under n.ID and n.Digest for at least eight days, unless both are stored
// already. If the ID is stored with another digest, it stores the new content as well and
// returns [ErrConflict].
func NewInbox(verifier *signature.Verifier, keep Func, opts ...HandlerOption) http.Handler {
	kept := func(c *handlerConfig) { c.tolerance = StoreTolerance }
	return NewHandler(verifier, keep, append([]HandlerOption{kept}, opts...)...)
}

// NewHandler returns the handler of a webhook endpoint. It answers without a body:
//
//	200            the function returned nil or ErrConflict
//	400            a verified body is not a notification, or the body broke off
//	401            signature or Basic credentials are missing, wrong or too old
//	405, 413, 415  not a POST, too large, or with a content encoding
//	408, 500       the body took too long; the function returned an error
//
// Reasons go to [WithLogger]. A signature may be [signature.DefaultTolerance] old, and with
// [WithStore] as old as [StoreTolerance]. A body has ten seconds to arrive, if the response writer
// supports [http.ResponseController.SetReadDeadline]: middleware that wraps it needs an Unwrap method.
// Set limits for headers and connections on the [http.Server].
func NewHandler(verifier *signature.Verifier, handle Func, opts ...HandlerOption) http.Handler {
	h := &handler{verifier: verifier, handle: handle, config: handlerConfig{tolerance: signature.DefaultTolerance}}
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
		// Some clients send credentials only after they were asked.
		if h.config.basic != nil {
			w.Header().Set("WWW-Authenticate", `Basic realm="webhooks"`)
		}
	}
	w.WriteHeader(status)
	h.log(r.Context(), status, n, err, time.Since(start))
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) (status int, n *Notification, err error) {
	if n, err = h.receive(w, r); err != nil {
		return statusOf(err), nil, err
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
	err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTimeout))
	if err != nil {
		h.unlimited.Do(func() {
			h.record(r.Context(), slog.LevelWarn, "webhook endpoint cannot limit the time for a body",
				slog.String("reason", "the response writer does not support read deadlines"))
		})
	}
	if err := h.admit(r); err != nil {
		return nil, err
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // it would end the function's context if a middleware has read the body
	return verify(h.verifier, h.config.tolerance, r.Header, body)
}

// statusOf returns the answer to a request that is refused.
func statusOf(err error) int {
	if r, ok := errors.AsType[refused](err); ok {
		return r.status
	}
	if _, ok := errors.AsType[*ParseError](err); ok {
		return http.StatusBadRequest
	}
	return http.StatusUnauthorized // for its signature
}

func (h *handler) log(ctx context.Context, status int, n *Notification, err error, took time.Duration) {
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
	h.record(ctx, level, message, attrs...)
}

func (h *handler) record(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
	if h.config.logger != nil {
		h.config.logger.LogAttrs(ctx, level, message, attrs...)
	}
}

// reason returns an error in this module's words: other texts may repeat parts of the request.
func reason(err error) string {
	if e, ok := errors.AsType[*ParseError](err); ok {
		return e.Error()
	}
	if r, ok := errors.AsType[refused](err); ok {
		return r.Error()
	}
	for _, known := range []error{
		signature.ErrMissing, signature.ErrMalformed, signature.ErrMismatch, signature.ErrTooOld, signature.ErrTooNew,
		ErrInProgress, ErrConflict, ErrUnconfirmed,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "the function returned an error"
}
