package quickstream

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// ClientOption configures a [Client].
type ClientOption interface{ applyClient(*clientConfig) error }

// CallOption configures one call. A call's options are applied after the
// client's.
type CallOption interface{ applyCall(*callConfig) error }

// Option is valid for a client, where it is the default of every call, and for a
// single call.
type Option interface {
	ClientOption
	CallOption
}

type clientConfig struct {
	callConfig
	http     transport.HTTPConfig
	keys     KeySource
	logger   *slog.Logger
	observer Observer
}

type callConfig struct {
	limits   transport.Limits
	header   func() http.Header // what it holds may be a secret of the merchant
	disabled map[string]bool
	key      string
	response *Response
	extra    []extraField
	// beforeSend are the hooks, the client's before the call's.
	beforeSend []func(context.Context, Intent) error
	intentName string // of the metadata that the intent's id is sent in; "" for none
	business   string // of requests that name none
	foreign    func(receiptNumber string) bool
	// development puts the service's messages into the text of errors.
	development bool
}

type extraField struct {
	path  []string
	value json.RawMessage
}

type (
	clientOption func(*clientConfig) error
	callOption   func(*callConfig) error
	option       func(*callConfig) error
)

func (o clientOption) applyClient(c *clientConfig) error { return o(c) }
func (o callOption) applyCall(c *callConfig) error       { return o(c) }
func (o option) applyClient(c *clientConfig) error       { return o(&c.callConfig) }
func (o option) applyCall(c *callConfig) error           { return o(c) }

func defaultLimits() transport.Limits {
	return transport.Limits{
		MaxAttempts:    3,
		AttemptTimeout: 30 * time.Second,
		WaitMin:        500 * time.Millisecond,
		WaitMax:        8 * time.Second,
		ResendWindow:   transport.ResendWindow,
	}
}

// Options makes one option of several, which are applied in their order: the defaults
// of a program under one name.
func Options(opts ...Option) Option {
	opts = slices.Clone(opts)
	return option(func(c *callConfig) error {
		for _, o := range opts {
			if o == nil {
				return errors.New("Options: an option is nil")
			}
			if err := o.applyCall(c); err != nil {
				return err
			}
		}
		return nil
	})
}

// WithHTTPClient makes the client send through a copy of an http.Client, with
// its transport, cookie jar and timeout. Redirects are not followed all the
// same. Leave its Timeout at zero: [WithAttemptTimeout] knows about bodies. It
// cannot be combined with [WithProxy] or [WithRootCAs] when it has a Transport.
//
// Without a Transport the client's own connections are used, which know what was
// written to them. Of a Transport of yours only what net/http reports to
// httptrace is known: a write counts as never sent when no connection was got for
// it, and as lost in every other case without an answer. A second request that
// appears there, as HTTP/2 makes of a void after a broken stream, counts as an
// attempt without an answer. A RoundTripper that sends a request again by itself,
// reads the body in advance or leaves the request's context hides its requests: it
// can charge twice, and no error says "nothing was sent" of what it sends.
func WithHTTPClient(client *http.Client) ClientOption {
	return clientOption(func(c *clientConfig) error {
		if client == nil {
			return errors.New("WithHTTPClient: the client is nil")
		}
		c.http.Client = client
		return nil
	})
}

// WithProxy chooses the proxy for each request, as http.Transport's Proxy does.
// Without it no proxy is used, whatever the environment variables say;
// WithProxy(http.ProxyFromEnvironment) makes them count.
func WithProxy(proxy func(*http.Request) (*url.URL, error)) ClientOption {
	return clientOption(func(c *clientConfig) error {
		c.http.Proxy = proxy
		return nil
	})
}

// WithRootCAs replaces the root certificates of this machine, for one whose own
// are outdated or behind a proxy that opens TLS.
func WithRootCAs(pool *x509.CertPool) ClientOption {
	return clientOption(func(c *clientConfig) error {
		c.http.RootCAs = pool
		return nil
	})
}

// WithKeySource asks source for the keys at every call. The [Keys] given to
// [NewClient] must then be empty.
func WithKeySource(source KeySource) ClientOption {
	return clientOption(func(c *clientConfig) error {
		if source == nil {
			return errors.New("WithKeySource: the source is nil")
		}
		c.keys = source
		return nil
	})
}

// WithLogger logs attempts and ends of calls: at debug level, and at warning
// level where the outcome of a write is unknown. A record holds the operation,
// the route template, counts, the status and durations; never a key, an address,
// a header, a body or a message. Without a logger nothing is logged.
func WithLogger(logger *slog.Logger) ClientOption {
	return clientOption(func(c *clientConfig) error {
		c.logger = logger
		return nil
	})
}

// WithObserver calls the observer's functions for every call and attempt.
func WithObserver(observer Observer) ClientOption {
	return clientOption(func(c *clientConfig) error {
		c.observer = observer
		return nil
	})
}

// WithDevelopmentErrors makes the text of an [APIError] end with the messages of the
// service, for the time in which a program is written. They can repeat what a payer
// typed, such as a name. What is not a word of letters alone stands there as "?", so
// that no key, number or address gets in.
//
// [NewClient] refuses it together with a production environment. An address of your own
// that leads to one is for you to know.
func WithDevelopmentErrors() ClientOption {
	return clientOption(func(c *clientConfig) error {
		c.development = true
		return nil
	})
}

// WithAttemptTimeout limits one attempt, its body included; 30 seconds by
// default. A report that is downloaded and a file that is uploaded may take
// longer as a whole: there it limits each wait for the other side.
func WithAttemptTimeout(d time.Duration) Option {
	return option(func(c *callConfig) error {
		if d <= 0 {
			return errors.New("WithAttemptTimeout: the limit is not positive")
		}
		c.limits.AttemptTimeout = d
		return nil
	})
}

// WithTimeout limits a whole call, all its attempts and waits, and what hooks and key
// sources take that heed their context.
//
// Without it and without a deadline, a call takes at most
//
//	attempts * attempt timeout + (attempts - 1) * longest pause
//
// beside hooks and key sources, by [WithMaxAttempts], [WithAttemptTimeout] and
// [WithRetryWait]: 3 * 30 s + 2 * 8 s = 106 seconds by default. That holds for every
// method that makes one call, such as Transactions.Pay, and for each page of a list, but
// not for uploads and reports, which may be long. The WriteTimeout of an HTTP server has
// to be longer, or its handler cannot answer.
func WithTimeout(d time.Duration) Option {
	return option(func(c *callConfig) error {
		if d <= 0 {
			return errors.New("WithTimeout: the limit is not positive")
		}
		c.limits.CallTimeout = d
		return nil
	})
}

// WithMaxAttempts limits how often a call may be attempted; 3 by default, and 1
// means that nothing is repeated. What may be repeated at all is in the package
// documentation.
func WithMaxAttempts(n int) Option {
	return option(func(c *callConfig) error {
		if n < 1 || n > transport.MaxAttempts {
			return fmt.Errorf("WithMaxAttempts: the number is not between 1 and %d", transport.MaxAttempts)
		}
		c.limits.MaxAttempts = n
		return nil
	})
}

// WithRetryWait sets the shortest and longest pause between two attempts; half a
// second and 8 seconds by default. When the service asks for a longer pause than
// that, the call ends and the error says how long to wait. A payment that may have
// arrived is not sent again later than a minute after the first attempt, however
// long the pauses are.
func WithRetryWait(shortest, longest time.Duration) Option {
	return option(func(c *callConfig) error {
		if shortest <= 0 || longest < shortest {
			return errors.New("WithRetryWait: the pauses are not positive and in order")
		}
		c.limits.WaitMin, c.limits.WaitMax = shortest, longest
		return nil
	})
}

// WithoutResend makes every lost answer of a write an [UnknownOutcomeError] at
// once, so that it is settled by looking it up only. Use it if you do not want
// to rely on the service remembering idempotency keys.
func WithoutResend() Option {
	return option(func(c *callConfig) error {
		c.limits.NoResend = true
		return nil
	})
}

// WithResendWindow limits how long after the first sending a payment that may have
// arrived is sent again with its key; a minute by default and at most. How long the
// service remembers a key is not public.
func WithResendWindow(d time.Duration) Option {
	return option(func(c *callConfig) error {
		if d <= 0 || d > transport.ResendWindow {
			return fmt.Errorf("WithResendWindow: the window is not between 0 and %s", transport.ResendWindow)
		}
		c.limits.ResendWindow = d
		return nil
	})
}

// WithBeforeSend hands the intent of a write out right before the first byte of its
// first attempt, once for each call and after all checks: what the hook stores is
// what is sent. A client's hooks are called before a call's, and none replaces
// another. They run under the call's deadline. When one returns an error or panics,
// nothing was sent and the error matches [ErrNotSent] and wraps the hook's: that speaks of
// this call alone, and an earlier one for the same order may have been sent.
//
// Insert the intent, and fail while the order has another that is not settled. A hook
// that overwrites it lets a second payment through.
//
// A crash between the hook and the first byte leaves an intent of which nobody knows
// whether it was sent: Resume does not find it, and package resolve ends it as
// absent. Writes that have no intent, and reads, call no hook.
func WithBeforeSend(hook func(ctx context.Context, intent Intent) error) Option {
	return option(func(c *callConfig) error {
		if hook == nil {
			return errors.New("WithBeforeSend: the hook is nil")
		}
		c.beforeSend = append(slices.Clip(c.beforeSend), hook)
		return nil
	})
}

// WithIntentMetadata names the member of metadata in which every transaction carries
// the id of its intent; "intentId" by default. An empty name switches it off, for a
// facility that refuses unknown metadata: lost transactions are then told apart by
// their references alone.
func WithIntentMetadata(name string) Option {
	return option(func(c *callConfig) error {
		if !isVisible(name) {
			return errors.New("WithIntentMetadata: the name is not printable ASCII without blanks")
		}
		c.intentName = name
		return nil
	})
}

// WithForeignReceipts tells Resume which receipts belong to other intents of the
// merchant, by a function that looks in the merchant's own records and may be called
// concurrently. Such a transaction is neither the intent's nor a candidate. With it, the
// only refund of the same payment and amount that belongs to no other intent is taken
// for the intent's, where the service echoes neither its reference nor its id: look at
// the refunds of a payment one after the other, and store a receipt before the next look.
func WithForeignReceipts(known func(receiptNumber string) bool) CallOption {
	return callOption(func(c *callConfig) error {
		if known == nil {
			return errors.New("WithForeignReceipts: the function is nil")
		}
		c.foreign = known
		return nil
	})
}

// WithSupplierBusinessCode names the business of requests whose parameters leave their
// SupplierBusinessCode empty: payments, pre-authorisations, verifications, single-use
// tokens, agreements and new customers. It counts as if it stood in the parameters, in
// checks and in intents. An agreement that a payment brings along is for the payment's
// business. Lists, reports and changes take what they are given alone.
func WithSupplierBusinessCode(code string) Option {
	return option(func(c *callConfig) error {
		if code == "" || !isVisible(code) {
			return errors.New("WithSupplierBusinessCode: the code is empty or not printable ASCII without blanks")
		}
		c.business = code
		return nil
	})
}

// WithHeader adds a header to requests. Headers that this package or net/http
// sets itself are refused, and so is X-Idempotency-Key, which makes net/http send
// a POST again by itself. A value is printable ASCII of up to 8 KiB. A User-Agent takes
// the place of the module's name and version, and an empty one is not sent.
func WithHeader(name, value string) Option {
	return option(func(c *callConfig) error {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		switch canonical {
		case "", "Authorization", "Idempotency-Key", "X-Idempotency-Key", "Accept-Encoding", "Content-Type", "Content-Length", "Host", "Accept", "Transfer-Encoding", "Connection", "Prevent-Csrf":
			return fmt.Errorf("WithHeader: the header %q is set by the client", canonical)
		}
		if !isVisible(name) || strings.ContainsAny(name, `"(),/:;<=>?@[\]{}`) || !isPrintable(value) || len(value) > maxHeader {
			return errors.New("WithHeader: the name is not a header's, or the value is not printable ASCII of up to 8 KiB")
		}
		c.addHeader(canonical, value)
		return nil
	})
}

// maxHeader bounds a header's value: servers refuse longer ones, which of a payment would
// be an unknown outcome.
const maxHeader = 8 << 10

// addHeader leaves the header alone that other calls share.
func (c *callConfig) addHeader(name, value string) {
	header := c.header().Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Add(name, value)
	c.header = func() http.Header { return header }
}

// WithoutRule switches off rules that are checked before sending, by the ids
// that findings carry and rules.md lists, so that a rule that is wrong for a merchant never stops
// his payments. An id that no rule has is ignored, because a rule may disappear
// in a later version.
func WithoutRule(ids ...string) Option {
	return option(func(c *callConfig) error {
		c.disabled = maps.Clone(c.disabled)
		if c.disabled == nil {
			c.disabled = make(map[string]bool, len(ids))
		}
		for _, id := range ids {
			c.disabled[id] = true
		}
		return nil
	})
}

// WithIdempotencyKey sends the call, which has to be a POST, with the caller's
// own key instead of a new random one: up to 255 printable ASCII characters
// without blanks. It is for callers whose keys mean something elsewhere, and it
// stands in the intent.
//
// It does not make a call safe to repeat. How long the service remembers a key is
// not public, so that the same call an hour later may be a second payment: after an
// unknown outcome or a crash use Resume.
func WithIdempotencyKey(key string) CallOption {
	return callOption(func(c *callConfig) error {
		if key == "" || len(key) > 255 || !isVisible(key) {
			return errors.New("WithIdempotencyKey: the key is not 1 to 255 printable ASCII characters without blanks")
		}
		c.key = key
		return nil
	})
}

// Response tells about the answer behind a call's result.
type Response struct {
	StatusCode int
	Header     http.Header
	// Attempts is how many requests were begun.
	Attempts int
	// IdempotencyKey is the key that the last attempt carried.
	IdempotencyKey string
}

// WithResponseInto fills resp when the call ends, with or without an error. For
// a list it is filled at every page. StatusCode is 0 when nothing was answered.
func WithResponseInto(resp *Response) CallOption {
	return callOption(func(c *callConfig) error {
		if resp == nil {
			return errors.New("WithResponseInto: the pointer is nil")
		}
		c.response = resp
		return nil
	})
}

// WithExtraField adds a member to the request that this package does not know:
// name is its path, such as "creditCard.newMember". A member that the request
// already has cannot be replaced, nor one that this package knows be named in another
// case, which the service may read as the same.
func WithExtraField(name string, value any) CallOption {
	return callOption(func(c *callConfig) error {
		path := strings.Split(name, ".")
		for _, part := range path {
			if part == "" {
				return errors.New("WithExtraField: the name is empty or has an empty part")
			}
		}
		encoded, err := wire.Encode(value)
		if err = cmp.Or(wire.CheckText(name), err); err != nil {
			return fmt.Errorf("WithExtraField: %w", err)
		}
		c.extra = append(c.extra[:len(c.extra):len(c.extra)], extraField{path, encoded})
		return nil
	})
}

// keySource returns the function that authorises calls of a client, with the
// values of the Authorization header.
func keySource(keys Keys, source KeySource) (func(context.Context, keyKind) (string, error), error) {
	if source != nil {
		if !keys.Secret.IsZero() || !keys.Publishable.IsZero() {
			return nil, errors.New("quickstream: both Keys and WithKeySource were given")
		}
		return func(ctx context.Context, kind keyKind) (string, error) {
			current, err := source(ctx)
			if err != nil {
				return "", fmt.Errorf("quickstream: key source: %w", err)
			}
			return current.authorization(kind)
		}, nil
	}
	if keys.Secret.IsZero() && keys.Publishable.IsZero() {
		return nil, fmt.Errorf("quickstream: %w: neither a secret nor a publishable key was given; KeysFromEnv takes them from %s and %s", ErrKeyRequired, secretKeyVariable, publishableKeyVariable)
	}
	// Both headers are made once: what is wrong with a key shows at start-up.
	var values [2]string
	for _, kind := range [...]keyKind{secretKey, publishableKey} {
		value, err := keys.authorization(kind)
		if err != nil && !errors.Is(err, ErrKeyRequired) {
			return nil, err
		}
		values[kind] = value
	}
	return func(_ context.Context, kind keyKind) (string, error) {
		if values[kind] == "" {
			return keys.authorization(kind)
		}
		return values[kind], nil
	}, nil
}
