package walk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const order, otherOrder = "ORDER-1", "ORDER-0"

// way is one way through the tree: a write, what its attempts meet, and when its process
// dies.
type way struct {
	write
	world
	letters []letter
	looks   []sandbox.Fault // what the look-ups meet
	dies    int             // the point at which the first process dies; 0 for never
	killing time.Duration   // after the first byte, when the first process dies
	rest    time.Duration   // until the next process starts
	second  *second
	watch   bool // until ended cases are no longer looked at
	options []quickstream.CallOption
	// patience ends the context of the call, and lookTime that of each look-up.
	patience, lookTime time.Duration
	sleep              time.Duration // between the call and the first look
}

// second is another process with the same intent.
type second struct {
	after  time.Duration
	looker bool // it looks up and does not try to send
}

// write is an operation that moves money.
type write struct {
	name      string
	operation string // the sandbox's id
	class     transport.Class
	// prepare sets plan, or pay for a write that is not planned.
	prepare func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client, w *way)
	plan    func(context.Context, *quickstream.Client) (quickstream.Intent, error)
	pay     func(context.Context, *quickstream.Client, []quickstream.CallOption) (*quickstream.Transaction, error)
	success quickstream.Outcome
	// happened counts how often the write was carried out, and settles reports whether an
	// entry settles it.
	happened func(sandbox.Ledger) int
	settles  func(sandbox.Entry) bool
}

// world is how the service behaves.
type world struct {
	of        string
	assume    func(*sandbox.Assumptions)
	outcomes  []sandbox.Outcome
	reference string // the merchant's own
	neighbour *neighbour
	calendar  bool // the merchant's, with every weekday
	forgets   bool // it may forget a key while the first request with it is under way
	// mayHold: the payment may be left to a person. mayDouble: the service may charge twice,
	// and must report it to the merchant. beyond: the payment is carried out after it is
	// absent, and the merchant must find out.
	mayHold, mayDouble, beyond bool
}

// neighbour is an approved payment of another order with the same reference, an hour before
// or a minute after the call.
type neighbour struct {
	amount string
	later  bool
	id     bool // it carries the id of its own intent
}

func (w way) String() string {
	var names []string
	for _, l := range w.letters {
		names = append(names, l.name)
	}
	text := fmt.Sprintf("%s, %s world, attempts meet [%s]", w.name, w.of, strings.Join(names, ", "))
	if w.dies > 0 {
		text += fmt.Sprintf(", process dies at point %d for %s", w.dies, w.rest)
	}
	if w.killing > 0 {
		text += fmt.Sprintf(", process dies %s after the first byte", w.killing)
	}
	if w.second != nil {
		text += fmt.Sprintf(", second process %+v", *w.second)
	}
	if len(w.looks) > 0 {
		text += fmt.Sprintf(", look-ups meet %s", w.looks[0].Kind)
	}
	return text
}

// wordFor is the meaning of an outcome of the write's transaction.
func (w *way) wordFor(o quickstream.Outcome) word {
	if o == w.success {
		return isDone
	}
	return isRefused
}

func (w *way) wordOf(s resolve.Case) word {
	switch s.Status {
	case resolve.StatusSettled:
		return w.wordFor(s.Outcome)
	case resolve.StatusNotFound:
		return isAbsent
	case resolve.StatusDoubleCharged:
		return isTwice
	default:
		return isHeld
	}
}

func payment(source quickstream.AccountSource) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.RequireFromString("10.50"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), CustomerReferenceNumber: order,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual}, Source: source,
	}
}

func card() quickstream.CardDetails { return sandboxtest.Card("4242424242424242") }

func charged(l sandbox.Ledger) int { return len(l.Charged(order)) }

// paid is a payment whose intent is stored by WithBeforeSend.
func paid() write {
	return write{
		name: "payment", operation: "POST /transactions", class: transport.Keyed, success: quickstream.OutcomeApproved, happened: charged,
		settles: func(e sandbox.Entry) bool {
			return e.CustomerReferenceNumber == order && (e.Outcome == "approved" || e.Outcome == "declined")
		},
		prepare: func(_ *testing.T, _ *sandbox.Sandbox, _ *quickstream.Client, w *way) {
			w.pay = func(ctx context.Context, c *quickstream.Client, opts []quickstream.CallOption) (*quickstream.Transaction, error) {
				params := payment(quickstream.FromCard(card()))
				params.PaymentReferenceNumber = w.reference
				return c.Transactions.Pay(ctx, params, opts...)
			}
		},
	}
}

// submitted is a payment that is planned, stored, claimed and sent.
func submitted() write {
	w := paid()
	w.prepare = func(t *testing.T, _ *sandbox.Sandbox, client *quickstream.Client, w *way) {
		customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Ann Example"})
		require.NoError(t, err)
		account, err := client.Accounts.Register(t.Context(), customer.CustomerID, quickstream.RegisterAccountParams{Card: new(card())})
		require.NoError(t, err)
		w.plan = func(ctx context.Context, c *quickstream.Client) (quickstream.Intent, error) {
			params := payment(quickstream.FromAccount(account.AccountToken, quickstream.AccountTypeCreditCard))
			params.PaymentReferenceNumber = w.reference
			return c.Transactions.Plan(ctx, params)
		}
	}
	return w
}

// voided reverses a payment.
func voided() write {
	return write{
		name: "void", operation: "POST /transactions/{receiptNumber}/void", class: transport.Post, success: quickstream.OutcomeVoided,
		settles: func(e sandbox.Entry) bool { return e.Outcome == string(isVoided) },
		happened: func(l sandbox.Ledger) (n int) {
			for _, e := range l {
				if e.Outcome == string(isVoided) {
					n++
				}
			}
			return n
		},
		prepare: func(t *testing.T, _ *sandbox.Sandbox, client *quickstream.Client, w *way) {
			tx, err := client.Transactions.Pay(t.Context(), payment(quickstream.FromCard(card())))
			require.NoError(t, err)
			w.plan = func(ctx context.Context, c *quickstream.Client) (quickstream.Intent, error) {
				return c.Transactions.PlanVoid(ctx, tx.ReceiptNumber)
			}
		},
	}
}

// play walks the way and compares the merchant's belief with the ledger. It returns the
// number of attempts of the call, and of the first process's points.
func (w way) play(t *testing.T, census *census) (attempts, points int) {
	synctest.Test(t, func(t *testing.T) {
		wait(57 * time.Hour) // until a Monday at 20:00 in Sydney, after the cut-off
		var options []sandbox.Option
		options = append(options, sandbox.WithAssumptions(sandbox.Unkind))
		if w.assume != nil {
			options = append(options, sandbox.WithAssumptions(w.assume))
		}
		box, plain := sandboxtest.New(t, options...)
		if n := w.neighbour; n != nil && !n.later {
			w.payFor(t, plain, n)
			wait(time.Hour)
		}
		w.prepare(t, box, plain, &w)
		wait(time.Minute)
		box.ResetRequests()
		plain.CloseIdleConnections()
		box.NextTransaction(w.outcomes...)
		inject(t, box, w.operation, w.letters)
		require.NoError(t, box.Inject(w.looks...))

		one := w.merchant(t, box, census)
		if n := w.neighbour; n != nil && n.later {
			go func() {
				wait(time.Minute) // all attempts were made
				w.payFor(t, plain, n)
			}()
		}
		merchants := w.walk(t, one)
		wait(60 * time.Hour) // for payments that are carried out late
		attempts, points = one.resp.Attempts, one.now.points
		census.add(w, one, box)
		for _, m := range merchants {
			if wrong := w.verdict(box, m); wrong != "" && !w.apart() {
				census.fails(w, wrong, fmt.Sprint(m.said, " ", m.sent), box)
			}
		}
	})
	return attempts, points
}

// apart reports whether no client that sends again can be right: the service has forgotten
// the key, and an attempt is under way until after the cut-off. Merchants can choose the ways
// without re-sending, which must be right.
func (w way) apart() bool {
	return w.forgets && slices.ContainsFunc(w.letters, func(l letter) bool { return l.late > 24*time.Hour })
}

// walk runs the processes of the way, and returns what each of them believes.
func (w way) walk(t *testing.T, one *merchant) []*merchant {
	if w.second != nil {
		return w.both(t, one)
	}
	p := one.live(t, w.dies, w.killing)
	points := p.points
	if p.dead {
		wait(max(w.rest, time.Second))
		one.live(t, 0, 0)
	}
	one.now.points = points
	return []*merchant{one}
}

// both runs two processes on one planned intent.
func (w way) both(t *testing.T, one *merchant) []*merchant {
	intent, err := w.plan(t.Context(), one.client)
	require.NoError(t, err)
	one.save(t, &process{}, record{Step: planned, Intent: intent})
	two := *one
	two.said = nil
	two.client = sandboxtest.Client(t, one.box, one.settings...)
	if w.second.looker {
		two.save(t, &process{}, record{Step: sending, Intent: intent})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		wait(w.second.after)
		two.live(t, 0, 0)
	}()
	one.live(t, 0, 0)
	<-done
	return []*merchant{one, &two}
}

func (w *way) merchant(t *testing.T, box *sandbox.Sandbox, census *census) *merchant {
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	if w.calendar {
		policy.Calendar = resolve.Calendar{Until: quickstream.NewDate(2000, time.December, 31), IsBusinessDay: func(d quickstream.Date) bool {
			day := d.In(time.UTC).Weekday()
			return day != time.Saturday && day != time.Sunday
		}}
	}
	m := &merchant{policy: policy, way: *w, claims: new(claims), census: census, box: box}
	m.settings = []quickstream.ClientOption{quickstream.WithMaxAttempts(4), quickstream.WithAttemptTimeout(10 * time.Second)}
	m.client = sandboxtest.Client(t, box, append(m.settings, quickstream.WithHTTPClient(&http.Client{
		Transport: wire{box.HTTPClient().Transport, func() *process { return m.now }},
	}))...)
	return m
}

// payFor makes the neighbour's payment.
func (w way) payFor(t *testing.T, client *quickstream.Client, n *neighbour) {
	params := payment(quickstream.FromCard(card()))
	params.PaymentReferenceNumber, params.CustomerReferenceNumber = w.reference, otherOrder
	params.PrincipalAmount = decimal.RequireFromString(n.amount)
	var opts []quickstream.CallOption
	if !n.id {
		opts = append(opts, quickstream.WithIntentMetadata(""))
	}
	_, err := client.Transactions.Pay(t.Context(), params, opts...)
	require.NoError(t, err)
}

// verdict returns what is wrong with a process's belief, by the final ledger.
func (w way) verdict(box *sandbox.Sandbox, m *merchant) string {
	done := w.happened(box.Ledger())
	if done > 1 && !w.mayDouble {
		return fmt.Sprintf("was carried out %d times", done)
	}
	for _, said := range m.said {
		switch {
		case said == isDone && done == 0:
			return "is done, as the merchant believes, and was not carried out"
		case said == isTwice && done < 2:
			return "was carried out twice, as the merchant believes, and was not"
		case (said == isRefused || said == isNotSent) && done > 0, said == isAbsent && done > 0 && !w.beyond:
			return "was carried out, and the merchant was told that it is " + string(said)
		}
	}
	arrived := func(r sandbox.Request) bool {
		return r.Operation == w.operation && !bytes.Contains(r.Body, []byte(otherOrder))
	}
	if errors.Is(m.sent, quickstream.ErrNotSent) && slices.ContainsFunc(box.Requests(), arrived) {
		return "was sent, and the error matches ErrNotSent"
	}
	switch last := m.last(); {
	case last == saysNothing:
		return "has come to no end"
	case done > 1 && last != isTwice:
		return "was carried out twice, and the merchant does not know"
	case last == isHeld && !w.mayHold:
		return "is held although it need not be"
	case done == 1 && last != isDone && last != isHeld:
		return "was carried out and is lost"
	}
	return ""
}

func wait(d time.Duration) { <-time.After(d) }
