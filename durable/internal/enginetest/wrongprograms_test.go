package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
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

// wrongProgram is a merchant's program with a mistake that the documentation invites.
type wrongProgram struct {
	name string
	// charges is how often the customer is charged, a void or not, and refunds how many cents they get
	// back. README names what is more than the program meant.
	charges int
	refunds int64
	run     func(s *wrongShop)
}

// wrongShop is what a program has to work with.
type wrongShop struct {
	*shop[*sql.Tx]
	account string // a stored account
}

func (s *wrongShop) stored() quickstream.PayParams {
	params := token()
	params.SupplierBusinessCode = sandbox.DefaultBusiness
	params.Source = quickstream.FromAccount(s.account, quickstream.AccountTypeCreditCard)
	return params
}

// try asks for a payment and waits for its outcome.
func (s *wrongShop) try(id, order string, params quickstream.PayParams) (durable.Record, error) {
	var payment durable.Payment
	err := s.commit(func(tx *sql.Tx) (err error) {
		payment, _, err = s.engine.Pay(s.Context(), tx, durable.NewWrite{ID: id, Order: order}, params)
		return err
	})
	if err != nil {
		return payment.Record, err
	}
	return s.settled(payment.ID), nil
}

// declineNext has the next payment declined, and no other.
func (s *wrongShop) declineNext() { s.box.NextTransaction(sandbox.Declined("51")) }

// refund refunds a part of a payment, which is settled by then.
func (s *wrongShop) refund(id, of, amount string) error {
	s.clock.Advance(2 * 24 * time.Hour)
	err := s.commit(func(tx *sql.Tx) error {
		_, _, err := s.engine.Refund(s.Context(), tx, durable.NewWrite{ID: id}, of, quickstream.RefundParams{
			PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD,
		})
		return err
	})
	if err == nil {
		r := s.settled(id)
		require.Equal(s, approved, r.Text(), r.Problem)
	}
	return err
}

func (s *wrongShop) void(of string) {
	require.NoError(s, s.commit(func(tx *sql.Tx) error {
		_, _, err := s.engine.Void(s.Context(), tx, durable.NewWrite{ID: "void of " + of}, of)
		return err
	}))
	s.settled("void of " + of)
}

func wrongPrograms() []wrongProgram {
	return []wrongProgram{
		{name: "the form is posted twice", charges: 1, run: func(s *wrongShop) {
			for range 2 {
				_, err := s.try("attempt", "A", s.stored())
				require.NoError(s, err)
			}
		}},
		{name: "Pay in a loop until it returns no error, with a new id each time", charges: 1, run: func(s *wrongShop) {
			for i := range 3 {
				_, _ = s.try(fmt.Sprint("attempt ", i), "A", s.stored())
			}
		}},
		{name: "a new order number for each retry", charges: 2, run: func(s *wrongShop) {
			for i := range 2 {
				_, _ = s.try(fmt.Sprint("attempt ", i), fmt.Sprint("A", i), s.stored())
			}
		}},
		{name: "an id that is made from the order alone", charges: 0, run: func(s *wrongShop) {
			s.declineNext()
			for range 2 { // the decline comes back
				r, err := s.try("A", "A", s.stored())
				require.NoError(s, err)
				assert.Equal(s, declined, r.Text())
			}
		}},
		{name: "an id that is made in the handler, and an old message for a stored account after a decline", charges: 1, run: func(s *wrongShop) {
			s.declineNext()
			for i := range 2 {
				_, _ = s.try(fmt.Sprint("made in the handler ", i), "A", s.stored())
			}
		}},
		{name: "an id that is made in the handler, and an old message for a single-use token after a decline", charges: 0, run: func(s *wrongShop) {
			s.declineNext()
			params := s.card(sandbox.CardAttempted)
			_, _ = s.try("made in the handler 1", "A", params)
			_, err := s.try("made in the handler 2", "A", params)
			require.ErrorIs(s, err, durable.ErrTokenUsed)
		}},
		{name: "an id that is made in the handler, and an old message for a stored account after a void", charges: 2, run: func(s *wrongShop) {
			_, _ = s.try("made in the handler 1", "A", s.stored())
			s.void("made in the handler 1")
			_, _ = s.try("made in the handler 2", "A", s.stored())
		}},
		{name: "an old message with its id after a void", charges: 1, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			s.void("attempt")
			r, err := s.try("attempt", "A", s.stored())
			require.NoError(s, err)
			assert.Equal(s, voided, r.Text())
		}},
		{name: "a transaction that is rolled back", charges: 0, run: func(s *wrongShop) {
			_ = s.commit(func(tx *sql.Tx) error {
				_, _, err := s.engine.Pay(s.Context(), tx, durable.NewWrite{ID: "attempt", Order: "A"}, s.stored())
				require.NoError(s, err)
				return errors.New("the order could not be stored")
			})
			_, err := s.engine.Write(s.Context(), "attempt")
			require.ErrorIs(s, err, durable.ErrNoWrite)
		}},
		{name: "an error of Pay is ignored, and the transaction commits", charges: 1, run: func(s *wrongShop) {
			require.NoError(s, s.commit(func(tx *sql.Tx) error {
				for i := range 2 {
					_, _, _ = s.engine.Pay(s.Context(), tx, durable.NewWrite{ID: fmt.Sprint("attempt ", i), Order: "A"}, s.stored())
				}
				return nil
			}))
			s.settled("attempt 0")
		}},
		{name: "a cancelled wait is taken for a failure, and the customer pays again", charges: 1, run: func(s *wrongShop) {
			require.NoError(s, s.commit(func(tx *sql.Tx) error {
				_, _, err := s.engine.Pay(s.Context(), tx, durable.NewWrite{ID: "attempt 1", Order: "A"}, s.stored())
				return err
			}))
			ended, end := context.WithCancel(s.Context())
			end()
			_, _ = s.engine.Wait(ended, "attempt 1")
			_, err := s.try("attempt 2", "A", s.stored())
			require.ErrorIs(s, err, durable.ErrOrderOpen)
			s.settled("attempt 1")
		}},
		{name: "two tabs, each with an attempt of its own", charges: 1, run: func(s *wrongShop) {
			_, first := s.try("tab 1", "A", s.card(sandbox.CardAttempted))
			_, second := s.try("tab 2", "A", s.card(sandbox.CardAttempted))
			require.NoError(s, first)
			require.ErrorIs(s, second, durable.ErrOrderOpen)
		}},
		{name: "two replicas that take one message", charges: 1, run: func(s *wrongShop) {
			replica := s.start()
			for _, engine := range []*durable.Engine[*sql.Tx]{s.engine, replica} {
				require.NoError(s, s.commit(func(tx *sql.Tx) error {
					_, _, err := engine.Pay(s.Context(), tx, durable.NewWrite{ID: "message", Order: "A"}, s.stored())
					return err
				}))
			}
			s.settled("message")
		}},
		{name: "an id that another customer's order has", charges: 1, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			_, err := s.try("attempt", "B", s.stored())
			require.ErrorIs(s, err, durable.ErrIDReused)
		}},
		{name: "another amount under the id, after the basket has changed", charges: 1, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			params := s.stored()
			params.PrincipalAmount = decimal.New(9999, -2)
			_, err := s.try("attempt", "A", params)
			require.ErrorIs(s, err, durable.ErrIDReused)
			assert.Contains(s, err.Error(), "amount")
		}},
		{name: "a plain client beside the engine", charges: 2, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			_, err := s.client.Transactions.Pay(s.Context(), s.stored())
			require.NoError(s, err)
		}},
		{name: "a refund job that runs twice under its id", charges: 1, refunds: 500, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			for range 2 {
				require.NoError(s, s.refund("line 1", "attempt", "5.00"))
			}
		}},
		{name: "a refund job that runs twice under ids made in the job", charges: 1, refunds: 1000, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			for i := range 2 {
				require.NoError(s, s.refund(fmt.Sprint("job ", i), "attempt", "5.00"))
			}
		}},
		{name: "a whole refund under ids made in the job", charges: 1, refunds: 1234, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			require.NoError(s, s.refund("job 1", "attempt", "12.34"))
			require.ErrorIs(s, s.refund("job 2", "attempt", "12.34"), durable.ErrTooMuch)
		}},
		{name: "a hook that pays again after a decline, under an id of its own", charges: 1, run: func(s *wrongShop) {
			s.declineNext()
			s.hook = func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
				if p, isPayment := change.Write.(durable.Payment); isPayment && p.Text() == declined {
					_, _, err := s.engine.Pay(ctx, tx, durable.NewWrite{ID: p.ID + " again", Order: p.Order}, s.stored())
					return err
				}
				return nil
			}
			_, _ = s.try("attempt", "A", s.stored())
			s.settled("attempt again")
		}},
		{name: "a hook that fails whenever it is called", charges: 1, run: func(s *wrongShop) {
			s.mu.Lock()
			s.refuse = errors.New("the order's table is gone")
			s.mu.Unlock()
			require.NoError(s, s.commit(func(tx *sql.Tx) error {
				_, _, err := s.engine.Pay(s.Context(), tx, durable.NewWrite{ID: "attempt", Order: "A"}, s.stored())
				return err
			}))
			s.until(time.Second, func(h durable.Health) bool { return h.Refused == 1 })
			s.mu.Lock()
			s.refuse = nil
			s.mu.Unlock()
			s.reaches("attempt", approved, time.Second)
		}},
		{name: "a test system on a copy of the database", charges: 0, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			elsewhere := sandbox.New()
			s.Cleanup(elsewhere.Close)
			address, err := elsewhere.Listen("127.0.0.1:0")
			require.NoError(s, err)
			client, err := quickstream.NewClient(quickstream.CustomURL(address), sandboxtest.Keys(elsewhere))
			require.NoError(s, err)
			copied := &shop[*sql.Tx]{T: s.T, db: s.db, clock: s.clock, box: elsewhere, client: client}
			err = copied.engineOf().Start(s.Context())
			var other *durable.FacilityError
			require.ErrorAs(s, err, &other)
			s.box = elsewhere // whose ledger is judged
		}},
	}
}

// TestWrongPrograms runs programs that were written from the documentation alone, each with a
// mistake, and counts what their customers are charged.
func TestWrongPrograms(t *testing.T) {
	t.Parallel()
	for _, p := range wrongPrograms() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := &wrongShop{shop: open(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")))}
			customer, err := s.client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Alex Example"})
			require.NoError(t, err)
			token, err := sandboxtest.CardToken(t.Context(), s.client, sandbox.CardAttempted)
			require.NoError(t, err)
			account, err := s.client.Accounts.Register(t.Context(), customer.CustomerID, quickstream.RegisterAccountParams{SingleUseTokenID: token})
			require.NoError(t, err)
			s.account = account.AccountToken
			p.run(s)
			charges, refunds := 0, int64(0)
			for _, entry := range s.box.Ledger() {
				switch {
				case entry.Outcome == "declined":
				case entry.Type == "PAYMENT":
					charges++
				case entry.Type == "REFUND":
					refunds += entry.Amount
				}
			}
			assert.Equal(t, p.charges, charges)
			assert.Equal(t, p.refunds, refunds)
		})
	}
}
