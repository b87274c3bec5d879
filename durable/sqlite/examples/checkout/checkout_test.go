package main

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// customer sends forms to a checkout with one order.
type customer struct {
	*testing.T

	box     *sandbox.Sandbox
	client  *quickstream.Client
	handler http.Handler
}

func shopFor(t *testing.T, do func(c customer)) {
	box, client := sandboxtest.New(t)
	require.NoError(t, withOrder(t.Context(), client, func(_ *checkout, handler http.Handler) error {
		do(customer{t, box, client, handler})
		return nil
	}))
}

func (c customer) post(path string, fields url.Values) (status int, text string) {
	r := httptest.NewRequestWithContext(c.Context(), http.MethodPost, path, strings.NewReader(fields.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

func (c customer) get(path string) string {
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, httptest.NewRequestWithContext(c.Context(), http.MethodGet, path, http.NoBody))
	return w.Body.String()
}

// pay makes a token of a card, as the page does, and sends it.
func (c customer) pay(order, attempt, card string) string {
	c.Helper()
	token, err := sandboxtest.CardToken(c.Context(), c.client, card, sandboxtest.ThreeDS)
	require.NoError(c, err)
	_, text := c.post("/orders/"+order+"/payments", url.Values{"token": {token}, "attempt": {attempt}})
	return text
}

// An order is paid once, by whatever attempt, and not again after its refund.
func TestCheckout(t *testing.T) {
	const order = "ORDER-1042"
	shopFor(t, func(c customer) {
		assert.Equal(t, "You have not paid. Try again, or take another card.", c.pay(order, "1", "4111111111444496"))
		assert.Equal(t, "Thank you.", c.pay(order, "2", sandbox.CardAttempted))
		assert.Equal(t, "Thank you.", c.pay(order, "2", sandbox.CardAttempted), "the same attempt again")
		assert.Equal(t, "Thank you.", c.pay(order, "3", sandbox.CardAttempted), "another one")
		assert.NotContains(t, c.pay("ORDER-7", "2", sandbox.CardAttempted), "Thank you", "an attempt of another order")
		assert.Len(t, c.box.Ledger().Charged(order), 1)
		assert.Equal(t, "Thank you.", c.get("/orders/"+order), "and not the form")
		for range 2 {
			_, text := c.post("/orders/"+order+"/refund", nil)
			assert.Equal(t, "The refund is on its way.", text)
		}
		assert.Eventually(t, func() bool { return c.box.Ledger().Net(order) == 0 }, time.Minute, 10*time.Millisecond)
		assert.Eventually(t, func() bool {
			return strings.HasPrefix(c.pay(order, "4", sandbox.CardAttempted), "This attempt took nothing.")
		},
			time.Minute, 10*time.Millisecond, "it was refunded")
		assert.Zero(t, c.box.Ledger().Net(order))
		assert.Equal(t, "You got your money back.", c.get("/orders/"+order))
	})
}

// An order is not paid while OnOutcome has not been notified of its refund yet.
func TestRefundedMeanwhile(t *testing.T) {
	const order = "ORDER-1042"
	box, client := sandboxtest.New(t)
	require.NoError(t, withOrder(t.Context(), client, func(checkout *checkout, handler http.Handler) error {
		c := customer{t, box, client, handler}
		assert.Equal(t, "Thank you.", c.pay(order, "1", sandbox.CardAttempted))
		_, text := c.post("/orders/"+order+"/refund", nil)
		assert.Equal(t, "The refund is on its way.", text)
		assert.Eventually(t, func() bool { return c.get("/orders/"+order) == textRefunded }, time.Minute, 10*time.Millisecond)
		_, err := checkout.db.ExecContext(t.Context(), "UPDATE orders SET state = 'paid'")
		require.NoError(t, err)
		assert.Equal(t, textNothing, c.pay(order, "2", sandbox.CardAttempted))
		assert.Zero(t, box.Ledger().Net(order))
		return nil
	}))
}

// A refund that the service refuses is shown to a person, and can be made again.
func TestRefusedRefund(t *testing.T) {
	const order = "ORDER-1042"
	shopFor(t, func(c customer) {
		assert.Equal(t, "Thank you.", c.pay(order, "1", sandbox.CardAttempted))
		void := sandbox.Fault{Operation: "POST /transactions/{receiptNumber}/void", Kind: sandbox.Status(http.StatusUnprocessableEntity, sandbox.ServiceError), Times: 1}
		require.NoError(t, c.box.Inject(void))
		assert.Eventually(t, func() bool {
			_, text := c.post("/orders/"+order+"/refund", nil)
			return text == "The refund is on its way." && c.box.Ledger().Net(order) == 0
		}, time.Minute, 10*time.Millisecond)
		assert.Eventually(t, func() bool { return c.get("/orders/"+order) == "You got your money back." }, time.Minute, 10*time.Millisecond)
	})
}

// What a person has to check stays so until they have decided, and what is refunded stays refunded.
func TestMarkOrder(t *testing.T) {
	_, client := sandboxtest.New(t)
	require.NoError(t, withOrder(t.Context(), client, func(c *checkout, _ http.Handler) error {
		for _, step := range []struct {
			id, follows string
			standing    durable.Standing
			want        string
			part        int64 // of what is given back, in cents; 0 for all
		}{
			{"1", "", durable.Standing{State: durable.StateNeedsPerson, Reason: durable.ReasonNotFound}, "check", 0},
			{"2", "", durable.Standing{State: durable.StateDeclined}, "check", 0},
			{"1", "", durable.Standing{State: durable.StateDeclined}, "open", 0},
			{"3", "", durable.Standing{State: durable.StateApproved}, "paid", 0},
			{"1", "", durable.Standing{State: durable.StateNeedsPerson, Reason: durable.ReasonDoubleCharged}, "paid", 0},
			{"3", "", durable.Standing{State: durable.StateApproved}, "paid", 0},
			{"6", "3", durable.Standing{State: durable.StateApproved}, "paid", 500},
			{"4", "3", durable.Standing{State: durable.StateDeclined}, "check", 0},
			{"3", "", durable.Standing{State: durable.StateVoided}, "refunded", 0},
			{"5", "3", durable.Standing{State: durable.StateApproved}, "refunded", 0},
			{"4", "3", durable.Standing{State: durable.StateDeclined}, "refunded", 0},
			{"3", "", durable.Standing{State: durable.StateVoided}, "refunded", 0},
			{"1", "", durable.Standing{State: durable.StateNeedsPerson, Reason: durable.ReasonNotFound}, "refunded", 0},
			{"1", "", durable.Standing{State: durable.StateApproved}, "paid", 0}, // it pays the order alone
		} {
			tx, err := c.db.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			write := durable.Write{ID: step.id, Follows: step.follows, Order: "ORDER-1042", Amount: decimal.New(cmp.Or(step.part, 4995), -2), Standing: step.standing}
			require.NoError(t, markOrder(t.Context(), tx, durable.OutcomeChange{Write: write}))
			require.NoError(t, tx.Commit())
			var state string
			require.NoError(t, c.db.QueryRowContext(t.Context(), "SELECT state FROM orders").Scan(&state))
			assert.Equal(t, step.want, state, "%+v", step)
		}
		return nil
	}))
}

// Lost answers leave the customer waiting, and the order is paid.
func TestLostAnswers(t *testing.T) {
	shopFor(t, func(c customer) {
		require.NoError(t, c.box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 3}))
		text := c.pay("ORDER-1042", "1", sandbox.CardAttempted)
		assert.Contains(t, []string{"Thank you.", "We are checking your payment. Do not pay again."}, text)
		assert.Eventually(t, func() bool { return c.pay("ORDER-1042", "1", sandbox.CardAttempted) == "Thank you." }, time.Minute, 10*time.Millisecond)
		assert.Len(t, c.box.Ledger().Charged("ORDER-1042"), 1)
	})
}

// With the variables of a service the program serves customers until it is stopped.
func TestForCustomers(t *testing.T) {
	box := sandbox.New()
	defer box.Close()
	service, err := box.Listen("127.0.0.1:0")
	require.NoError(t, err)
	t.Setenv("QUICKSTREAM_ENVIRONMENT", service)
	t.Setenv("QUICKSTREAM_SECRET_KEY", box.Keys().Secret)
	t.Setenv("QUICKSTREAM_PUBLISHABLE_KEY", box.Keys().Publishable)
	t.Setenv("SHOP_BUSINESS", sandbox.DefaultBusiness)
	t.Setenv("SHOP_WEBHOOK_SECRET", "a secret of the test")
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- forCustomers(ctx, address, filepath.Join(t.TempDir(), "shop.db")) }()
	assert.Eventually(t, func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/orders/none", http.NoBody)
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return false
		}
		defer func() { _ = answer.Body.Close() }()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode == http.StatusNotFound
	}, time.Minute, 10*time.Millisecond)
	stop()
	require.ErrorIs(t, <-ended, nil)
}
