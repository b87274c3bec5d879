package otelquickstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const (
	canaryCard    = "4242424242424242"
	canaryCVN     = "CVN-1357"
	canaryAccount = "9999940"
	canaryPayID   = "ann@example.com"
	canaryHandle  = "HANDLE-7f3a"
	canaryRef     = "REF-8b2c"
	canaryKey     = "IDEMPOTENCY-5d1e"
	canaryHeader  = "PROXY-TOKEN-6c1f"
)

// faults are those that repeat what was sent, and others.
func faults() []sandbox.FaultKind {
	return []sandbox.FaultKind{
		sandbox.Status(422, sandbox.Echo), sandbox.Status(401, sandbox.Echo), sandbox.Status(404, sandbox.Echo), sandbox.Status(429, sandbox.Echo),
		sandbox.Status(503, sandbox.Echo), sandbox.Status(307, sandbox.Echo), sandbox.Status(502, sandbox.EchoHTML), sandbox.Status(403, sandbox.EchoHTML),
		sandbox.StatusAfterCommit(500, sandbox.Echo), sandbox.Garbage(sandbox.Echo), sandbox.Garbage(sandbox.EchoHTML), sandbox.Garbage(sandbox.EchoLinks),
		sandbox.ResetAfterCommit(), sandbox.HangAfterCommit(), sandbox.Unreachable(sandbox.ConnectionRefused), sandbox.Garbage(sandbox.DuplicateMembers),
		sandbox.Redirect(307, "https://evil.invalid/"+canaryHandle),
	}
}

// calls have a canary wherever one can stand: in paths, queries, bodies and keys, and in
// the errors of hooks.
func calls(token string) map[string]func(context.Context, *quickstream.Client) error {
	card := sandboxtest.Card(canaryCard)
	card.CVN = quickstream.NewSecret(canaryCVN)
	account := quickstream.NewSecret(canaryAccount)
	made := map[string]func(context.Context, *quickstream.Client) error{
		"get": func(ctx context.Context, c *quickstream.Client) error {
			return second(c.Transactions.Get(ctx, canaryHandle))
		},
		"void": func(ctx context.Context, c *quickstream.Client) error {
			return second(c.Transactions.Void(ctx, canaryHandle))
		},
		"number": func(ctx context.Context, c *quickstream.Client) error {
			return second(c.Customers.GetByNumber(ctx, canaryRef))
		},
		"list": func(ctx context.Context, c *quickstream.Client) error {
			return second(c.Transactions.ByReference(canaryRef).First(ctx))
		},
		"token": func(ctx context.Context, c *quickstream.Client) error {
			return second(c.SingleUseTokens.Create(ctx, quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: sandbox.DefaultBusiness, Account: card}, quickstream.WithoutRule("card.cvn.digits")))
		},
		"customer": func(ctx context.Context, c *quickstream.Client) error {
			return second(c.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: canaryRef, CustomerName: canaryHandle, EmailAddress: canaryPayID}))
		},
		"agreement": func(ctx context.Context, c *quickstream.Client) error {
			return second(c.PayTo.Get(ctx, canaryHandle))
		},
		"do": func(ctx context.Context, c *quickstream.Client) error {
			return c.Do(ctx, quickstream.Request{Method: "POST", Route: "/customers/{customerId}/notes", Path: []string{canaryHandle}, Body: map[string]any{"note": canaryCard}}, nil)
		},
		"refused": func(ctx context.Context, c *quickstream.Client) error {
			return c.Do(ctx, quickstream.Request{Method: canaryCard, Route: "/" + canaryCard}, nil)
		},
	}
	sources := map[string]quickstream.AccountSource{
		"token": quickstream.FromSingleUseToken(token), "card": quickstream.FromCard(card),
		"account": quickstream.FromBankAccount(quickstream.BankAccountDetails{AccountName: "Ann", BSB: "032-999", AccountNumber: account}),
		"payto": quickstream.FromPayToWithAgreement(quickstream.PayToPaymentWithAgreement{
			Payer: quickstream.PayToPayerParams{BSB: "032999", AccountNumber: account, PayID: quickstream.NewSecret(canaryPayID)},
		}),
	}
	for name, source := range sources {
		params := payment(token)
		params.Source, params.PaymentReferenceNumber = source, canaryRef
		made["pay from "+name] = func(ctx context.Context, c *quickstream.Client) error {
			return second(c.Transactions.Pay(ctx, params, quickstream.WithIdempotencyKey(canaryKey), quickstream.WithoutRule("card.cvn.digits")))
		}
	}
	for i, mine := range []error{
		errors.New(canaryRef), &quickstream.NetworkError{Kind: canaryRef}, &quickstream.APIError{Reason: canaryRef, TraceCode: canaryRef},
		&quickstream.UnknownOutcomeError{Reference: canaryRef, Cause: &quickstream.APIError{Reason: canaryRef}}, fmt.Errorf("%s: %w", canaryRef, quickstream.ErrKeyRequired),
	} {
		made[fmt.Sprint("hook ", i)] = func(ctx context.Context, c *quickstream.Client) error {
			return second(c.Transactions.Void(ctx, canaryHandle, quickstream.WithBeforeSend(func(context.Context, quickstream.Intent) error { return mine })))
		}
		made[fmt.Sprint("claim ", i)] = func(ctx context.Context, c *quickstream.Client) error {
			planned, err := c.Transactions.PlanVoid(ctx, canaryHandle)
			return errors.Join(err, second(c.Transactions.Submit(ctx, planned, func(context.Context) error { return mine })))
		}
	}
	return made
}

// coded is a RoundTripper below which a service has one trace code for all.
type coded struct {
	http.RoundTripper
	code string
}

func (c coded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if body, err := io.ReadAll(resp.Body); err == nil {
		resp.Body = io.NopCloser(strings.NewReader(strings.ReplaceAll(string(body), `"traceCode":"4D2C"`, `"traceCode":"`+c.code+`"`)))
		resp.ContentLength = -1
	}
	return resp, nil
}

// TestNoTraceCodeHoldsValues makes a call that sends a canary against a service that has it
// for a trace code, alone and within another text, and finds it in no span and no metric.
func TestNoTraceCodeHoldsValues(t *testing.T) {
	made := calls(canaryHandle)
	for name, canaries := range map[string][]string{
		"get": {canaryHandle, "X-" + canaryHandle, canaryHeader}, "number": {canaryRef}, "list": {canaryRef}, "customer": {canaryRef, "X-" + canaryRef, canaryHandle, canaryPayID},
		"token": {canaryCard, canaryCVN}, "pay from card": {canaryCard, canaryCVN, canaryKey, "X-" + canaryKey, canaryRef, "X-" + canaryRef},
		"pay from account": {canaryAccount}, "pay from token": {canaryHandle},
	} {
		for _, code := range append(canaries, "TRACE-1") {
			b := newBench(t)
			b.inject(sandbox.Fault{Kind: sandbox.Status(422, sandbox.Echo)})
			sent := http.Client{Transport: coded{b.box.HTTPClient().Transport, code}}
			client := sandboxtest.Client(t, b.box, quickstream.WithHTTPClient(&sent), quickstream.WithHeader("X-Proxy-Token", canaryHeader), quickstream.WithObserver(b.observer))
			require.ErrorIs(t, made[name](t.Context(), client), quickstream.ErrInvalid, name)
			spans := b.spans()
			require.Len(t, spans, 2, name)
			shown := fmt.Sprintf("%+v\n%s", spans, strings.Join(b.counted(), "\n"))
			assert.Equal(t, code == "TRACE-1", strings.Contains(shown, code), "%s: %s", name, code)
		}
	}
}

// TestNothingExportedHoldsValues makes calls with secrets, handles and references against
// a service that repeats them everywhere, and finds them in no span and no metric, nor the
// path of an address. The texts of the errors, which a status could show, hold some. Metrics
// have labels from fixed sets alone, with the statuses of answers and the host.
func TestNothingExportedHoldsValues(t *testing.T) {
	label := regexp.MustCompile(`^(quickstream\.operation=(Do|[A-Z]\w+\.[A-Z]\w+)|quickstream\.result=[a-z_]+|error\.type=(_OTHER|[a-z_]+|[45]\d\d)|` +
		`http\.request\.method=(GET|POST)|http\.response\.status_code=\d{3}|server\.address=quickstream\.localhost|server\.port=80)$`)
	for _, kind := range faults() {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, quickstream.WithHeader("X-Proxy-Token", canaryHeader), quickstream.WithDevelopmentErrors())
			token := b.token(approved)
			b.inject(sandbox.Fault{Kind: kind})
			texts := ""
			for _, call := range calls(token) {
				err := call(t.Context(), b.client)
				texts += fmt.Sprint(err)
				if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok && lost.Intent != nil {
					_, _ = b.client.Transactions.Resume(t.Context(), *lost.Intent)
				}
			}
			assert.Contains(t, texts, canaryRef)
			spans := b.spans()
			require.GreaterOrEqual(t, b.box.FaultCounts()[kind.String()], 10)
			require.GreaterOrEqual(t, len(spans), 40)
			keys := b.box.Keys()
			counted := b.counted()
			require.NotEmpty(t, counted)
			for _, line := range counted {
				_, labels, _ := strings.Cut(line, ": ")
				for _, pair := range strings.Fields(labels) {
					assert.Regexp(t, label, pair)
				}
			}
			shown := fmt.Sprintf("%+v\n%s", spans, strings.Join(counted, "\n"))
			for _, secret := range []string{
				canaryCard, canaryCard[:8], canaryCVN, canaryAccount, canaryPayID, url.QueryEscape(canaryPayID), canaryHandle, canaryRef, canaryKey, canaryHeader,
				token, keys.Secret, keys.Publishable, "/rest/v1", "evil",
			} {
				assert.NotContains(t, shown, secret, "%s", kind)
			}
			for _, span := range spans {
				assert.Empty(t, span.Events)
				assert.Empty(t, span.Status.Description)
			}
		})
	}
}
