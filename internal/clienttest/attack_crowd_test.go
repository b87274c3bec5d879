package clienttest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/http/httptrace"
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
)

// points are those of a request at which a caller can give up, and one at which none does.
const points = 6

// impatience is the context of a caller who gives up at a point of the request of this number, which
// begins at 0. What happens decides, and not how fast the machine is.
func impatience(ctx context.Context, point, request int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	var begun atomic.Int64
	at := func(here int) {
		if here == point && begun.Load() == int64(request)+1 {
			cancel()
		}
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              func(string) { begun.Add(1); at(0) },
		GotConn:              func(httptrace.GotConnInfo) { at(1) },
		WroteHeaders:         func() { at(2) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { at(3) },
		GotFirstResponseByte: func() { at(4) },
	}), cancel
}

// payForOrder pays and gives up at some point, finds out what it does not know, and pays again only
// if nothing was sent. It reports whether the order is paid, as far as it knows.
func payForOrder(ctx context.Context, client *quickstream.Client, order string, point int) (bool, error) {
	params := payment()
	params.CustomerReferenceNumber = order
	impatient, cancel := impatience(ctx, point, 0)
	defer cancel()
	tx, err := client.Transactions.Pay(impatient, params, quickstream.WithoutResend())
	if errors.Is(err, quickstream.ErrNotSent) {
		tx, err = client.Transactions.Pay(ctx, params)
	} else if lost, unknown := errors.AsType[*quickstream.UnknownOutcomeError](err); unknown {
		tx, err = client.Transactions.Resume(ctx, *lost.Intent)
	}
	if errors.Is(err, quickstream.ErrOutcomeUnknown) {
		return false, nil // and stays so, as far as this merchant goes
	}
	return err == nil && tx.Outcome() == quickstream.OutcomeApproved, err // a read makes no error of a decline
}

// TestAttackCrowdThatGivesUp: 64 goroutines share a client and give up at any point of their payments
// and lists. No goroutine and no descriptor is left, nobody is charged twice, and who is believed to
// have paid has.
func TestAttackCrowdThatGivesUp(t *testing.T) {
	const callers, orders = 64, 4
	before := leaktest.Take()
	box := sandbox.New(sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.LookupLag = 0 }))
	server := httptest.NewServer(box)
	client, err := quickstream.NewClient(quickstream.CustomURL(server.URL+"/rest/v1"), sandboxtest.Keys(box), quickstream.WithRetryWait(time.Millisecond, time.Millisecond), quickstream.WithAttemptTimeout(time.Minute))
	require.NoError(t, err)
	for i := range 12 {
		_, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: fmt.Sprintf("C-%d", i), CustomerName: "Ann"})
		require.NoError(t, err)
	}
	require.NoError(t, box.Inject(
		sandbox.Fault{Kind: sandbox.DelayAfterCommit(2 * time.Millisecond), Probability: 0.4},
		sandbox.Fault{Kind: sandbox.DelayBeforeCommit(2 * time.Millisecond), Probability: 0.4},
	))
	var wg sync.WaitGroup
	var believed [callers * orders]bool
	var gaveUp atomic.Int64
	for caller := range callers {
		wg.Go(func() {
			for i := caller * orders; i < (caller+1)*orders; i++ {
				var err error
				believed[i], err = payForOrder(t.Context(), client, fmt.Sprintf("ORDER-%d", i), i%points)
				assert.NoError(t, err)
				impatient, cancel := impatience(t.Context(), i%points, i/points%3)
				items := 0
				for _, err := range client.Customers.List(quickstream.ListCustomersParams{}).Prefetch().All(impatient) {
					if err != nil {
						assert.Error(t, impatient.Err(), "%v", err)
						gaveUp.Add(1)
					}
					if items++; items == 5 { // of pages of three: the third is on its way
						break
					}
				}
				cancel()
			}
		})
	}
	wg.Wait()
	ledger := box.Ledger()
	for i, paid := range believed {
		times := len(ledger.Charged(fmt.Sprintf("ORDER-%d", i)))
		assert.LessOrEqual(t, times, 1)
		assert.True(t, times == 1 || !paid, "order %d is believed to be paid", i)
	}
	assert.Positive(t, gaveUp.Load(), "nobody gave up")
	client.CloseIdleConnections()
	server.Close()
	box.Close()
	assert.Empty(t, before.Left(time.Minute))
}
