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
	// charges is how often the customer is charged, voided or not, and refunds is how many cents they get back. README
	// names the charges and refunds that the program did not intend.
	charges int
	refunds int64
	run     func(s *wrongShop)
}

// wrongShop is the shop that a program works with.
type wrongShop struct {
	*shop[*sql.Tx]
	hook func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error
}

// try asks for a payment and waits for its outcome.
func (s *wrongShop) try(id, order string, params quickstream.PayParams) (durable.Write, error) {
	payment, err := s.tryPay(durable.NewWrite{ID: id, Order: order}, params)
	if err != nil {
		return payment, err
	}
	return s.Settled(payment.ID), nil
}

// declineNext makes the sandbox decline the next payment, and no other.
func (s *wrongShop) declineNext() { s.Sandbox.NextTransaction(sandbox.Declined("51")) }

// giveBack refunds a part of a payment after it has settled.
func (s *wrongShop) giveBack(id, of string, cents int64) error {
	s.Advance(2 * 24 * time.Hour)
	_, err := s.refund(id, of, cents)
	if err == nil {
		require.Equal(s.T, "approved", s.Settled(id).Name())
	}
	return err
}

func (s *wrongShop) void(of string) {
	s.T.Helper()
	require.NoError(s.T, s.Tx(func(tx *sql.Tx) error {
		_, _, err := s.Engine().Void(s.T.Context(), tx, durable.NewWrite{ID: "void of " + of}, of)
		return err
	}))
	s.Settled("void of " + of)
}

// wrongPrograms are the ordinary ones: README has a table of them under "Ids".
func wrongPrograms() []wrongProgram {
	return []wrongProgram{
		{name: "the form is posted twice", charges: 1, run: func(s *wrongShop) {
			for range 2 {
				_, err := s.try("attempt", "A", s.stored())
				require.NoError(s.T, err)
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
				w, err := s.try("A", "A", s.stored())
				require.NoError(s.T, err)
				assert.Equal(s.T, "declined", w.Name())
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
			require.ErrorIs(s.T, err, durable.ErrTokenUsed)
		}},
		{name: "an id that is made in the handler, and an old message for a stored account after a void", charges: 2, run: func(s *wrongShop) {
			_, _ = s.try("made in the handler 1", "A", s.stored())
			s.void("made in the handler 1")
			_, _ = s.try("made in the handler 2", "A", s.stored())
		}},
		{name: "an old message with its id after a void", charges: 1, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			s.void("attempt")
			w, err := s.try("attempt", "A", s.stored())
			require.NoError(s.T, err)
			assert.Equal(s.T, "voided", w.Name())
		}},
		{name: "an error of Pay is ignored, and the transaction commits", charges: 1, run: func(s *wrongShop) {
			params := s.stored()
			require.NoError(s.T, s.Tx(func(tx *sql.Tx) error {
				for i := range 2 {
					_, _, _ = s.Engine().Pay(s.T.Context(), tx, durable.NewWrite{ID: fmt.Sprint("attempt ", i), Order: "A"}, params)
				}
				return nil
			}))
			s.Settled("attempt 0")
		}},
		{name: "a cancelled wait is taken for a failure, and the customer pays again", charges: 1, run: func(s *wrongShop) {
			s.pay("A", s.stored())
			ended, end := context.WithCancel(s.T.Context())
			end()
			_, _ = s.Engine().Wait(ended, "A")
			_, err := s.try("attempt 2", "A", s.stored())
			require.ErrorIs(s.T, err, durable.ErrOrderOpen)
			s.Settled("A")
		}},
		{name: "two tabs, each with an attempt of its own", charges: 1, run: func(s *wrongShop) {
			_, first := s.try("tab 1", "A", s.card(sandbox.CardAttempted))
			_, second := s.try("tab 2", "A", s.card(sandbox.CardAttempted))
			require.NoError(s.T, first)
			require.ErrorIs(s.T, second, durable.ErrOrderOpen)
		}},
		{name: "an id that another customer's order has", charges: 1, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			_, err := s.try("attempt", "B", s.stored())
			require.ErrorIs(s.T, err, durable.ErrIDReused)
		}},
		{name: "an order number that another business has used", charges: 1, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			params := s.stored()
			params.SupplierBusinessCode = "ANOTHER"
			_, err := s.try("attempt 2", "A", params)
			require.ErrorIs(s.T, err, durable.ErrOrderOpen)
		}},
		{name: "another amount under the id, after the basket has changed", charges: 1, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			params := s.stored()
			params.PrincipalAmount = decimal.New(9999, -2)
			_, err := s.try("attempt", "A", params)
			require.ErrorIs(s.T, err, durable.ErrIDReused)
			assert.ErrorContains(s.T, err, "amount")
		}},
		{name: "a plain client beside the engine", charges: 2, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			_, err := s.Client.Transactions.Pay(s.T.Context(), s.stored())
			require.NoError(s.T, err)
		}},
		{name: "members of the request that cannot be stored", charges: 0, run: func(s *wrongShop) {
			err := s.Tx(func(tx *sql.Tx) error {
				_, _, err := s.Engine().Pay(s.T.Context(), tx, durable.NewWrite{ID: "attempt", Order: "A"}, s.stored(), quickstream.WithExtraField("purchaseOrder", "7"))
				return err
			})
			require.ErrorContains(s.T, err, "WithExtraField")
		}},
		{name: "a refund job that runs twice under its id", charges: 1, refunds: 500, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			for range 2 {
				require.NoError(s.T, s.giveBack("line 1", "attempt", 500))
			}
		}},
		{name: "a refund job that runs twice under ids made in the job", charges: 1, refunds: 1000, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			for i := range 2 {
				require.NoError(s.T, s.giveBack(fmt.Sprint("job ", i), "attempt", 500))
			}
		}},
		{name: "a whole refund under ids made in the job", charges: 1, refunds: 1234, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			require.NoError(s.T, s.giveBack("job 1", "attempt", 1234))
			require.ErrorIs(s.T, s.giveBack("job 2", "attempt", 1234), durable.ErrTooMuch)
		}},
		{name: "a hook that pays again after a decline, under an id of its own", charges: 1, run: func(s *wrongShop) {
			params := s.stored()
			s.declineNext()
			s.hook = func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
				w := change.Write
				if w.State != durable.StateDeclined {
					return nil
				}
				_, _, err := s.Engine().Pay(ctx, tx, durable.NewWrite{ID: w.ID + " again", Order: w.Order}, params)
				return err
			}
			_, _ = s.try("attempt", "A", params)
			s.Settled("attempt again")
		}},
		{name: "a hook that fails whenever it is called", charges: 1, run: func(s *wrongShop) {
			s.refuses(errors.New("the order's table is gone"))
			s.pay("A", s.stored())
			eventually(s.T, func() bool { return s.health().HookFailed == 1 }, "the hook is refused")
			s.refuses(nil)
			s.Settled("A")
		}},
		{name: "a test system on a copy of the database", charges: 0, run: func(s *wrongShop) {
			_, _ = s.try("attempt", "A", s.stored())
			elsewhere := sandbox.New()
			s.T.Cleanup(elsewhere.Close)
			address, err := elsewhere.Listen("127.0.0.1:0")
			require.NoError(s.T, err)
			client, err := quickstream.NewClient(quickstream.CustomURL(address), sandboxtest.Keys(elsewhere))
			require.NoError(s.T, err)
			copied, err := durable.New(s.T.Context(), s.db.Database, client, durable.Options[*sql.Tx]{Installation: "shop", ServiceRetries: serviceRetries(), OnOutcome: s.reported})
			require.NoError(s.T, err)
			err = copied.Start(s.T.Context())
			require.ErrorIs(s.T, err, durable.ErrFacility)
			require.ErrorContains(s.T, err, "address")
			require.ErrorIs(s.T, copied.Ready(s.T.Context()), durable.ErrNotReady)
			s.Sandbox = elsewhere // whose ledger is judged
		}},
	}
}

// TestWrongPrograms runs programs that were written from the documentation alone, each with a mistake, and counts how often
// their customers are charged.
func TestWrongPrograms(t *testing.T) {
	t.Parallel()
	for _, p := range wrongPrograms() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := new(wrongShop)
			s.shop = open(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")), func(o *durable.Options[*sql.Tx]) {
				reported := o.OnOutcome
				o.OnOutcome = func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
					if s.hook != nil {
						if err := s.hook(ctx, tx, change); err != nil {
							return err
						}
					}
					return reported(ctx, tx, change)
				}
			})
			p.run(s)
			charges, refunds := 0, int64(0)
			for _, entry := range s.Sandbox.Ledger() {
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
