package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/oracle"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// openShop makes a client, a PayTo agreement, and a row for each order.
func openShop(ctx context.Context, r *oracle.Run, c config) (*merchant, error) {
	m := &merchant{run: r, naive: c.naive, reverses: c.World.Value("ReversalAfter") != "0s", table: table{receipts: make(map[string]int)}}
	options := []quickstream.ClientOption{
		quickstream.WithHTTPClient(&http.Client{Transport: r.Transport()}), quickstream.WithClock(r.Now),
		quickstream.WithAttemptTimeout(time.Hour), // nothing hangs, and a slow machine is no fault
		quickstream.WithRetryWait(time.Millisecond, 4*time.Millisecond), quickstream.WithObserver(m.observer(c)),
	}
	if !c.resend {
		options = append(options, quickstream.WithoutResend())
	}
	switch c.World.Value("StatusForm") { // technical support has said what it means
	case "unlisted":
		options = append(options, quickstream.WithStatusOutcome("Settled", quickstream.OutcomeApproved), quickstream.WithStatusOutcome("Reversed", quickstream.OutcomeVoided))
	case "absent":
		options = append(options, quickstream.WithStatusOutcome("", quickstream.OutcomeApproved))
	}
	var err error
	m.client, err = quickstream.NewClient(quickstream.CustomURL(r.Box.URL()), sandboxtest.Keys(r.Box), options...)
	if err != nil {
		return m, err
	}
	retries := resolve.ServiceRetriesOff()
	if last := r.RetriesFor(); last > 0 {
		retries = resolve.ServiceRetriesFor(last)
	}
	m.policy = resolve.DefaultPolicy(retries)
	if err := errors.Join(m.agree(ctx), m.payFirst(ctx), r.Begin()); err != nil {
		return m, err
	}
	for _, o := range r.Orders {
		step := oracle.Step{Kind: oracle.Payment, Amount: o.Amount}
		if o.Method == oracle.Hold {
			step.Kind = oracle.Preauth
		}
		err = errors.Join(err, m.table.save(&write{Order: o, Step: step, Due: o.Placed}))
	}
	return m, err
}

// observer counts requests. In runs without faults it notes the answers that the client could not use.
func (m *merchant) observer(c config) quickstream.Observer {
	return quickstream.Observer{
		Attempt: func(context.Context, quickstream.CallInfo, quickstream.AttemptInfo) { m.requests.Add(1) },
		End: func(_ context.Context, call quickstream.CallInfo, end quickstream.EndInfo) {
			unknown := end.Result == quickstream.CallResultUnknown && call.Method != http.MethodGet
			formless := unknown && end.StatusCode >= 400 && end.StatusCode < 500 && m.run.Formless()
			lost, _ := errors.AsType[*quickstream.UnknownOutcomeError](end.Err)
			silent := lost != nil && lost.Transaction != nil // it was read, and does not say how the payment ended
			if c.Faults == 0 && (unknown || end.Result == quickstream.CallResultUndecodable) && !formless && !silent && m.run.ProvesAnswers() {
				m.noted.Lock()
				defer m.noted.Unlock()
				m.notTaken = append(m.notTaken, fmt.Sprintf("%v: %v", end.Err, errors.Unwrap(end.Err)))
			}
		},
	}
}

// agree makes the PayTo agreement that payments are taken against, before the faults begin.
func (m *merchant) agree(ctx context.Context) error {
	sydney, err := time.LoadLocation("Australia/Sydney") // where the service's days begin
	if err != nil {
		return err
	}
	customer, err := m.client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Ann Example"})
	if err != nil {
		return err
	}
	agreement, err := m.client.PayTo.Create(ctx, customer.CustomerID, quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Payment: quickstream.AgreementPaymentDetails{
			Purpose: quickstream.AgreementPurposeRetail, Description: "All  orders", AutomaticRenewal: true, StartDate: quickstream.DateOf(m.run.Box.Now().In(sydney)),
		},
		Terms: quickstream.AgreementTermsParams{Frequency: quickstream.AgreementFrequencyMonthly, Type: quickstream.AgreementTypeVariable},
		Payer: quickstream.AgreementPayerParams{
			Type: quickstream.PayerTypePerson, ID: "C-1", Name: "Ann Example",
			PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret(sandbox.ConfirmingPayID),
		},
	})
	if err != nil {
		return err
	}
	m.agreement = agreement.AgreementToken
	return m.run.AdvanceTo(ctx, m.run.Now().Add(time.Hour)) // the payer has confirmed it
}

// first is the order of a payment before the faults begin: the merchant is not new to the service.
const first = "FIRST"

func (m *merchant) payFirst(ctx context.Context) error {
	w := &write{Order: oracle.Order{ID: first}, Step: oracle.Step{Kind: oracle.Payment, Amount: decimal.New(1, 0)}}
	tx, err := m.call(ctx, w, quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error { w.Intent = &intent; return nil }))
	switch result := resolve.After(tx, err, m.run.Now()); {
	case result.Outcome == quickstream.OutcomeApproved:
		return m.end(w, oracle.Done, tx.ReceiptNumber)
	case result.Case != nil: // an answer that does not say so
		return m.hold(w, *result.Case)
	default:
		return err
	}
}

// call sends a write, under a key that the client makes.
func (m *merchant) call(ctx context.Context, w *write, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
	manual := &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual}
	visa := quickstream.FromCard(sandboxtest.Card("4242424242424242"))
	switch w.Kind {
	case oracle.Preauth:
		return m.client.Transactions.Preauthorise(ctx, quickstream.PreauthoriseParams{
			SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: w.Amount, Currency: quickstream.CurrencyAUD,
			CustomerReferenceNumber: w.Order.ID, PaymentReferenceNumber: w.Order.Reference,
			ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.10"), Source: visa,
		}, opts...)
	case oracle.TopUp:
		return m.client.Transactions.TopUp(ctx, quickstream.TopUpParams{
			OriginalReceiptNumber: w.Original, PrincipalAmount: w.Amount, Currency: quickstream.CurrencyAUD, FollowUpDetails: quickstream.FollowUpDetails{CustomerReferenceNumber: w.Order.ID},
		}, opts...)
	case oracle.Capture:
		return m.client.Transactions.Capture(ctx, quickstream.CaptureParams{
			OriginalReceiptNumber: w.Original, PrincipalAmount: w.Amount, Currency: quickstream.CurrencyAUD, FollowUpDetails: quickstream.FollowUpDetails{CustomerReferenceNumber: w.Order.ID}, StoredCredential: manual,
		}, opts...)
	case oracle.Cancellation:
		return m.client.Transactions.CancelPreauthorisation(ctx, quickstream.CancelPreauthorisationParams{
			OriginalReceiptNumber: w.Original, PrincipalAmount: w.Amount, Currency: quickstream.CurrencyAUD, FollowUpDetails: quickstream.FollowUpDetails{CustomerReferenceNumber: w.Order.ID},
			Type: quickstream.CancellationTypePartial,
		}, opts...)
	case oracle.Refund:
		return m.client.Transactions.Refund(ctx, quickstream.RefundParams{
			OriginalReceiptNumber: w.Original, PrincipalAmount: w.Amount, Currency: quickstream.CurrencyAUD, FollowUpDetails: quickstream.FollowUpDetails{CustomerReferenceNumber: w.Order.ID},
		}, opts...)
	case oracle.Void:
		return m.client.Transactions.Void(ctx, w.Original, opts...)
	}
	p := quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: w.Amount, Currency: quickstream.CurrencyAUD,
		CustomerReferenceNumber: w.Order.ID, PaymentReferenceNumber: w.Order.Reference,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.10"),
	}
	switch w.Order.Method {
	case oracle.Bank:
		p.Source = quickstream.FromBankAccount(quickstream.BankAccountDetails{
			AccountName: "Ann Example", BSB: "032-002", AccountNumber: quickstream.NewSecret("123465"),
		})
	case oracle.PayTo:
		return m.client.PayTo.Collect(ctx, quickstream.CollectParams{
			SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: w.Amount, Currency: quickstream.CurrencyAUD,
			CustomerReferenceNumber: w.Order.ID, PaymentReferenceNumber: w.Order.Reference,
			AgreementToken: m.agreement,
		}, opts...)
	default:
		p.Source = visa
	}
	return m.client.Transactions.Pay(ctx, p, opts...)
}

// instead returns the write that takes the place of one that was not carried out, or none if it
// was tried often enough.
func (m *merchant) instead(w *write, due time.Time, again bool) []write {
	if w.Tries++; w.Tries >= patience {
		return nil
	}
	return []write{{Order: w.Order, Step: w.Step, Original: w.Original, Tries: w.Tries, Again: w.Again || again, Due: due}}
}

// end stores how a write has ended, and the writes that follow from it.
func (m *merchant) end(w *write, ended, receipt string, next ...write) error {
	w.Ended, w.Receipt, w.Due = ended, receipt, time.Time{}
	err := m.table.save(w)
	for i := range next {
		err = errors.Join(err, m.table.save(&next[i]))
	}
	return err
}

func (m *merchant) crashes(w *write, where string) bool {
	return w.Order.ID != first && m.run.Crashes(w.Order.ID, w.Intent.IdempotencyKey, where, w.Again) && !m.naive
}

// words returns what the merchant says of each write in the end.
func (m *merchant) words() (words []oracle.Write) {
	for i := range m.table.rows {
		w := m.table.load(i + 1)
		if w.Intent == nil {
			continue
		}
		word := oracle.Write{
			Order: w.Order.ID, Kind: w.Kind, Key: w.Intent.IdempotencyKey, Original: w.Original, Amount: w.Amount,
			Ended: cmp.Or(w.Ended, oracle.Held), Receipt: w.Receipt,
		}
		if w.Kind == oracle.Payment || w.Kind == oracle.Preauth {
			word.Reference = w.Order.Reference
		}
		words = append(words, word)
	}
	return words
}
