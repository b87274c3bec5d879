package otelquickstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shopspring/decimal"
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

// calls have a canary wherever one can stand: in paths, queries, bodies and keys, and in
// the errors of hooks.
func calls() map[string]func(context.Context, *quickstream.Client) error {
	card := sandboxtest.Card(canaryCard)
	card.CVN = quickstream.NewSecret(canaryCVN)
	account := quickstream.NewSecret(canaryAccount)
	made := map[string]func(context.Context, *quickstream.Client) error{
		"list": func(ctx context.Context, c *quickstream.Client) error {
			return second(c.Transactions.ByReference(canaryRef).First(ctx))
		},
		"do": func(ctx context.Context, c *quickstream.Client) error {
			return c.Do(ctx, quickstream.Request{Method: "POST", Route: "/customers/{customerId}/notes", Path: []string{canaryHandle}, Body: map[string]any{"note": canaryCard}}, nil)
		},
		"refused": func(ctx context.Context, c *quickstream.Client) error {
			return c.Do(ctx, quickstream.Request{Method: canaryCard, Route: "/" + canaryCard}, nil)
		},
	}
	made["collect"] = func(ctx context.Context, c *quickstream.Client) error {
		return second(c.PayTo.Collect(ctx, quickstream.CollectParams{
			SupplierBusinessCode: sandbox.DefaultBusiness, PaymentReferenceNumber: canaryRef, PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD,
			NewAgreement: &quickstream.NewAgreementParams{
				Payer: quickstream.AgreementPayerParams{BSB: "032999", AccountNumber: account, PayID: quickstream.NewSecret(canaryPayID)},
			},
		}))
	}
	for name, source := range map[string]quickstream.AccountSource{
		"card": quickstream.FromCard(card), "account": quickstream.FromBankAccount(quickstream.BankAccountDetails{AccountName: "Ann", BSB: "032-999", AccountNumber: account}),
	} {
		params := payment(source)
		params.PaymentReferenceNumber = canaryRef
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

// TestNothingExportedHoldsValues makes calls with secrets, handles and references that fail, and
// finds them in no span and no metric, nor the path of an address. The texts of the errors, which a status could show, hold some. Metrics
// have labels from fixed sets alone, with the statuses of answers and the host.
func TestNothingExportedHoldsValues(t *testing.T) {
	series := regexp.MustCompile(`^\d+ [a-z._]+:( (quickstream\.operation=(Do|[A-Z]\w+\.[A-Z]\w+)|quickstream\.result=[a-z_]+|error\.type=(_OTHER|[a-z_]+|[45]\d\d)|` +
		`http\.request\.method=(GET|POST)|http\.response\.status_code=\d{3}|server\.address=localhost|server\.port=80))+$`)
	for _, kind := range []sandbox.FaultKind{ // that errors and events of an observer show nothing is tested beside the client
		sandbox.Status(422, sandbox.ServiceError), sandbox.StatusAfterCommit(500, sandbox.ServiceError), sandbox.Status(403, sandbox.HTML),
		sandbox.Garbage(sandbox.DuplicateMembers), sandbox.ResetAfterCommit(), sandbox.Unreachable(sandbox.ConnectionRefused),
		sandbox.Redirect(307, "https://evil.invalid/"+canaryHandle),
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, quickstream.WithHeader("X-Proxy-Token", canaryHeader))
			require.NoError(t, b.box.Inject(sandbox.Fault{Kind: kind}))
			texts := ""
			for _, call := range calls() {
				err := call(t.Context(), b.client)
				texts += fmt.Sprint(err)
				if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok && lost.Intent != nil {
					_, _ = b.client.Transactions.Resume(t.Context(), *lost.Intent)
				}
			}
			assert.Contains(t, texts, canaryRef)
			spans := b.spans()
			require.GreaterOrEqual(t, b.box.FaultCounts()[kind.String()], 5)
			require.GreaterOrEqual(t, len(spans), 15)
			keys, counted := b.box.Keys(), b.counted()
			require.NotEmpty(t, counted)
			for _, line := range counted {
				assert.Regexp(t, series, line)
			}
			shown := fmt.Sprintf("%+v\n%s", spans, strings.Join(counted, "\n"))
			for _, secret := range []string{
				canaryCard, canaryCard[:8], canaryCVN, canaryAccount, canaryPayID, url.QueryEscape(canaryPayID), canaryHandle, canaryRef, canaryKey, canaryHeader,
				keys.Secret, keys.Publishable, "/rest/v1", "evil",
			} {
				assert.NotContains(t, shown, secret, "%s", kind)
			}
		})
	}
}
