package quickstream

import (
	"context"
	"crypto/x509"
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
)

// ClientOption configures a [Client].
type ClientOption interface{ applyClient(*clientConfig) error }

// CallOption configures one call. It is applied after the client's options.
type CallOption interface{ applyCall(*callConfig) error }

// Option configures a client, as the default of every call, or a single call.
type Option interface {
	ClientOption
	CallOption
}

type clientConfig struct {
	callConfig
	http     transport.HTTPConfig
	keys     func(context.Context) (Keys, error)
	logger   *slog.Logger
	observer Observer
}

type callConfig struct {
	limits   transport.Limits
	header   func() http.Header // a function, because a value may be a secret
	disabled map[string]bool    // ids of rules
	key      string             // the caller's idempotency key; "" for a random one
	response *Response
	extra    []extraField
	// beforeSend holds the client's hooks before the call's.
	beforeSend    []func(context.Context, Intent) error
	intentName    string // the member of metadata for the intent's id; "" for none
	business      string // for requests without one
	reference     string // for transactions without one
	metadata      map[string]string
	statuses      statuses
	finalDeclines bool     // the caller said that the service retries no declines
	currency      Currency // for requests without one
	refusal       func(status int, header http.Header, body []byte) bool
	now           func() time.Time // for the times in intents
	environment   string           // the client's, for intents of transactions that it reads
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

// WithHTTPClient makes the client use a copy of client, with its Transport, cookie jar and Timeout.
// Leave Timeout at zero: see [WithAttemptTimeout]. Redirects are not followed. A Transport cannot
// be combined with [WithProxy] and [WithRootCAs].
//
// With your Transport a write counts as never sent only if httptrace shows that net/http asked for
// a connection and got none; a second request that it shows counts as an attempt without an answer.
// A RoundTripper that repeats requests, reads bodies in advance or drops the context can cause a
// second charge, and makes "nothing was sent" wrong. If the environment is plain http, your
// Transport must connect to this machine: the client checks only the text of the host.
func WithHTTPClient(client *http.Client) ClientOption {
	return clientOption(func(c *clientConfig) error {
		if client == nil {
			return errors.New("WithHTTPClient: the client is nil")
		}
		c.http.Client = client
		return nil
	})
}

// WithClock makes the client use now instead of [time.Now] for the times in intents, for a program
// that runs by a sandbox's clock. Time limits and pauses use real time.
func WithClock(now func() time.Time) ClientOption {
	return clientOption(func(c *clientConfig) error {
		if now == nil {
			return errors.New("WithClock: the clock is nil")
		}
		c.now = now
		return nil
	})
}

// WithProxy chooses the proxy for each request. By default no proxy is used;
// WithProxy(http.ProxyFromEnvironment) uses the environment variables. An environment of plain http
// never uses a proxy.
func WithProxy(proxy func(*http.Request) (*url.URL, error)) ClientOption {
	return clientOption(func(c *clientConfig) error {
		c.http.Proxy = proxy
		return nil
	})
}

// WithRootCAs replaces the root certificates of this machine, if they are outdated or a proxy
// intercepts TLS.
func WithRootCAs(pool *x509.CertPool) ClientOption {
	return clientOption(func(c *clientConfig) error {
		c.http.RootCAs = pool
		return nil
	})
}

// WithKeySource calls source for the keys of every call, concurrently, so that keys can be rotated
// without a restart. Keep the keys in memory. If it panics, nothing is sent. The [Keys] given to
// [NewClient] must be empty.
func WithKeySource(source func(ctx context.Context) (Keys, error)) ClientOption {
	return clientOption(func(c *clientConfig) error {
		if source == nil {
			return errors.New("WithKeySource: the source is nil")
		}
		c.keys = source
		return nil
	})
}

// WithLogger logs attempts and calls at debug level, and unknown outcomes of writes as warnings.
// Records hold the operation, route template, counts, status, trace code and durations; never a
// key, address, header, body or message.
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

// WithAttemptTimeout limits one attempt with its body; 30 seconds by default. For reports and
// uploads it limits each wait for the service.
func WithAttemptTimeout(d time.Duration) Option {
	return option(func(c *callConfig) error {
		if d <= 0 {
			return errors.New("WithAttemptTimeout: the limit is not positive")
		}
		c.limits.AttemptTimeout = d
		return nil
	})
}

// WithTimeout limits a whole call: attempts, pauses, and hooks and key sources that obey their
// context. By default there is no limit: three attempts of 30 seconds and two pauses of 8 seconds
// take at most 106 seconds, plus hooks and key sources. This holds for single calls and each page
// of a list, not for uploads and reports. Give an HTTP server a longer WriteTimeout.
func WithTimeout(d time.Duration) Option {
	return option(func(c *callConfig) error {
		if d <= 0 {
			return errors.New("WithTimeout: the limit is not positive")
		}
		c.limits.CallTimeout = d
		return nil
	})
}

// WithMaxAttempts limits the attempts of a call; 3 by default, 1 to 10. See "Retries" in the
// package documentation.
func WithMaxAttempts(n int) Option {
	return option(func(c *callConfig) error {
		if n < 1 || n > transport.MaxAttempts {
			return fmt.Errorf("WithMaxAttempts: the number is not between 1 and %d", transport.MaxAttempts)
		}
		c.limits.MaxAttempts = n
		return nil
	})
}

// WithRetryWait sets the shortest and longest pause between attempts; half a second and 8 seconds
// by default. If the service asks for more, the call ends.
func WithRetryWait(shortest, longest time.Duration) Option {
	return option(func(c *callConfig) error {
		if shortest <= 0 || longest < shortest {
			return errors.New("WithRetryWait: the pauses are not positive and in order")
		}
		c.limits.WaitMin, c.limits.WaitMax = shortest, longest
		return nil
	})
}

// WithUniqueReference replaces the random payment reference of a transaction, and the random end-to-end identifier
// of a PayTo payment, if the parameters have none. A reference has 1 to 35 letters A to Z and digits. Make one for
// each attempt, never for the order: any transaction with it, such as an earlier decline, is taken for this one.
// The intent's id follows from it and the request, without single-use token and IP address.
func WithUniqueReference(reference string) CallOption {
	return callOption(func(c *callConfig) error {
		upperOrDigit := func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }
		if reference == "" || len(reference) > 35 || strings.ContainsFunc(reference, func(r rune) bool { return !upperOrDigit(r) }) {
			return errors.New("WithUniqueReference: the reference is not 1 to 35 letters A to Z and digits")
		}
		c.reference = reference
		return nil
	})
}

// WithMetadata adds members to the Metadata of a transaction's parameters, and replaces those with
// the same names. It adds none if [WithIntentMetadata] switches the intent's id off.
func WithMetadata(members map[string]string) CallOption {
	added := maps.Clone(members)
	return callOption(func(c *callConfig) error {
		if c.metadata == nil {
			c.metadata = map[string]string{}
		}
		maps.Copy(c.metadata, added)
		return nil
	})
}

// WithoutResend ends a write whose answer is lost with an [UnknownOutcomeError] at once, and does
// not rely on idempotency keys.
func WithoutResend() Option {
	return option(func(c *callConfig) error {
		c.limits.NoResend = true
		return nil
	})
}

// WithBeforeSend calls hook with the intent of a write, once for each call, after all checks and
// before it connects. Insert the intent into your database, and fail if the order has another that
// is not settled: overwriting that one permits a second payment. Client hooks run before call
// hooks, under the call's deadline. Reads and writes without an intent call no hook.
//
// If a hook fails or panics, this call sends nothing, and its error matches [ErrNotSent] and wraps
// the hook's; earlier calls for the order may have been sent. If the error matches ErrNotSent
// although the hook returned nil, this call's intent was not sent: delete its row, and no other.
// After a crash between hook and first byte, package resolve ends as not found.
func WithBeforeSend(hook func(ctx context.Context, intent Intent) error) Option {
	return option(func(c *callConfig) error {
		if hook == nil {
			return errors.New("WithBeforeSend: the hook is nil")
		}
		c.beforeSend = append(slices.Clip(c.beforeSend), hook)
		return nil
	})
}

// WithIntentMetadata names the member of metadata that carries the intent's id of a transaction;
// "intentId" by default. If the facility refuses unknown metadata, switch it off with an empty
// name: lost transactions are then found by reference only.
func WithIntentMetadata(name string) Option {
	return option(func(c *callConfig) error {
		if !isVisible(name) {
			return errors.New("WithIntentMetadata: the name is not printable ASCII without blanks")
		}
		c.intentName = name
		return nil
	})
}

// WithRefusal treats an answer to a write as a refusal if refused returns true. Use it if the
// service refuses writes of your facility in another form than the package documentation says. The
// client calls it for a 4xx, except 408, 409 and 425, that leaves the outcome unknown, if no
// earlier attempt may have arrived. A panic counts as false. A gateway can send any 4xx after the
// service has executed a payment: if refused returns true for that, the payment can be made twice.
func WithRefusal(refused func(status int, header http.Header, body []byte) bool) ClientOption {
	return clientOption(func(c *clientConfig) error {
		if refused == nil {
			return errors.New("WithRefusal: the function is nil")
		}
		c.refusal = refused
		return nil
	})
}

// WithStatusOutcome gives an outcome to a status that this package does not know, without regard to case; "" is
// an absent status. Outcome is approved, pending or voided: it applies to summary code 0 only, because a
// decline's code decides by itself. Ask the service first: the outcome decides whether an order is paid.
//
// It applies to transactions that the client reads, also through webhooks.ConfirmWith. One that is
// decoded without a client, such as a webhook's, stays unknown: read it again with Get.
func WithStatusOutcome(status TransactionStatus, outcome Outcome) ClientOption {
	return clientOption(func(c *clientConfig) error {
		if status.listed() != "" {
			return errors.New("WithStatusOutcome: this package knows the status")
		}
		if outcome != OutcomeApproved && outcome != OutcomePending && outcome != OutcomeVoided {
			return errors.New("WithStatusOutcome: the outcome is not approved, pending or voided")
		}
		if c.statuses == nil {
			c.statuses = statuses{}
		}
		c.statuses[strings.ToLower(string(status))] = outcome
		return nil
	})
}

// WithFinalDeclines says whether declines are final: true if the service never retries your facility's declined
// payments, which only your bank knows. Such a payment can be paid again at once, which charges twice if the
// service does retry. By default [Transaction.NextStep] of a soft decline says to read its retries first.
func WithFinalDeclines(final bool) ClientOption {
	return clientOption(func(c *clientConfig) error {
		c.finalDeclines = final
		return nil
	})
}

// WithCurrency fills in an empty Currency of transactions.
func WithCurrency(currency Currency) Option {
	return option(func(c *callConfig) error {
		if currency == "" {
			return errors.New("WithCurrency: the currency is empty")
		}
		c.currency = currency
		return nil
	})
}

// WithSupplierBusinessCode fills in an empty SupplierBusinessCode of payments, pre-authorisations,
// verifications, single-use tokens, agreements, PayIDs and new customers, before checks. An
// agreement created with a payment gets the payment's. Lists, reports and changes do not use it.
func WithSupplierBusinessCode(code string) Option {
	return option(func(c *callConfig) error {
		if code == "" {
			return errors.New("WithSupplierBusinessCode: the code is empty")
		}
		c.business = code
		return nil
	})
}

// WithHeader adds a header to requests. The value is printable ASCII of up to 8 KiB. Headers that
// this package or net/http sets are refused, and so is X-Idempotency-Key, with which net/http
// repeats a POST. A User-Agent replaces the module's name and version; an empty one is not sent.
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

// maxHeader bounds a header's value: servers refuse longer ones, and a payment's outcome would be
// unknown.
const maxHeader = 8 << 10

// addHeader copies the header, which other calls share.
func (c *callConfig) addHeader(name, value string) {
	header := c.header().Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Add(name, value)
	c.header = func() http.Header { return header }
}

// WithoutRule switches off rules that are wrong for a merchant, by their ids in findings and
// docs/rules.md. Unknown ids are ignored, because later versions may remove rules.
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

// WithIdempotencyKey sends a POST with this key instead of a random UUID. The key has 1 to 255
// printable ASCII characters without blanks. Prefer a UUID: a sister product accepts nothing else.
// Use a key for one attempt, never for the order, and store it before the attempt.
//
// The same call with the same key is the same request: generated values, such as a reference,
// follow from key, operation, environment and parameters. So an accidental repeat is harmless as
// long as the service remembers the key, for a time that is not published. Do not use it to resolve
// a payment: after an unknown outcome or a crash use Resume. An answer that does not show amount,
// currency and reference is an [UnknownOutcomeError].
func WithIdempotencyKey(key string) CallOption {
	return callOption(func(c *callConfig) error {
		if !isKey(key) {
			return errors.New("WithIdempotencyKey: the key is not 1 to 255 printable ASCII characters without blanks")
		}
		c.key = key
		return nil
	})
}

// isKey reports whether a text can be an idempotency key.
func isKey(text string) bool { return text != "" && len(text) <= 255 && isVisible(text) }

// Response describes the answer to a call.
type Response struct {
	StatusCode int
	Header     http.Header
	// Attempts counts the requests that were begun.
	Attempts int
	// IdempotencyKey is the key of the last attempt.
	IdempotencyKey string
}

// WithResponseInto fills resp when the call ends, also with an error; for a list at every page.
// StatusCode is 0 if there was no answer.
func WithResponseInto(resp *Response) CallOption {
	return callOption(func(c *callConfig) error {
		if resp == nil {
			return errors.New("WithResponseInto: the pointer is nil")
		}
		c.response = resp
		return nil
	})
}
