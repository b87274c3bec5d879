package oracle

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/sandbox"
)

// Kinds of writes.
const (
	Payment      = "payment"
	Refund       = "refund"
	Void         = "void"
	Preauth      = "pre-authorisation"
	TopUp        = "top-up"
	Capture      = "capture"
	Cancellation = "cancellation"
)

// Ways to pay.
const (
	Card  = "card"
	Bank  = "bank account"
	PayTo = "PayTo"
	Hold  = "card, held first"
)

// Order is an order that a merchant is to have paid.
type Order struct {
	ID     string // the customerReferenceNumber of its payments
	Amount decimal.Decimal
	Method string
	// Reference is the merchant's own for its payments; without one the client makes another
	// for each.
	Reference string
	Placed    time.Time // by the merchant's clock
	Then      []Step    // what to do with its payment
	Again     int       // how often the customer comes back after a decline

	faulty, crashing bool // its writes meet the world's fault, and its workers crash
}

// Step is something to do with a payment.
type Step struct {
	Kind   string
	Amount decimal.Decimal // of a refund
}

// drawOrders draws the orders. They come in three waves, on either side of a cut-off.
func (r *Run) drawOrders() {
	dice, shift := r.dice("orders"), r.Now().Sub(r.clock.Now())
	for i := range r.opts.Orders {
		o := Order{
			ID: fmt.Sprintf("ORDER-%06d", i+1), Amount: decimal.New(100+dice.Int64N(50_000), -2), Method: Card,
			Placed: r.clock.Now().Add(time.Duration(i*3/r.opts.Orders)*8*time.Hour + shift),
		}
		switch dice.IntN(100) / 15 {
		case 0:
			o.Method = Bank
		case 1:
			o.Method = PayTo
		case 2:
			o.Method = Hold
		}
		outcomes := drawOutcome(dice, o.Method, r.waits())
		if dice.IntN(10) == 0 {
			outcomes = []sandbox.Outcome{sandbox.Declined([]string{"01", "05", "51", "91"}[dice.IntN(4)])}
		}
		if dice.IntN(3) == 0 {
			o.Reference = fmt.Sprintf("Inv-%d", i+1) // the first is a prefix of others
			if i%4 == 3 {
				o.Reference += " "
			}
		}
		part := Step{Refund, o.Amount.Div(decimal.New(4, 0)).RoundDown(2)}
		switch lot := dice.IntN(10); {
		case o.Method == Hold:
			o.Then = []Step{{TopUp, part.Amount}, {Capture, o.Amount}}
			if lot < 4 {
				o.Then[1] = Step{Cancellation, part.Amount}
			}
		case lot == 0:
			o.Then = []Step{{Refund, o.Amount}}
		case lot <= 2 && o.Method != PayTo:
			o.Then = []Step{part, part}
		case lot == 3 && o.Method == Card:
			o.Then = []Step{{Kind: Void}}
		}
		o.Again = dice.IntN(2)
		first := i == 0 && r.opts.Faults > 0 // so that every world has its fault
		o.faulty, o.crashing = first || dice.Float64() < r.opts.Faults/3, first || dice.Float64() < r.opts.Faults/6
		r.Box.NextTransactionFor(o.ID, outcomes...)
		r.Orders = append(r.Orders, o)
	}
}

// drawOutcome returns the outcome of the first payment of an order; none leaves it to the test
// numbers, which approve. The service retries declines after the waits given.
func drawOutcome(dice *rand.Rand, method string, waits []time.Duration) []sandbox.Outcome {
	later := time.Duration(dice.IntN(24*60)) * time.Minute
	one := func(o sandbox.Outcome) []sandbox.Outcome { return []sandbox.Outcome{o} }
	switch lot := dice.IntN(1000); {
	case lot < 30:
		return one(sandbox.Declined("51"))
	case lot < 40:
		return one(sandbox.Rejected("QA"))
	case lot < 80: // summary code 2
		return one(sandbox.Erred().ThenAfter(later, sandbox.Approved()))
	case lot < 100:
		return one(sandbox.Erred().ThenAfter(later, sandbox.Declined("05")))
	case lot < 105:
		return one(sandbox.Erred().ThenAfter(later, sandbox.Rejected("QA")))
	case lot < 110: // its outcome is never known
		return one(sandbox.Erred())
	case lot < 160 && method == Card && len(waits) < 2: // the service does not retry
		return one(sandbox.Declined("51"))
	case lot < 130 && method == Card: // the service retries
		return one(sandbox.Declined("01").ThenAfter(waits[0], sandbox.Approved()))
	case lot < 140 && method == Card:
		return one(sandbox.Declined("01").ThenAfter(waits[0], sandbox.Declined("51")))
	case lot < 160 && method == Card: // and retries again
		return one(sandbox.Declined("01").ThenAfter(waits[0], sandbox.Declined("01").ThenAfter(waits[1], sandbox.Approved())))
	default:
		return nil
	}
}
