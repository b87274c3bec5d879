package clienttest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/leaktest"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// crowd is one client that many goroutines use and give up on.
type crowd struct {
	client  *quickstream.Client
	receipt string // of a payment that is there
	hook    http.Handler
	signer  webhooks.Signer

	mu   sync.Mutex
	paid map[string]bool // by order: what the merchant believes
	gave atomic.Int64    // up
	done atomic.Int64
}

// givingUp returns a context that ends at some point of a call, or after it.
func givingUp(ctx context.Context) (context.Context, context.CancelFunc) {
	after := time.Millisecond / 4 << rand.N(12) // up to half a second, for machines of any speed
	if rand.N(2) == 0 {
		return context.WithTimeout(ctx, after)
	}
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(after, cancel)
	return ctx, func() { timer.Stop(); cancel() }
}

// pay pays for an order, and again only when nothing was sent. The naive merchant pays
// again after every error.
func (c *crowd) pay(ctx context.Context, order string, naive bool) error {
	params := payment()
	params.CustomerReferenceNumber = order
	impatient, cancel := givingUp(ctx)
	defer cancel()
	tx, err := c.client.Transactions.Pay(impatient, params, quickstream.WithoutResend())
	lost, unknown := errors.AsType[*quickstream.UnknownOutcomeError](err)
	switch {
	case err != nil && naive, errors.Is(err, quickstream.ErrNotSent):
		tx, err = c.client.Transactions.Pay(ctx, params)
	case unknown:
		tx, err = c.client.Transactions.Resume(ctx, *lost.Intent)
	}
	if err == nil && outcomeOf(tx) == quickstream.OutcomeApproved {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.paid[order] = true
	}
	if errors.Is(err, quickstream.ErrOutcomeUnknown) {
		return nil // and stays so, as far as this merchant goes
	}
	return err
}

// act does one thing of each kind.
func (c *crowd) act(ctx context.Context, order string) error {
	err := c.pay(ctx, order, false)
	for _, call := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := c.client.Transactions.Get(ctx, c.receipt); return err },
		func(ctx context.Context) (err error) {
			items := 0
			for _, itemErr := range c.client.Customers.List(quickstream.ListCustomersParams{}).Prefetch().All(ctx) {
				if err, items = itemErr, items+1; items == 5 { // of pages of three: the third is on its way
					break
				}
			}
			return err
		},
		func(ctx context.Context) error {
			_, err := c.client.Transactions.ByReference(order).First(ctx)
			if errors.Is(err, quickstream.ErrNotFound) {
				err = nil
			}
			return err
		},
		func(ctx context.Context) error {
			body := fmt.Sprintf(`{"id":%q,"eventType":"payto.payment.approved","data":{"receiptNumber":%q}}`, order, c.receipt)
			r, err := c.signer.NewRequestWithBody(ctx, "https://shop.invalid/hook", []byte(body))
			if err == nil {
				c.hook.ServeHTTP(httptest.NewRecorder(), r)
			}
			return err
		},
	} {
		impatient, cancel := givingUp(ctx)
		got := call(impatient)
		switch cancel(); {
		case got == nil:
			c.done.Add(1)
		case impatient.Err() != nil:
			c.gave.Add(1)
		default:
			err = errors.Join(err, got)
		}
	}
	return err
}

// newCrowd starts a sandbox on a port, which is slow at times.
func newCrowd(t *testing.T) (*crowd, *sandbox.Sandbox, func()) {
	t.Helper()
	box := sandbox.New(sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.LookupLag = 0 }))
	server := httptest.NewServer(box)
	client, err := quickstream.NewClient(quickstream.CustomURL(server.URL+"/rest/v1"), sandboxtest.Keys(box), quickstream.WithRetryWait(time.Millisecond, time.Millisecond))
	require.NoError(t, err)
	c := &crowd{client: client, paid: map[string]bool{}, signer: webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: webhooks.NewSecret("secret")}}
	verifier, err := webhooks.NewVerifier(c.signer.Scheme, []webhooks.Secret{c.signer.Secret})
	require.NoError(t, err)
	c.hook = webhooks.NewHandler(verifier, webhooks.ConfirmWith(client, func(context.Context, *webhooks.Notification) error { return nil }), webhooks.WithStore(new(webhooks.MemoryStore)))
	tx, err := client.Transactions.Pay(t.Context(), payment())
	require.NoError(t, err)
	c.receipt = tx.ReceiptNumber
	for i := range 12 {
		_, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: fmt.Sprintf("C-%d", i), CustomerName: "Ann"})
		require.NoError(t, err)
	}
	require.NoError(t, box.Inject(
		sandbox.Fault{Kind: sandbox.DelayAfterCommit(2 * time.Millisecond), Probability: 0.4},
		sandbox.Fault{Kind: sandbox.DelayBeforeCommit(2 * time.Millisecond), Probability: 0.4},
	))
	return c, box, func() {
		client.CloseIdleConnections()
		server.Close()
		box.Close()
	}
}

// TestAttackCrowdThatGivesUp: 64 goroutines share a client and give up at any point of
// their payments, lists, reads and confirmations. No goroutine and no descriptor is left,
// nobody is charged twice, and who is believed to have paid has. The merchant who pays
// again after every error charges twice.
func TestAttackCrowdThatGivesUp(t *testing.T) {
	const callers, orders = 64, 4
	before := leaktest.Take()
	c, box, end := newCrowd(t)
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for i := range orders {
				assert.NoError(t, c.act(t.Context(), fmt.Sprintf("ORDER-%d-%d", caller, i)))
			}
		})
	}
	wg.Wait()
	charged, ledger := 0, box.Ledger()
	for caller := range callers {
		for i := range orders {
			order := fmt.Sprintf("ORDER-%d-%d", caller, i)
			times := len(ledger.Charged(order))
			charged += times
			assert.LessOrEqual(t, times, 1, order)
			assert.True(t, times == 1 || !c.paid[order], "%s is believed to be paid", order)
		}
	}
	t.Logf("%d of %d orders charged, %d believed to be paid; %d other calls answered, %d given up", charged, callers*orders, len(c.paid), c.done.Load(), c.gave.Load())
	assert.Greater(t, c.gave.Load(), int64(callers), "too few gave up")
	assert.Greater(t, c.done.Load(), int64(callers), "too few were answered")

	twice := false
	for i := range 2000 {
		order := fmt.Sprintf("NAIVE-%d", i)
		require.NoError(t, c.pay(t.Context(), order, true))
		if twice = len(box.Ledger().Charged(order)) > 1; twice {
			break
		}
	}
	assert.True(t, twice, "the naive merchant does not fall for it")
	end()
	assert.Empty(t, before.Left(10*time.Second))
}
