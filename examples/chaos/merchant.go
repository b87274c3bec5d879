package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// merchant does everything right.
type merchant struct {
	client    *quickstream.Client
	table     *table
	policy    resolve.Policy
	agreement string
	crashes   func(o *order, t *try, where string) bool
}

func newMerchant(s *service, t *table) *merchant {
	policy := resolve.DefaultPolicy(s.retries)
	policy.Agreements = s.client.PayTo
	return &merchant{client: s.client, table: t, policy: policy, agreement: s.agreement, crashes: s.crashes}
}

const (
	// lease is how long a worker may have an order to itself. After that it counts
	// as crashed, and another one takes over what it finds in the table.
	lease = 2 * time.Minute
	// pause is how long to wait after a refusal that may pass, patience how often.
	pause    = time.Minute
	patience = 12
	// settled is when a payment of any kind can be refunded.
	settled = 6 * 24 * time.Hour
)

// work does what an order needs next. An error means that this program is wrong;
// all that can happen to a payment is in the table.
func (m *merchant) work(ctx context.Context, id string, now time.Time) error {
	o, err := m.table.load(id)
	if err != nil {
		return err
	}
	for _, t := range o.Tries {
		if t.Due.IsZero() || t.Due.After(now) {
			continue
		}
		if t.State == nil {
			// A worker has crashed. It may have sent the payment or not, and nothing in
			// the table can tell: it is looked for, and never sent again.
			state := resolve.Begin(t.Intent, now)
			t.State, t.Restarted = &state, true
		}
		if err := m.look(ctx, o, t, now); err != nil {
			return err
		}
	}
	if o.Due.IsZero() || o.Due.After(now) {
		return nil
	}
	o.Due = time.Time{}
	if o.Status == statusOpen {
		return m.send(ctx, o, step{kindPayment, o.Amount}, now)
	}
	steps := o.Then
	for o.Then = nil; len(steps) > 0; steps = steps[1:] {
		if err := m.send(ctx, o, steps[0], now); err != nil {
			return err
		}
	}
	return nil
}

// errCrashed is a worker that dies between storing the intent and sending it.
var errCrashed = errors.New("crashed")

// send makes a write. From the moment when the intent is stored it counts as sent,
// whatever happens to this worker.
func (m *merchant) send(ctx context.Context, o *order, s step, now time.Time) error {
	t := &try{step: s}
	store := quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error {
		intent.NotBefore = now // by the clock of this story
		t.Intent, t.Due = intent, now.Add(lease)
		o.Tries = append(o.Tries, t)
		if err := m.table.save(o); err != nil {
			return err
		}
		if m.crashes(o, t, "beforeSend") {
			return errCrashed
		}
		return nil
	})
	var answer quickstream.Response
	tx, err := m.call(ctx, o, s, store, quickstream.WithResponseInto(&answer))
	switch {
	case t.Due.IsZero(): // nothing was stored: the request is wrong
		return fmt.Errorf("%s: %w", o.ID, err)
	case errors.Is(err, errCrashed), m.crashes(o, t, "afterAnswer"):
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
		// Nothing was done: it is safe to send another one.
		t.Ended, t.How = endRefused, howAnswered
		return m.again(o, t, now.Add(pause))
	default:
		return fmt.Errorf("%s: %w", o.ID, err)
	}
}

func (m *merchant) call(ctx context.Context, o *order, s step, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
	switch s.Kind {
	case kindRefund:
		return m.client.Transactions.Refund(ctx, quickstream.RefundParams{
			OriginalReceiptNumber: o.Receipt, PrincipalAmount: s.Amount, Currency: quickstream.CurrencyAUD,
			CustomerReferenceNumber: o.ID,
		}, opts...)
	case kindVoid:
		return m.client.Transactions.Void(ctx, o.Receipt, opts...)
	default:
		return m.client.Transactions.Pay(ctx, payment(o, m.agreement), opts...)
	}
}

// answered stores what the service says of a write. One that is not settled, or
// that the service may be retrying by itself, is pursued.
func (m *merchant) answered(o *order, t *try, tx *quickstream.Transaction, how how, now time.Time) error {
	outcome, err := tx.Outcome()
	if err != nil || tx.NextStep() == quickstream.NextStepCheckRetries {
		return m.hold(o, t, resolve.BeginTransaction(tx, now))
	}
	return m.end(o, t, outcome, tx.ReceiptNumber, how, now)
}

func (m *merchant) hold(o *order, t *try, state resolve.Case) error {
	t.State, t.Due = &state, state.NextLook
	return m.table.save(o)
}

// end stores what became of a try that is settled.
func (m *merchant) end(o *order, t *try, outcome quickstream.Outcome, receipt string, how how, now time.Time) error {
	done := quickstream.OutcomeApproved
	if t.Kind == kindVoid {
		done = quickstream.OutcomeVoided
	}
	t.How, t.Receipt, t.Due = how, receipt, time.Time{}
	switch outcome {
	case done:
		t.Ended = endDone
	case quickstream.OutcomeDeclined, quickstream.OutcomeRejected:
		t.Ended = endDeclined
	default:
		return fmt.Errorf("%s: a %s is %s", o.ID, t.Kind, outcome)
	}
	switch {
	case t.Kind != kindPayment:
	case t.Ended == endDone:
		o.Status, o.Receipt = statusPaid, receipt
		if len(o.Then) > 0 && o.Then[0].Kind == kindVoid {
			o.Due = now
		} else if len(o.Then) > 0 {
			o.Due = now.Add(settled)
		}
	case o.Again > 0: // the customer takes another card, an hour later
		o.Again--
		o.Due = now.Add(time.Hour)
	default:
		o.Status = statusUnpaid
	}
	return m.table.save(o)
}

// again has another write take the place of one that was not carried out.
func (m *merchant) again(o *order, t *try, due time.Time) error {
	t.Due = time.Time{}
	switch {
	case len(o.Tries) >= patience:
		if t.Kind == kindPayment {
			o.Status = statusUnpaid
		}
	case t.Kind == kindPayment:
		o.Due = due
	default:
		o.Due, o.Then = due, append(o.Then, t.step)
	}
	return m.table.save(o)
}

// payment is what pays for an order.
func payment(o *order, agreement string) quickstream.PayParams {
	p := quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: o.Amount, Currency: quickstream.CurrencyAUD,
		CustomerReferenceNumber: o.ID, PaymentReferenceNumber: o.Reference,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.10"),
	}
	switch o.Method {
	case methodBank:
		p.Source = quickstream.FromBankAccount(quickstream.BankAccountDetails{
			AccountName: "Ann Example", BSB: "032-002", AccountNumber: quickstream.NewSecret("123465"),
		})
	case methodPayTo:
		p.Source = quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: agreement})
	default:
		p.StoredCredential = &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual}
		p.Source = quickstream.FromCard(sandboxtest.Card("4242424242424242"))
	}
	return p
}
