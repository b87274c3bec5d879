package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
)

// merchant does everything right.
type merchant struct {
	client    *quickstream.Client
	table     *table
	policy    resolve.Policy
	agreement string
	seed      uint64
}

func newMerchant(s *service, t *table, seed uint64) *merchant {
	// This facility lets the service retry soft declines, for four days.
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesFor(4 * 24 * time.Hour))
	return &merchant{client: s.client, table: t, policy: policy, agreement: s.agreement, seed: seed}
}

const (
	// lease is how long a worker may have an order to itself. After that it counts
	// as crashed, and another one takes over what it finds in the table.
	lease = 2 * time.Minute
	// pause is how long to wait after a refusal that may pass.
	pause = time.Minute
)

// work does what an order needs next. An error means that this program is wrong;
// all that can happen to a payment is in the table.
func (m *merchant) work(ctx context.Context, id string, now time.Time) error {
	o, err := m.table.load(id)
	if err != nil {
		return err
	}
	switch t := o.live(); {
	case t == nil:
		return m.pay(ctx, o, now)
	case t.State == nil:
		// A worker has crashed. It may have sent the payment or not, and nothing in
		// the table can tell: it is looked for, and never sent again.
		state := resolve.Begin(t.Intent, now)
		t.State, t.Restarted = &state, true
		fallthrough
	default:
		return m.look(ctx, o, t, now)
	}
}

// errCrashed is a worker that dies between storing the intent and sending it.
var errCrashed = errors.New("crashed")

// pay makes a payment. From the moment when the intent is stored it counts as
// sent, whatever happens to this worker.
func (m *merchant) pay(ctx context.Context, o *order, now time.Time) error {
	t := new(try)
	store := quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error {
		intent.NotBefore = now // by the clock of this story
		t.Intent = intent
		o.Tries = append(o.Tries, t)
		if err := m.table.save(o, now.Add(lease)); err != nil {
			return err
		}
		if m.crashes(o, "before sending") {
			return errCrashed
		}
		return nil
	})
	var answer quickstream.Response
	tx, err := m.client.Transactions.Pay(ctx, m.params(o), store, quickstream.WithResponseInto(&answer))
	if errors.Is(err, errCrashed) || m.crashes(o, "before storing the answer") {
		return nil
	}

	var refused *quickstream.APIError
	lost, unknown := errors.AsType[*quickstream.UnknownOutcomeError](err)
	switch {
	case err == nil && answer.Attempts > 1:
		return m.answered(o, t, tx, howResent, now)
	case err == nil:
		return m.answered(o, t, tx, howAnswered, now)
	case unknown:
		// How often it was sent, and a receipt where one could be read.
		t.Intent.Attempts, t.Intent.ReceiptNumber = lost.Attempts, lost.ReceiptNumber
		return m.hold(o, t, resolve.Begin(t.Intent, now))
	case errors.Is(err, quickstream.ErrNotSent), errors.As(err, &refused):
		// Nothing was done: it is safe to pay again, as a new payment.
		t.Ended, t.How = endRefused, howAnswered
		return m.table.save(o, now.Add(pause))
	default:
		return fmt.Errorf("%s: %w", o.ID, err)
	}
}

// answered stores what the service says of a payment. One that is not settled, or
// that the service may be retrying by itself, is pursued.
func (m *merchant) answered(o *order, t *try, tx *quickstream.Transaction, how how, now time.Time) error {
	outcome, err := tx.Outcome()
	if err != nil || tx.NextStep() == quickstream.NextStepReadRetries {
		return m.hold(o, t, resolve.BeginTransaction(tx, now))
	}
	return m.end(o, t, outcome, tx.ReceiptNumber, how)
}

func (m *merchant) hold(o *order, t *try, state resolve.State) error {
	t.State = &state
	return m.table.save(o, state.NextLook)
}

func (m *merchant) end(o *order, t *try, outcome quickstream.Outcome, receipt string, how how) error {
	t.How = how
	switch outcome {
	case quickstream.OutcomeApproved:
		t.Ended, o.Status, o.Receipt = endCharged, statusPaid, receipt
	case quickstream.OutcomeDeclined, quickstream.OutcomeRejected:
		t.Ended, o.Status = endDeclined, statusUnpaid
	default:
		return fmt.Errorf("%s: a payment is %s", o.ID, outcome)
	}
	return m.table.save(o, time.Time{})
}

func (m *merchant) params(o *order) quickstream.PayParams {
	p := quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: o.Amount, Currency: quickstream.CurrencyAUD,
		CustomerReferenceNumber: o.ID, ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.10"),
	}
	switch o.Method {
	case methodBank:
		p.Source = quickstream.FromBankAccount(quickstream.BankAccountDetails{
			AccountName: "Ann Example", BSB: "032-002", AccountNumber: quickstream.NewSecret("123465"),
		})
	case methodPayTo:
		p.Source = quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: m.agreement})
	default:
		p.StoredCredential = &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual}
		p.Source = quickstream.FromCard(quickstream.CardDetails{
			CardholderName: "Ann Example", CardNumber: quickstream.NewSecret("4242424242424242"),
			Expiry: quickstream.YearMonth{Year: 2035, Month: time.March}, CVN: quickstream.NewSecret("123"),
		})
	}
	return p
}

// crashes draws whether the worker dies here: once in 25 times at each place.
func (m *merchant) crashes(o *order, where string) bool {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, o.ID, len(o.Tries), where)               // a hash takes everything
	return rand.New(rand.NewPCG(m.seed, h.Sum64())).IntN(25) == 0 //nolint:gosec // repeatable on purpose
}
