// Command wrongprograms shows what short programs do to a customer: what each says of its payment,
// beside what the service's ledger has charged. Its tests show what ordinary mistakes do.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() {
	if _, err := table(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

const order = "ORDER-1042"

// day has the service, the clock and the client that a program runs with.
type day struct {
	box    *sandbox.Sandbox
	clock  *sandbox.Clock
	client *quickstream.Client
}

// situation is what happens to the payment.
type situation struct {
	name    string
	outcome sandbox.Outcome
	lost    int  // how many answers
	forgets bool // the service ignores keys
}

func situations() []situation {
	return []situation{
		{"declined", sandbox.Declined("54"), 0, false},
		{"suspended", sandbox.Suspended(), 0, false},
		{"one answer lost", sandbox.Approved(), 1, false},
		{"three answers lost", sandbox.Approved(), 3, false},
		{"declined, one lost", sandbox.Declined("54"), 1, false},
		{"keys ignored, one lost", sandbox.Approved(), 1, true},
	}
}

// short is a short program. pay returns the error that it goes by.
type short struct {
	name, nil string // what it says if there is no error
	pay       func(context.Context, day) error
}

func shortest() []short {
	return []short{
		{"A paid := err == nil", "paid", func(ctx context.Context, d day) error { return d.paid(ctx, "attempt-1") }},
		{"B one retry on any error", "paid", func(ctx context.Context, d day) error {
			return again(2, func() error { return d.paid(ctx, "attempt-1") })
		}},
		{"C the order's number as key", "paid", func(ctx context.Context, d day) error { return again(3, func() error { return d.paid(ctx, order) }) }},
		{"D a generic loop around Pay", "paid", func(ctx context.Context, d day) error {
			return again(5, func() error { return d.paid(ctx, "attempt-1") })
		}},
		{"E the same around Collect", "accepted", func(ctx context.Context, d day) error { return again(5, func() error { return d.collect(ctx) }) }},
		{"F a queue's job that returns the error", "paid", job},
		{"README's, and resolve", "paid", func(ctx context.Context, d day) error { return d.resolved(ctx) }},
	}
}

// again is the loop that every code base has.
func again(times int, do func() error) (err error) {
	for range times {
		if err = do(); err == nil {
			break
		}
	}
	return err
}

// job stands for one of River, which runs a job again that returned an error: after 1, 16 and 81 seconds.
func job(ctx context.Context, d day) (err error) {
	for run := 1; run <= 4; run++ {
		if err = d.paid(ctx, "job-4711"); err == nil {
			break
		}
		d.clock.Advance(time.Duration(run*run*run*run) * time.Second)
	}
	return err
}

// pay is README's payment.
func (d day) pay(ctx context.Context, key string) (*quickstream.Transaction, error) {
	return d.client.Transactions.Pay(ctx, quickstream.PayParams{
		Source:          quickstream.FromCard(sandboxtest.Card("4242424242424242")),
		PrincipalAmount: decimal.RequireFromString("49.95"), ECI: quickstream.ECIPhone, CustomerReferenceNumber: order,
	}, quickstream.WithIdempotencyKey(key))
}

func (d day) paid(ctx context.Context, key string) error {
	_, err := d.pay(ctx, key)
	return err
}

// collect is the same payment by PayTo: a nil error means accepted, and not paid yet.
func (d day) collect(ctx context.Context) error {
	_, err := d.client.PayTo.Collect(ctx, quickstream.CollectParams{
		NewAgreement: &quickstream.NewAgreementParams{
			Purpose: quickstream.AgreementPurposeRetail, Description: "Order",
			Payer: quickstream.AgreementPayerParams{
				Type: quickstream.PayerTypePerson, ID: "C-1", Name: "Ann Example",
				PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret(sandbox.ConfirmingPayID),
			},
		},
		PrincipalAmount: decimal.RequireFromString("49.95"), CustomerReferenceNumber: order,
	}, quickstream.WithIdempotencyKey("attempt-1"))
	return err
}

// resolved looks up a payment whose outcome is not known, and an approval that was sent again.
func (d day) resolved(ctx context.Context) error {
	payment, err := d.pay(ctx, "attempt-1")
	result := resolve.After(payment, err, d.clock.Now())
	if result.Case == nil {
		return err
	}
	policy, c := resolve.DefaultPolicy(resolve.ServiceRetriesOff()), *result.Case
	for looks := 0; looks < 12 && !c.NextLook.IsZero(); looks++ {
		d.clock.Advance(c.NextLook.Sub(d.clock.Now()))
		c = policy.Next(c, policy.LookUp(ctx, d.client.Transactions, c), d.clock.Now())
	}
	switch {
	case c.Status == resolve.StatusSettled && c.Outcome == quickstream.OutcomeApproved:
		return nil
	case c.Status == resolve.StatusSettled:
		return quickstream.ErrDeclined
	default: // such as double_charged: a person
		return quickstream.ErrOutcomeUnknown
	}
}

// says returns what a shop tells its customer by the error.
func says(err error, approved string) string {
	switch {
	case err == nil:
		return approved
	case errors.Is(err, quickstream.ErrDeclined):
		return "not paid"
	case errors.Is(err, quickstream.ErrPending), errors.Is(err, quickstream.ErrOutcomeUnknown):
		return "held"
	default:
		return "nothing taken"
	}
}

// table prints what each program says in each situation, and how often the customer was charged. It
// returns the places where the two disagree.
func table(ctx context.Context, w io.Writer) (wrong []string, err error) {
	var b strings.Builder
	for _, s := range situations() {
		b.WriteString(s.name + "\n")
		for _, p := range shortest() {
			clock := sandbox.NewClock(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC))
			box := sandbox.New(sandbox.WithClock(clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
				if s.forgets {
					a.KeyLifetime = 0
				}
			}))
			client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box),
				quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithClock(clock.Now), quickstream.WithRetryWait(time.Millisecond, time.Millisecond),
				quickstream.WithSupplierBusinessCode(sandbox.DefaultBusiness), quickstream.WithCurrency(quickstream.CurrencyAUD))
			if s.lost > 0 && err == nil {
				err = box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: s.lost})
			}
			if err != nil {
				return wrong, err
			}
			box.NextTransactionFor(order, s.outcome)
			said := says(p.pay(ctx, day{box, clock, client}), p.nil)
			clock.Advance(time.Hour) // the PayTo payer's bank pays
			charged := len(box.Ledger().Charged(order))
			box.Close()
			if charged > 1 && said != "held" || said == "paid" && charged == 0 || said != "paid" && said != "held" && said != "accepted" && charged > 0 {
				wrong = append(wrong, s.name+": "+p.name)
			}
			fmt.Fprintf(&b, "  %-40s says %-13s  charged %d\n", p.name, said, charged)
		}
	}
	_, err = io.WriteString(w, b.String())
	return wrong, err
}
