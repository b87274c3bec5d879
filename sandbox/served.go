package sandbox

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// served are the settings of a sandbox that runs as a server.
type served struct {
	keys         Keys
	origin       string   // of links in webhooks; empty: the in-memory address
	webhookHosts []string // in lower case
	answers      bool
	logger       *slog.Logger // nil: no log
}

// WithKeys sets the API keys. A key that is empty is made up, as without the option. Never use
// keys of the real service.
func WithKeys(keys Keys) Option { return func(s *settings) { s.served.keys = keys } }

// WithOrigin sets the scheme and the host, such as http://127.0.0.1:8642, of links in the bodies
// of webhooks. The default is the address of [Sandbox.HTTPClient].
func WithOrigin(origin string) Option { return func(s *settings) { s.served.origin = origin } }

// WithWebhookHosts allows subscriptions with URLs on these hosts, which are host names or IP
// addresses, as well as on loopback addresses.
func WithWebhookHosts(hosts ...string) Option {
	return func(s *settings) {
		for _, host := range hosts {
			s.served.webhookHosts = append(s.served.webhookHosts, strings.ToLower(host))
		}
	}
}

// WithAnswers keeps the bodies of answers in the records of [Sandbox.Requests], which then hold
// fewer requests.
func WithAnswers() Option { return func(s *settings) { s.served.answers = true } }

// WithLog logs each request when it was answered, and each attempt to deliver a notification.
// Nothing logged holds a key, a reference or a body.
func WithLog(l *slog.Logger) Option { return func(s *settings) { s.served.logger = l } }

// namedHost reports whether a URL is on a host of [WithWebhookHosts].
func (b *Sandbox) namedHost(target string) bool {
	u, err := url.Parse(target)
	return err == nil && slices.Contains(b.served.webhookHosts, strings.ToLower(u.Hostname()))
}

// check verifies a signature as the receiver does, and returns what is wrong with it.
func (s *Subscription) check(header string, body []byte) string {
	v, err := signature.NewVerifier(s.Scheme, []string{s.Secret}, signature.WithClock(s.Clock))
	if err == nil {
		err = v.Verify([]string{header}, body)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// log writes a line about a request that has been dealt with.
func (x *exchange) log() {
	logger := x.box.served.logger
	if logger == nil {
		return
	}
	x.box.mu.Lock()
	e := *x.entry
	var refused []string
	for _, f := range x.findings {
		refused = append(refused, f.FieldName+" "+strings.Join(f.Messages, ", "))
	}
	x.box.mu.Unlock()
	attrs := []slog.Attr{slog.String("call", e.Operation)}
	if e.Operation == "" {
		attrs[0].Value = slog.StringValue(e.Method + " (no such path)")
	}
	if e.Status != 0 {
		attrs = append(attrs, slog.Int("status", e.Status))
	} else {
		attrs = append(attrs, slog.String("status", "no answer"))
	}
	attrs = append(attrs, slog.String("key", e.Key))
	if e.Committed {
		attrs = append(attrs, slog.Bool("committed", true))
	}
	if e.Replayed {
		attrs = append(attrs, slog.Bool("replayed", true))
	}
	if e.Fault != "" {
		attrs = append(attrs, slog.String("fault", e.Fault))
	}
	if len(refused) > 0 {
		text := longDigits.ReplaceAllString(strings.Join(refused, "; "), "...")
		attrs = append(attrs, slog.String("refused", text[:min(len(text), 500)]))
	}
	logger.LogAttrs(context.Background(), slog.LevelInfo, "request", attrs...)
}

// logAttempt writes a line about an attempt to deliver. The caller holds mu.
func (b *Sandbox) logAttempt(d *delivery, made Attempt) {
	if b.served.logger == nil {
		return
	}
	attrs := []slog.Attr{slog.String("event", d.event), slog.String("id", d.id), slog.Int("attempt", len(d.attempts))}
	if made.Error == "" {
		attrs = append(attrs, slog.Int("status", made.Status))
	} else {
		attrs = append(attrs, slog.String("failed", made.Error))
	}
	if made.SignatureError != "" {
		attrs = append(attrs, slog.String("signature", made.SignatureError))
	}
	b.served.logger.LogAttrs(context.Background(), slog.LevelInfo, "delivery", attrs...)
}
