package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// service is the world outside of the merchant: the service with its clock, its
// faults, and what it has in mind for each order.
type service struct {
	box      *sandbox.Sandbox
	clock    *sandbox.Clock
	client   *quickstream.Client
	orders   []plan
	attempts atomic.Int64
	// agreement is what PayTo payments are taken against.
	agreement string
}

type method string

const (
	methodCard  method = "card"
	methodBank  method = "bank account"
	methodPayTo method = "PayTo"
)

// plan is what happens to one order.
type plan struct {
	id      string
	amount  decimal.Decimal
	method  method
	placed  time.Time
	outcome []sandbox.Outcome // of its first payment; none: approved
	// payable orders end approved however often they are tried, and the outcome of
	// unknowable ones is never known.
	payable, unknowable bool
}

// attemptTimeout is how long a request may take: short, because calls that hang
// do so in real time.
const attemptTimeout = 100 * time.Millisecond

func open(ctx context.Context, c config) (*service, error) {
	s := &service{clock: sandbox.NewClock(time.Now())}
	s.box = sandbox.New(sandbox.WithClock(s.clock), sandbox.WithSeed(c.seed), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.KeyLifetime = 0
		if c.resend {
			a.KeyLifetime = time.Minute
		}
		a.LookupLag = time.Minute
	}))
	options := []quickstream.ClientOption{
		quickstream.WithHTTPClient(s.box.HTTPClient()),
		quickstream.WithAttemptTimeout(attemptTimeout),
		quickstream.WithRetryWait(time.Millisecond, 4*time.Millisecond),
		quickstream.WithObserver(quickstream.Observer{
			Attempt: func(context.Context, quickstream.CallInfo, quickstream.AttemptInfo) { s.attempts.Add(1) },
		}),
	}
	if !c.resend {
		options = append(options, quickstream.WithoutResend())
	}
	var err error
	s.client, err = quickstream.NewClient(quickstream.CustomURL(s.box.URL()),
		quickstream.Keys{Secret: quickstream.NewSecretKey(s.box.Keys().Secret)}, options...)
	if err == nil {
		err = s.agree(ctx)
	}
	if err == nil {
		s.plan(c)
		err = s.arm(c)
	}
	if err != nil {
		s.box.Close()
		return nil, err
	}
	return s, nil
}

// agree makes the PayTo agreement, while nothing fails yet.
func (s *service) agree(ctx context.Context) error {
	sydney, err := time.LoadLocation("Australia/Sydney") // where the service's days begin
	if err != nil {
		return err
	}
	customer, err := s.client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Ann Example"})
	if err != nil {
		return err
	}
	agreement, err := s.client.PayTo.Create(ctx, customer.CustomerID, quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Payment: quickstream.AgreementPaymentParams{
			Purpose: quickstream.PayToPurposeRetail, Description: "Orders", AutomaticRenewal: true,
			StartDate: quickstream.DateOf(s.clock.Now().In(sydney)),
		},
		Terms: quickstream.AgreementTermsParams{Frequency: quickstream.PayToFrequencyMonthly, Type: quickstream.PayToAgreementTypeVariable},
		Payer: quickstream.PayToPayerParams{
			Type: quickstream.PayerTypePerson, ID: customer.CustomerNumber, Name: customer.CustomerName,
			PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret(sandbox.ConfirmingPayID),
		},
	})
	if err != nil {
		return err
	}
	s.agreement = agreement.AgreementToken
	s.clock.Advance(time.Hour)
	agreement, err = s.client.PayTo.Get(ctx, s.agreement)
	if err == nil && agreement.Status != quickstream.AgreementStatusActive {
		err = fmt.Errorf("the PayTo agreement is %s", agreement.Status)
	}
	return err
}

// plan draws the orders. They come in three waves, on either side of a cut-off.
func (s *service) plan(c config) {
	dice := rand.New(rand.NewPCG(c.seed, 1)) //nolint:gosec // repeatable on purpose
	for i := range c.payments {
		p := plan{
			id: fmt.Sprintf("ORDER-%06d", i+1), amount: decimal.New(100+dice.Int64N(50_000), -2),
			placed: s.clock.Now().Add(time.Duration(i*3/c.payments) * 8 * time.Hour), method: methodCard,
		}
		switch dice.IntN(100) / 15 {
		case 0:
			p.method = methodBank
		case 1:
			p.method = methodPayTo
		}
		p.outcome, p.payable, p.unknowable = outcome(dice, p.method)
		s.box.NextTransactionFor(p.id, p.outcome...)
		s.orders = append(s.orders, p)
	}
}

// outcome draws what becomes of the first payment of an order.
func outcome(dice *rand.Rand, m method) (_ []sandbox.Outcome, payable, unknowable bool) {
	later := time.Duration(dice.IntN(24*60)) * time.Minute
	script := func(o sandbox.Outcome) []sandbox.Outcome { return []sandbox.Outcome{o} }
	switch lot := dice.IntN(1000); {
	case lot < 30:
		return script(sandbox.Declined("51")), false, false
	case lot < 40:
		return script(sandbox.Rejected("QA")), false, false
	case lot < 80: // summary code 2
		return script(sandbox.Erred().ThenAfter(later, sandbox.Approved())), true, false
	case lot < 100:
		return script(sandbox.Erred().ThenAfter(later, sandbox.Declined("05"))), false, false
	case lot < 105:
		return script(sandbox.Erred().ThenAfter(later, sandbox.Rejected("QA"))), false, false
	case lot < 110:
		return script(sandbox.Erred()), false, true
	case lot < 130 && m == methodCard: // the service tries again by itself
		return script(sandbox.Declined("01").ThenRetried(24*time.Hour, sandbox.Approved())), true, false
	case lot < 140 && m == methodCard:
		return script(sandbox.Declined("01").ThenRetried(24*time.Hour, sandbox.Declined("51"))), false, false
	default:
		return nil, true, false
	}
}

// arm sets the faults off. Each kind comes once for certain, and then by chance.
func (s *service) arm(c config) error {
	if c.faults == 0 {
		return nil
	}
	faults := sandbox.RandomFaults(c.faults)
	if len(faults) == 0 {
		return errors.New("no faults")
	}
	certain := make([]sandbox.Fault, len(faults))
	for i, f := range faults {
		certain[i] = sandbox.Fault{Kind: f.Kind, Nth: 1 + i*c.payments/len(faults)}
	}
	return s.box.Inject(append(certain, faults...)...)
}
