package wrongprograms

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// The mix is that of sandboxtest.Chaos: 30 % of the requests meet one of
// worlds.RandomFaults, 10 % of the orders are declined at first, and 10 % get
// summary code 2 at first and are approved or declined within a day.
const (
	seed     = 1
	faults   = 0.3
	declined = 0.1
	erred    = 0.1
)

// program is a merchant's code for one order. What it returns is the merchant's
// word: nil says that the order is paid, errHeld that nothing is known yet, and
// every other error that it is not paid and nothing was taken.
type program func(ctx context.Context, s *shop, order string) error

var (
	errHeld    = errors.New("held")
	errNotPaid = errors.New("not paid")
)

// The public test numbers of cards that are approved.
const (
	visa    = "4242424242424242"
	another = "4111111111111111"
)

// shop is what a program has to work with.
type shop struct {
	client  *quickstream.Client
	account string                        // the token of a kept card
	intents map[string]quickstream.Intent // stands in for a database; by order
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
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		Source:           quickstream.FromCard(sandboxtest.Card(card)),
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

// answered is the right way with a transaction that was answered or found.
func (s *shop) answered(ctx context.Context, tx *quickstream.Transaction) error {
	outcome, err := tx.Outcome()
	if err != nil {
		return s.pursue(ctx, resolve.BeginTransaction(tx, time.Now()))
	}
	return word(outcome)
}

// lookFor is the right way with a payment whose answer was lost.
func (s *shop) lookFor(ctx context.Context, intent quickstream.Intent) error {
	return s.pursue(ctx, resolve.Begin(intent, time.Now()))
}

func (s *shop) pursue(ctx context.Context, state resolve.Case) error {
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	for !state.Status.Final() {
		<-time.After(time.Until(state.NextLook))
		state = policy.Next(state, policy.LookUp(ctx, s.client.Transactions, state), time.Now())
	}
	switch state.Status {
	case resolve.StatusEscalated:
		return errHeld
	case resolve.StatusNotFound:
		return fmt.Errorf("%w: absent", errNotPaid)
	default:
		return word(state.Outcome)
	}
}

// lost returns the intent of a payment whose outcome is unknown, as it was sent.
func lost(err error) (intent quickstream.Intent, ok bool) {
	unknown, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if ok {
		intent = *unknown.Intent
	}
	return intent, ok
}

func word(o quickstream.Outcome) error {
	if o == quickstream.OutcomeApproved {
		return nil
	}
	return fmt.Errorf("%w: %s", errNotPaid, o)
}

// figures are what a program has done, as the sandbox's ledger shows.
type figures struct {
	twice          int // orders charged more than once
	believedUnpaid int // orders charged that the merchant holds to be not paid
	believedPaid   int // orders not charged that the merchant holds to be paid
	paid, held     int // orders by the merchant's word; the others are not paid
}

// measure lets a program handle all orders, one after the other so that the same
// seed gives the same figures, and judges a week later.
func measure(t *testing.T, p program) (f figures) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		box := sandbox.New(sandbox.WithSeed(seed))
		defer box.Close()
		// Equal waits take the jitter out.
		client := sandboxtest.Client(t, box, quickstream.WithRetryWait(time.Second, time.Second))
		s := &shop{client: client, account: keptCard(t, client), intents: make(map[string]quickstream.Intent)}
		drawOutcomes(box)
		if err := box.Inject(worlds.RandomFaults(faults)...); err != nil {
			t.Fatal(err)
		}
		words := make(map[string]error, orders)
		for i := range orders {
			words[orderID(i)] = p(t.Context(), s, orderID(i))
		}
		<-time.After(7 * 24 * time.Hour)
		f = judge(box.Ledger(), words)
	})
	return f
}

func keptCard(t *testing.T, client *quickstream.Client) string {
	t.Helper()
	customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1001", CustomerName: "Ann Example"})
	if err != nil {
		t.Fatal(err)
	}
	account, err := client.Accounts.Register(t.Context(), customer.CustomerID, quickstream.RegisterAccountParams{
		Source: quickstream.RegistrationFromCard(sandboxtest.Card(visa)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return account.AccountToken
}

func orderID(i int) string { return fmt.Sprintf("ORDER-%05d", i+1) }

// drawOutcomes decides the first payment of each order by the seed alone.
func drawOutcomes(box *sandbox.Sandbox) {
	dice := rand.New(rand.NewPCG(seed, 1))
	for i := range orders {
		lot, end, after := dice.Float64(), sandbox.Approved(), time.Duration(dice.Int64N(int64(24*time.Hour)))
		if dice.IntN(2) == 0 {
			end = sandbox.Declined("05")
		}
		switch {
		case lot < declined:
			box.NextTransactionFor(orderID(i), sandbox.Declined("51"))
		case lot < declined+erred:
			box.NextTransactionFor(orderID(i), sandbox.Erred().ThenAfter(after, end))
		}
	}
}

// judge reads the ledger by order and never by key or payment reference: a payer
// does not care which key the second charge had. It reads it once: asking the ledger
// for each order takes longer than paying.
func judge(ledger sandbox.Ledger, words map[string]error) (f figures) {
	charges := make(map[string]int, len(words))
	for _, entry := range ledger {
		if entry.Type == string(quickstream.TransactionTypePayment) && entry.Outcome == string(quickstream.OutcomeApproved) {
			charges[entry.CustomerReferenceNumber]++
		}
	}
	for order, word := range words {
		charged, held := charges[order] > 0, errors.Is(word, errHeld)
		switch {
		case word == nil:
			f.paid++
		case held:
			f.held++
		}
		if charges[order] > 1 {
			f.twice++
		}
		if charged && word != nil && !held {
			f.believedUnpaid++
		}
		if !charged && word == nil {
			f.believedPaid++
		}
	}
	return f
}
