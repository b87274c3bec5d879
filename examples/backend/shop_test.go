package main

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const pay = "POST /transactions"

// fixture is a shop, the service and a customer's browser.
type fixture struct {
	*Shop
	t   *testing.T
	box *sandbox.Sandbox
	Browser
}

func inBubble(t *testing.T, test func(t *testing.T, f *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		shop, err := NewShop(client, NewStore(), sandbox.DefaultBusiness, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		test(t, &fixture{Shop: shop, t: t, box: box, Browser: Browser{Box: box, Client: client}})
	})
}

// card takes a payment by card to its end in this process.
func (f *fixture) card(order, number string) (Row, error) {
	f.t.Helper()
	return f.PayByCard(f.t.Context(), order, price, f.token(number), f.Visitor())
}

func (f *fixture) token(number string) string {
	f.t.Helper()
	token, err := f.TypeCard(f.t.Context(), number)
	if err != nil {
		f.t.Fatal(err)
	}
	return token
}

// crash starts another process with what the database kept.
func (f *fixture) crash() {
	shop := *f.Shop
	f.Shop = &shop
}

// nights runs the nightly job for some days.
func (f *fixture) nights(n int) {
	f.t.Helper()
	for range n * 24 {
		time.Sleep(time.Hour)
		if err := f.Resolve(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f *fixture) expect(order string, kind quickstream.TransactionType, status Status, charges int) {
	f.t.Helper()
	var got []Status
	for _, row := range f.Store.Rows() {
		if row.Order == order && row.Kind == kind {
			got = append(got, row.Status())
			f.t.Logf("%s %s %s %s %s %d looks", order, kind, row.Status(), row.State.Stage, row.State.Outcome, len(row.State.Looks))
		}
	}
	if len(got) == 0 || got[len(got)-1] != status {
		f.t.Errorf("%s: %s is %v, want %s", order, kind, got, status)
	}
	if charged := f.box.Ledger().Charged(order); len(charged) != charges {
		f.t.Errorf("%s: charged %d times, want %d", order, len(charged), charges)
	}
}

func TestCardIsCharged(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		if _, err := f.card("A", sandbox.CardChallenge); err != nil {
			t.Fatal(err)
		}
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
		if _, err := f.card("A", sandbox.CardChallenge); !errors.Is(err, ErrBusy) {
			t.Errorf("paid again: %v", err)
		}
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
}

func TestFailedAuthenticationChargesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		if _, err := f.card("A", sandbox.CardNotAuthenticated); !errors.Is(err, ErrNotAuthenticated) {
			t.Errorf("got %v", err)
		}
		if len(f.box.Ledger()) != 0 {
			t.Error("something was charged")
		}
	})
}

func TestDeclineFreesTheOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.box.NextTransaction(sandbox.Declined("04"))
		if _, err := f.card("A", sandbox.CardAttempted); err != nil {
			t.Fatal(err)
		}
		f.expect("A", quickstream.TransactionTypePayment, Failed, 0)
		if _, err := f.card("A", sandbox.CardAttempted); err != nil {
			t.Fatal(err)
		}
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
}

func TestSoftDeclineIsHeldWhileTheServiceRetries(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.box.NextTransaction(sandbox.Declined("01").ThenRetried(24*time.Hour, sandbox.Approved()))
		if _, err := f.card("A", sandbox.CardAttempted); err != nil {
			t.Fatal(err)
		}
		if _, err := f.card("A", sandbox.CardAttempted); !errors.Is(err, ErrBusy) {
			t.Errorf("paid beside a retry: %v", err)
		}
		f.nights(5)
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
}

func TestLostAnswer(t *testing.T) {
	faults := map[string]sandbox.FaultKind{
		"reset":      sandbox.ResetAfterCommit(),
		"garbage":    sandbox.Garbage(sandbox.BrokenJSON),
		"500":        sandbox.StatusAfterCommit(500, sandbox.HTML),
		"late":       sandbox.CommitLate(5 * time.Minute),
		"never":      sandbox.ResetBeforeCommit(),
		"not answer": sandbox.HangAfterCommit(),
	}
	for name, kind := range faults {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				if err := f.box.Inject(sandbox.Fault{Operation: pay, Kind: kind}); err != nil { // every time
					t.Fatal(err)
				}
				row, err := f.card("A", sandbox.CardAttempted)
				if err != nil || row.Status() != Open {
					t.Fatal(row.Status(), err)
				}
				f.box.ClearFaults()
				if _, err := f.card("A", sandbox.CardAttempted); !errors.Is(err, ErrBusy) {
					t.Errorf("paid again: %v", err)
				}
				f.nights(4)
				if name == "never" {
					f.expect("A", quickstream.TransactionTypePayment, Open, 0) // absent: for a person
					return
				}
				f.expect("A", quickstream.TransactionTypePayment, Done, 1)
			})
		})
	}
}

func TestNothingSentFreesTheOrder(t *testing.T) {
	for name, kind := range map[string]sandbox.FaultKind{
		"refused": sandbox.Refuse(), "host": sandbox.UnknownHost(), "503": sandbox.Status(503, sandbox.ServiceError),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				if err := f.box.Inject(sandbox.Fault{Operation: pay, Kind: kind, Times: 9}); err != nil {
					t.Fatal(err)
				}
				_, err := f.card("A", sandbox.CardAttempted)
				t.Log(err)
				f.box.ClearFaults()
				if _, err := f.card("A", sandbox.CardAttempted); err != nil {
					t.Fatal(err)
				}
				f.expect("A", quickstream.TransactionTypePayment, Done, 1)
			})
		})
	}
}

func TestCrash(t *testing.T) {
	crashes := []struct {
		name    string
		until   func(f *fixture, row Row) error
		status  Status
		charges int
	}{
		{"stored, not sent", func(*fixture, Row) error { return nil }, Done, 1},
		{"claimed, not sent", func(f *fixture, row Row) error {
			return f.Store.Claim(row.Key, f.Now())(f.t.Context())
		}, Open, 0},
		{"sent, not recorded", func(f *fixture, row Row) error {
			_, err := f.Shop.Client.Transactions.Submit(f.t.Context(), row.State.Intent, f.Store.Claim(row.Key, f.Now()))
			return err
		}, Done, 1},
	}
	for _, crash := range crashes {
		t.Run(crash.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				params, err := f.byCard(t.Context(), price, f.token("4242424242424242"), f.Visitor())
				if err != nil {
					t.Fatal(err)
				}
				row, err := f.plan("A", params)
				if err != nil {
					t.Fatal(err)
				}
				if err := crash.until(f, row); err != nil {
					t.Fatal(err)
				}
				f.crash()
				if err := errors.Join(f.Recover(t.Context()), f.Recover(t.Context())); err != nil {
					t.Fatal(err)
				}
				if _, err := f.send(t.Context(), row); !errors.Is(err, ErrClaimed) {
					t.Errorf("sent again: %v", err)
				}
				f.nights(4)
				f.expect("A", quickstream.TransactionTypePayment, crash.status, crash.charges)
			})
		})
	}
}

func TestUnknownToTheServiceIsEscalated(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.box.NextTransaction(sandbox.Erred())
		row, err := f.card("A", sandbox.CardAttempted)
		if err != nil {
			t.Fatal(err)
		}
		f.nights(4)
		row, err = f.Store.Update(row.Key, func(*Row) {})
		if err != nil || row.State.Stage != resolve.StageEscalated {
			t.Error(row.State.Stage, err)
		}
	})
}
