package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// program is a merchant's code for one order. What it returns is the merchant's
// word, as [sandboxtest.Chaos] takes it.
type program func(ctx context.Context, s *shop, order string) error

var errNotPaid = errors.New("not paid")

// The public test numbers of cards that are approved.
const (
	visa    = "4242424242424242"
	another = "4111111111111111"
)

// shop is what a program has to work with.
type shop struct {
	client  *quickstream.Client
	account string                        // the token of a kept card
	intents map[string]quickstream.Intent // stands in for a database; by order, or by intent
}

// harm lets a program handle many orders, one after the other so that the same seed gives
// the same, and returns what the ledger shows to be wrong a week later.
func harm(t *testing.T, p program) (wrong []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{TB: t}
		s := &shop{intents: make(map[string]quickstream.Intent)}
		sandboxtest.Chaos(r, sandboxtest.ChaosOptions{
			Orders: 160, Seed: 1, Workers: 1, Sandbox: []sandbox.Option{sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.KeyLifetime = 5 * time.Minute })},
			Client: []quickstream.ClientOption{
				quickstream.WithAttemptTimeout(30 * time.Second), quickstream.WithRetryWait(time.Second, time.Second), // without jitter
			},
		}, func(ctx context.Context, client *quickstream.Client, order string) error {
			s.client = client
			for try := 0; s.account == ""; try++ {
				s.keepCard(ctx, fmt.Sprint("C-", try))
			}
			return p(ctx, s, order)
		})
		wrong = r.wrong
	})
	return wrong
}

// recorder is a test that takes note of what would fail it.
type recorder struct {
	testing.TB
	wrong []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

// keepCard registers a card, unless the network is against it.
func (s *shop) keepCard(ctx context.Context, number string) {
	customer, err := s.client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: number, CustomerName: "Ann Example"})
	if err != nil {
		return
	}
	account, err := s.client.Accounts.Register(ctx, customer.CustomerID, quickstream.RegisterAccountParams{
		Card: new(sandboxtest.Card(visa)),
	})
	if err == nil {
		s.account = account.AccountToken
	}
}

// storing stores the intent of an order, over one that is there.
func (s *shop) storing(order string) quickstream.Option {
	return quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error {
		s.intents[order] = intent
		return nil
	})
}

// byCard describes the payment of an order, without a payment reference.
func byCard(order, card string) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.RequireFromString("25.00"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), CustomerReferenceNumber: order,
		Source: quickstream.FromCard(sandboxtest.Card(card)),
	}
}

// byAccount describes the same payment from the kept card, which can be planned.
func (s *shop) byAccount(order string) quickstream.PayParams {
	p := byCard(order, visa)
	p.Source = quickstream.FromAccount(s.account, quickstream.AccountTypeCreditCard)
	p.ECI, p.IPAddress = quickstream.ECIRecurring, netip.Addr{}
	p.StoredCredential = &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeStoredCredential, Usage: quickstream.CredentialUsageRecurring}
	return p
}

// concluded is the right way with what a payment has come to.
func (s *shop) concluded(ctx context.Context, err error) error {
	if sent, unknown := lost(err); unknown {
		return s.lookFor(ctx, sent)
	}
	return err // also of one that took nothing
}

// lookFor is the right way with a payment whose outcome is unknown.
func (s *shop) lookFor(ctx context.Context, intent quickstream.Intent) error {
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	state := resolve.Begin(intent, time.Now())
	for !state.Status.Final() {
		<-time.After(time.Until(state.NextLook))
		state = policy.Next(state, policy.LookUp(ctx, s.client.Transactions, state), time.Now())
	}
	if state.Status != resolve.StatusSettled { // not_found, too, is for a person
		return quickstream.ErrOutcomeUnknown
	}
	return word(state.Outcome)
}

func word(o quickstream.Outcome) error {
	if o == quickstream.OutcomeApproved {
		return nil
	}
	return errNotPaid
}

// lost returns the intent of a payment whose outcome is unknown, as it was sent.
func lost(err error) (intent quickstream.Intent, ok bool) {
	unknown, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if ok {
		intent = *unknown.Intent
	}
	return intent, ok
}
