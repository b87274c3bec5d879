package webhooks_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// merchant is an endpoint that keeps what it was given.
type merchant struct {
	mu    sync.Mutex
	got   []*webhooks.Notification
	fails int // how many notifications to fail on first
}

func (m *merchant) handle(_ context.Context, n *webhooks.Notification) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails > 0 {
		m.fails--
		return assert.AnError
	}
	m.got = append(m.got, n)
	return nil
}

// collect makes an agreement, has it confirmed, and takes a payment.
func collect(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client) (agreementToken, receipt string) {
	t.Helper()
	customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Ann Example"})
	require.NoError(t, err)
	agreement, err := client.PayTo.Create(t.Context(), customer.CustomerID, quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PayeeReference: "REF-1",
		Payment: quickstream.AgreementPaymentParams{
			Purpose: quickstream.PayToPurposeRetail, Description: "Goods",
			StartDate: quickstream.DateOf(time.Now().Add(14 * time.Hour)), AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{Frequency: quickstream.PayToFrequencyMonthly, Type: quickstream.PayToAgreementTypeVariable},
		Payer: quickstream.PayToPayerParams{
			Type: quickstream.PayerTypePerson, ID: "P-1", Name: "Ann Example", BSB: "650000", AccountNumber: quickstream.NewSecret("111111"),
		},
	})
	require.NoError(t, err)
	<-time.After(24 * time.Hour)
	require.NoError(t, box.Payer(agreement.AgreementToken, sandbox.ConfirmAgreement))
	synctest.Wait()
	payment, err := client.PayTo.Collect(t.Context(), quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: agreement.AgreementToken}),
		PrincipalAmount: decimal.New(50, 0), Currency: quickstream.CurrencyAUD,
	})
	require.NoError(t, err)
	return agreement.AgreementToken, payment.ReceiptNumber
}

// day lets redeliveries take place.
func day() { <-time.After(24 * time.Hour) }

// table is an inbox. It is away for the first deliveries.
type table struct {
	merchant
	inserting sync.Mutex
	rows      map[[2]string]*webhooks.Notification
}

func (in *table) keep(ctx context.Context, n *webhooks.Notification) error {
	if err := in.handle(ctx, n); err != nil {
		return err
	}
	in.inserting.Lock()
	defer in.inserting.Unlock()
	known := slices.ContainsFunc(slices.Collect(maps.Keys(in.rows)), func(key [2]string) bool { return key[0] == n.ID && key[1] != n.Digest() })
	in.rows[[2]string{n.ID, n.Digest()}] = n
	if known {
		return webhooks.ErrConflict
	}
	return nil
}

// TestSandboxInbox receives what the service may send in every way in which it may
// send it: the first deliveries fail for longer than a signature is young, and what
// was acknowledged comes again. All is acknowledged in the end, and the job acts on
// what the API says.
func TestSandboxInbox(t *testing.T) {
	for _, anew := range []bool{false, true} {
		for _, body := range []string{"same", "reordered", "member", "fresher"} {
			for header, unknown := range map[string]string{"plain": "new", "blanks": "caseVariants", "swapped": "nested", "several": "none"} {
				synctest.Test(t, func(t *testing.T) {
					box, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
						a.RedeliverySignedAnew, a.RedeliveredBody, a.SignatureHeader, a.UnknownMembers = anew, body, header, unknown
					}))
					testInbox(t, box, client, body == "member" || body == "fresher")
				})
			}
		}
	}
}

func testInbox(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client, conflicts bool) {
	t.Helper()
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret("whsec")})
	require.NoError(t, err)
	in, reported := &table{merchant: merchant{fails: 8}, rows: map[[2]string]*webhooks.Notification{}}, new(atomic.Int64)
	require.NoError(t, box.Subscribe(sandbox.Subscription{
		Handler: webhooks.NewInbox(verifier, in.keep, webhooks.WithFailureReport(func(_ context.Context, f webhooks.Failure) {
			if errors.Is(f.Err, webhooks.ErrConflict) {
				reported.Add(1)
			}
		})),
		Secret: "whsec", Scheme: signature.AssumedHMAC{},
	}))
	token, receipt := collect(t, box, client)
	day()
	require.Len(t, in.rows, len(box.Deliveries()), "each is kept, though the inbox was away")
	require.NoError(t, client.PayTo.Suspend(t.Context(), token, quickstream.StatusReason{Code: quickstream.ReasonCodeInitiatingParty}))
	synctest.Wait()
	for _, d := range box.Deliveries() {
		require.NoError(t, box.Redeliver(d.ID))
	}
	day()
	for _, d := range box.Deliveries() {
		assert.Equal(t, sandbox.DeliveryDone, d.State)
		assert.Equal(t, http.StatusOK, d.Attempts[len(d.Attempts)-1].Status)
	}
	assert.Equal(t, conflicts, reported.Load() > 0)

	confirmed := new(merchant)
	for _, n := range in.rows {
		require.NoError(t, webhooks.ConfirmWith(client, confirmed.handle)(t.Context(), parse(t, string(n.Raw()))))
	}
	paid := 0
	for _, n := range confirmed.got {
		switch event, err := n.Event(); event := event.(type) {
		case *webhooks.AgreementEvent:
			assert.Equal(t, quickstream.AgreementStatusSuspended, event.Agreement().Status)
		case *webhooks.PaymentEvent:
			assert.Equal(t, receipt, event.Transaction().ReceiptNumber)
			paid++
		default:
			t.Errorf("%v is a %T, %v", n, event, err)
		}
	}
	assert.Positive(t, paid)
}
