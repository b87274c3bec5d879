package clienttest_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestNothingIsHeldInTheDocumentedWorld: whatever follows a transaction settles after a lost answer, beside
// an equal one that was made in the portal, approved and declined, and under a key of the caller's.
func TestNothingIsHeldInTheDocumentedWorld(t *testing.T) {
	half := decimal.RequireFromString("2.00")
	type call func(client *quickstream.Client, receipt string, opts ...quickstream.CallOption) (*quickstream.Transaction, error)
	for name, tt := range map[string]struct {
		ofPreauth, onlyOnce bool // only one can follow, so that none is made in the portal
		send                call
	}{
		"refund": {false, false, func(c *quickstream.Client, receipt string, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
			return c.Transactions.Refund(t.Context(), quickstream.RefundParams{OriginalReceiptNumber: receipt, PrincipalAmount: half, Currency: "AUD"}, opts...)
		}},
		"void": {false, true, func(c *quickstream.Client, receipt string, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
			return c.Transactions.Void(t.Context(), receipt, opts...)
		}},
		"top-up": {true, false, func(c *quickstream.Client, receipt string, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
			return c.Transactions.TopUp(t.Context(), quickstream.TopUpParams{OriginalReceiptNumber: receipt, PrincipalAmount: half, Currency: "AUD"}, opts...)
		}},
		"extension": {true, false, func(c *quickstream.Client, receipt string, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
			return c.Transactions.Extend(t.Context(), quickstream.ExtendParams{OriginalReceiptNumber: receipt, Currency: "AUD"}, opts...)
		}},
		"capture": {true, true, func(c *quickstream.Client, receipt string, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
			return c.Transactions.Capture(t.Context(), quickstream.CaptureParams{
				OriginalReceiptNumber: receipt, PrincipalAmount: half, Currency: "AUD",
				StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeStoredCredential},
			}, opts...)
		}},
	} {
		for _, wanted := range []quickstream.Outcome{quickstream.OutcomeApproved, quickstream.OutcomeDeclined} {
			for key, opts := range map[string][]quickstream.CallOption{"": nil, ", the caller's key": {quickstream.WithIdempotencyKey("K1")}} {
				if name == "void" && (wanted == quickstream.OutcomeDeclined || key != "") {
					continue
				}
				t.Run(name+" "+string(wanted)+key, func(t *testing.T) {
					clock := sandbox.NewClock(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC))
					box := sandbox.New(sandbox.WithClock(clock))
					t.Cleanup(box.Close)
					client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box), quickstream.WithHTTPClient(box.HTTPClient()),
						quickstream.WithClock(clock.Now), quickstream.WithFinalDeclines(true))
					require.NoError(t, err)
					pay := payment()
					pay.SupplierBusinessCode = sandbox.DefaultBusiness
					first, err := client.Transactions.Pay(t.Context(), pay)
					if tt.ofPreauth {
						first, err = client.Transactions.Preauthorise(t.Context(), quickstream.PreauthoriseParams{
							SupplierBusinessCode: pay.SupplierBusinessCode, PrincipalAmount: decimal.New(100, 0), Currency: pay.Currency, ECI: pay.ECI,
							IPAddress: pay.IPAddress, StoredCredential: pay.StoredCredential, Source: quickstream.FromCard(sandboxtest.Card("5163200000000008")),
						})
					}
					require.NoError(t, err)
					if !tt.onlyOnce {
						if name == "refund" {
							clock.Advance(24 * time.Hour)
						}
						portal, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box), quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithClock(clock.Now), quickstream.WithIntentMetadata(""))
						require.NoError(t, err)
						_, err = tt.send(portal, first.ReceiptNumber, quickstream.WithUniqueReference("PORTAL1"))
						require.NoError(t, err)
					}
					if wanted == quickstream.OutcomeDeclined {
						box.NextTransaction(sandbox.Declined("54"))
					}
					operation := "POST /transactions"
					if name == "void" {
						operation, wanted = "POST /transactions/{receiptNumber}/void", quickstream.OutcomeVoided
					}
					require.NoError(t, box.Inject(sandbox.Fault{Operation: operation, Kind: sandbox.ResetAfterCommit(), Times: 1}))
					tx, err := tt.send(client, first.ReceiptNumber, append(opts, quickstream.WithoutResend())...)
					require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
					c := *resolve.After(tx, err, clock.Now()).Case
					policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
					for !c.NextLook.IsZero() {
						clock.Advance(max(0, c.NextLook.Sub(clock.Now())))
						c = policy.Next(c, policy.LookUp(t.Context(), client.Transactions, c), clock.Now())
					}
					assert.Equal(t, resolve.StatusSettled, c.Status)
					assert.Equal(t, wanted, c.Outcome)
					assert.False(t, c.Changed)
				})
			}
		}
	}
}
