package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
)

// service is all that is outside of the merchant's program: the service with its
// faults and with what it has in mind for each order, the clocks, and the crashes.
type service struct {
	box      *sandbox.Sandbox
	clock    *sandbox.Clock
	world    *sandbox.World // nil: the default one, with all kinds of fault
	begun    time.Time
	seed     uint64
	client   *quickstream.Client
	sydney   *time.Location // where the service's days begin
	orders   []plan
	attempts atomic.Int64
	// agreement is what PayTo payments of the customer are taken against.
	agreement, customer string
	// retries is what the merchant knows about his facility.
	retries resolve.ServiceRetries
	crashed sync.Map // the keys of the tries whose worker has crashed
	faulty  sync.Map // how often the writes that meet the world's fault have met it, by key

	mu      sync.Mutex
	ledger  sandbox.Ledger // of the story, at its end
	plants  plantings
	unknown []untaken // calls whose answer could not be taken, in the order of their ends
}

// untaken is a call whose answer could not be taken.
type untaken struct {
	text    string
	refusal bool // it was a write, and the status was that of a refusal
}

type method string

const (
	methodCard  method = "card"
	methodBank  method = "bank account"
	methodPayTo method = "PayTo"
)

// plan is what happens to one order.
type plan struct {
	order   order
	placed  time.Time
	outcome []sandbox.Outcome // of its payments, in order; further ones are approved
	// payable orders end approved however often they are tried, and the outcome of
	// unknowable ones is never known.
	payable, unknowable bool
	// faulty orders meet the world's fault with each of their writes, and crashing
	// ones the place where the world's workers crash.
	faulty, crashing bool
}

// attemptTimeout is how long a request may take: short, because calls that hang
// do so in real time.
const attemptTimeout = 100 * time.Millisecond

// patient is how long where nothing hangs: a slow machine is no fault.
const patient = 10 * time.Second

func open(ctx context.Context, c config, world *sandbox.World) (*service, error) {
	s := &service{clock: sandbox.NewClock(time.Now()), world: world, seed: c.seed, retries: resolve.ServiceRetriesFor(4 * 24 * time.Hour)}
	options := []sandbox.Option{sandbox.WithSeed(c.seed)}
	if world == nil {
		options = append(options, sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
			a.KeyLifetime = 0
			if c.resend {
				a.KeyLifetime = time.Minute
			}
			a.LookupLag = time.Minute
		}))
	} else {
		s.enter()
		options = append(options, sandbox.WithWorld(*world), sandbox.WithBusiness(sandbox.DefaultBusiness, "Example Shop",
			sandbox.Surcharge{Scheme: "VISA", BasisPoints: 150}))
	}
	s.begun = s.clock.Now()
	s.box = sandbox.New(append(options, sandbox.WithClock(s.clock))...)
	var err error
	s.sydney, err = time.LoadLocation("Australia/Sydney")
	if err == nil {
		s.client, err = s.connect(c, datedTransport{s})
	}
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

// connect makes a client of the merchant's.
func (s *service) connect(c config, transport http.RoundTripper) (*quickstream.Client, error) {
	timeout := attemptTimeout
	switch {
	case s.calm(c):
		timeout = patient
	case s.world != nil: // where the oracle knows which calls hang
		timeout *= 5
	}
	options := []quickstream.ClientOption{
		quickstream.WithHTTPClient(&http.Client{Transport: transport}),
		quickstream.WithAttemptTimeout(timeout),
		quickstream.WithRetryWait(time.Millisecond, 4*time.Millisecond),
		quickstream.WithObserver(quickstream.Observer{
			Attempt: func(context.Context, quickstream.CallInfo, quickstream.AttemptInfo) { s.attempts.Add(1) },
			End:     s.ended,
		}),
	}
	if !c.resend {
		options = append(options, quickstream.WithoutResend())
	}
	if s.value("Metadata") == "refused" {
		options = append(options, quickstream.WithIntentMetadata(""))
	}
	return quickstream.NewClient(quickstream.CustomURL(s.box.URL()),
		quickstream.Keys{Secret: quickstream.NewSecretKey(s.box.Keys().Secret)}, options...)
}

// ended notes the calls whose outcome is unknown, and those that cannot be read.
func (s *service) ended(_ context.Context, call quickstream.CallInfo, end quickstream.EndInfo) {
	if call.Operation == "Transactions.Void" && s.value("TransactionAnswers") == "receipt" {
		return // the answer does not say that the payment was voided
	}
	isWrite := call.Method != http.MethodGet
	if end.Result == quickstream.CallResultUndecodable || end.Result == quickstream.CallResultUnknown && isWrite {
		s.mu.Lock()
		defer s.mu.Unlock()
		text := end.Err.Error()
		if cause := errors.Unwrap(end.Err); cause != nil {
			text += ": " + cause.Error()
		}
		s.unknown = append(s.unknown, untaken{text, isWrite && isRefusal(end.StatusCode)})
	}
}

// agree makes the PayTo agreement, while nothing fails yet.
func (s *service) agree(ctx context.Context) error {
	slow := quickstream.WithAttemptTimeout(patient)
	customer, err := s.client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Ann Example"}, slow)
	if err != nil {
		return err
	}
	s.customer = customer.CustomerID
	agreement, err := s.client.PayTo.Create(ctx, s.customer, s.agreementParams(), slow)
	if err != nil {
		return err
	}
	s.agreement = agreement.AgreementToken
	s.clock.Advance(time.Hour)
	agreement, err = s.client.PayTo.Get(ctx, s.agreement, slow)
	if err == nil && agreement.Status != quickstream.AgreementStatusActive {
		err = fmt.Errorf("the PayTo agreement is %s", agreement.Status)
	}
	return err
}

func (s *service) agreementParams() quickstream.CreateAgreementParams {
	return quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Payment: quickstream.AgreementPaymentParams{
			Purpose: quickstream.PayToPurposeRetail, Description: "Orders", AutomaticRenewal: true,
			StartDate: quickstream.DateOf(s.clock.Now().In(s.sydney)),
		},
		Terms: quickstream.AgreementTermsParams{Frequency: quickstream.PayToFrequencyMonthly, Type: quickstream.PayToAgreementTypeVariable},
		Payer: quickstream.PayToPayerParams{
			Type: quickstream.PayerTypePerson, ID: "C-1", Name: "Ann Example",
			PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret(sandbox.ConfirmingPayID),
		},
	}
}

// plan draws the orders. They come in three waves, on either side of a cut-off.
func (s *service) plan(c config) {
	dice := s.dice("orders")
	for i := range c.payments {
		p := plan{placed: s.clock.Now().Add(time.Duration(i*3/c.payments) * 8 * time.Hour)}
		p.order = order{ID: fmt.Sprintf("ORDER-%06d", i+1), Amount: decimal.New(100+dice.Int64N(50_000), -2), Method: methodCard, Status: statusOpen}
		switch dice.IntN(100) / 15 {
		case 0:
			p.order.Method = methodBank
		case 1:
			p.order.Method = methodPayTo
		}
		var outcome sandbox.Outcome
		wait := 24 * time.Hour
		if s.world != nil {
			wait = s.waits()[0]
		}
		outcome, p.payable, p.unknowable = draw(dice, p.order.Method, wait)
		p.outcome = []sandbox.Outcome{outcome}
		if p.payable && outcome == (sandbox.Outcome{}) {
			p.outcome = nil
		}
		if s.world != nil {
			s.ask(&p, i, dice, c.faults)
		}
		s.box.NextTransactionFor(p.order.ID, p.outcome...)
		s.orders = append(s.orders, p)
	}
}

// draw says what becomes of the first payment of an order; the zero outcome is what
// the test numbers say, which is approved. The service retries after the time given.
func draw(dice *rand.Rand, m method, retried time.Duration) (_ sandbox.Outcome, payable, unknowable bool) {
	later := time.Duration(dice.IntN(24*60)) * time.Minute
	switch lot := dice.IntN(1000); {
	case lot < 30:
		return sandbox.Declined("51"), false, false
	case lot < 40:
		return sandbox.Rejected("QA"), false, false
	case lot < 80: // summary code 2
		return sandbox.Erred().ThenAfter(later, sandbox.Approved()), true, false
	case lot < 100:
		return sandbox.Erred().ThenAfter(later, sandbox.Declined("05")), false, false
	case lot < 105:
		return sandbox.Erred().ThenAfter(later, sandbox.Rejected("QA")), false, false
	case lot < 110:
		return sandbox.Erred(), false, true
	case lot < 130 && m == methodCard: // the service tries again by itself
		return sandbox.Declined("01").ThenRetried(retried, sandbox.Approved()), true, false
	case lot < 140 && m == methodCard:
		return sandbox.Declined("01").ThenRetried(retried, sandbox.Declined("51")), false, false
	default:
		return sandbox.Outcome{}, true, false
	}
}

// dice are the same for a purpose and a seed.
func (s *service) dice(purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, purpose)                   // a hash takes everything
	return rand.New(rand.NewPCG(s.seed, h.Sum64())) //nolint:gosec // repeatable on purpose
}

// arm sets the faults off. Each kind comes once for certain, and then by chance.
func (s *service) arm(c config) error {
	if c.faults == 0 {
		return nil
	}
	if s.world != nil {
		return s.armWorld()
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

// crashes says whether a worker dies at a place: once in 25 times at two of them, and
// in a world where that has them die, once for each try.
func (s *service) crashes(o *order, t *try, where string) bool {
	if s.world != nil {
		return s.crashesInWorld(o, t, where)
	}
	return where != "betweenLooks" && s.dice(fmt.Sprint(o.ID, len(o.Tries), where)).IntN(25) == 0
}

// fill stores the orders where the merchant's program finds them.
func (s *service) fill() (*table, error) {
	table := newTable()
	for _, p := range s.orders {
		o := p.order
		o.Due = p.placed.Add(s.now().Sub(s.clock.Now()))
		if err := table.save(&o); err != nil {
			return nil, err
		}
	}
	return table, nil
}
