package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const (
	batch      = 40  // payments of a round
	shared     = 128 // payments that callers share
	callers    = 64
	deliveries = 1000
	secret     = "whsec_example"
)

// subject is a database under measure.
type subject[TTx any] struct{ durable.Database[TTx] }

func (s subject[TTx]) commit(ctx context.Context, f func(tx database.Tx) error) error {
	tx, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback(ctx))
	}
	return tx.Commit(ctx)
}

// value returns the one number of a statement.
func (s subject[TTx]) value(ctx context.Context, statement string, args ...any) (n int64, err error) {
	err = s.commit(ctx, func(tx database.Tx) error {
		rows, err := tx.Query(ctx, statement, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(&n); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return n, err
}

func report[TTx any](ctx context.Context, name string, s subject[TTx], rows, rounds int, bytesOnly bool) error {
	if err := durable.MigrateUp(ctx, s.Database); err != nil {
		return err
	}
	if err := s.commit(ctx, func(tx database.Tx) error {
		_, err := tx.Exec(ctx, "CREATE TABLE plain (id text PRIMARY KEY, body text)")
		return err
	}); err != nil {
		return err
	}
	box := sandbox.New(sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota = 0 }))
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box),
		quickstream.WithHTTPClient(box.HTTPClient()))
	if err != nil {
		return err
	}
	off := resolve.ServiceRetriesOff()
	engine, err := durable.New(ctx, s.Database, client, durable.Options[TTx]{
		Installation: "bench", ServiceRetries: &off, OnOutcome: func(context.Context, TTx, durable.OutcomeChange) error { return nil },
	})
	if err != nil {
		return err
	}
	kept, err := s.bytes(ctx, client)
	if err != nil {
		return err
	}
	failed := kept.rows(name)
	var few time.Duration
	if !bytesOnly {
		failed = errors.Join(failed, s.settledRows(ctx, name, client)) // before there is a backlog
		var missed error
		few, missed = s.acceptRows(ctx, name, engine, rounds)
		failed = errors.Join(failed, missed)
	}
	failed = errors.Join(failed, s.inboxRow(ctx, name, box, engine), s.healthRow(ctx, name, engine, rows))
	if bytesOnly {
		return failed
	}
	if err := s.fill(ctx, rows, waiting); err != nil {
		return err
	}
	many, _, _, err := s.accept(ctx, engine, rounds)
	if err != nil {
		return err
	}
	growth := many.Seconds() / few.Seconds()
	return errors.Join(failed, row("P19", name, fmt.Sprintf("payments accepted, with %d open ones", rows),
		fmt.Sprintf("%.0f/s, %.2fx the time", batch/many.Seconds(), growth), "<= 2x", growth <= 2))
}

// acceptRows prints how many payments are accepted, and returns how long a batch takes.
func (s subject[TTx]) acceptRows(ctx context.Context, name string, engine *durable.Engine[TTx], rounds int) (few time.Duration, err error) {
	few, plain, ratio, err := s.accept(ctx, engine, rounds)
	if err != nil {
		return 0, err
	}
	failed := row("P19a", name, "payments accepted, beside a plain insert and commit",
		fmt.Sprintf("%.0f/s of %.0f/s, %.2fx", batch/few.Seconds(), batch/plain.Seconds(), ratio), ">= 0.4x", ratio >= 0.4)
	one, all, err := s.together(ctx, engine, rounds)
	if err != nil {
		return 0, err
	}
	return few, errors.Join(failed, row("P19a", name, fmt.Sprintf("payments accepted by %d callers, beside one", callers),
		fmt.Sprintf("%.0f/s, %.0f/s, %.2fx", one, all, all/one), ">= 1.0x", all >= one))
}

func (s subject[TTx]) inboxRow(ctx context.Context, name string, box *sandbox.Sandbox, engine *durable.Engine[TTx]) error {
	acknowledged, err := s.inbox(ctx, box, engine)
	if err != nil {
		return err
	}
	p99 := quantile(acknowledged, 0.99)
	return row("P19b", name, "inbox, acknowledgement while the API is away, p99",
		fmt.Sprintf("%s, p50 %s", p99.Round(10*time.Microsecond), quantile(acknowledged, 0.5).Round(10*time.Microsecond)), "<= 50ms", p99 <= 50*time.Millisecond)
}

// healthRow prints how long Health takes with so many writes that are over, and notifications.
func (s subject[TTx]) healthRow(ctx context.Context, name string, engine *durable.Engine[TTx], rows int) error {
	if err := s.fill(ctx, rows, over); err != nil {
		return err
	}
	if err := s.notified(ctx, 3*rows/10); err != nil {
		return err
	}
	health, err := s.health(ctx, engine)
	if err != nil {
		return err
	}
	return row("P19d", name, fmt.Sprintf("Health, with %d writes and %d notifications", rows, 3*rows/10),
		health.Round(10*time.Microsecond).String(), "<= 20ms", health <= 20*time.Millisecond)
}

// together returns how many payments one caller and many at once have accepted in a second, the
// medians of rounds in turn.
func (s subject[TTx]) together(ctx context.Context, engine *durable.Engine[TTx], rounds int) (one, all float64, err error) {
	var ones, alls []time.Duration
	for range rounds {
		for n, times := range map[int]*[]time.Duration{1: &ones, callers: &alls} {
			took, err := s.acceptBy(ctx, engine, n)
			if err != nil {
				return 0, 0, err
			}
			*times = append(*times, took)
		}
	}
	slices.Sort(ones)
	slices.Sort(alls)
	return shared / quantile(ones, 0.5).Seconds(), shared / quantile(alls, 0.5).Seconds(), nil
}

// acceptBy returns how long so many callers take for the payments that they share.
func (s subject[TTx]) acceptBy(ctx context.Context, engine *durable.Engine[TTx], callers int) (time.Duration, error) {
	var left atomic.Int64
	left.Store(shared)
	errs := make([]error, callers)
	var working sync.WaitGroup
	begun := time.Now()
	for i := range callers {
		working.Go(func() {
			for errs[i] == nil && left.Add(-1) >= 0 {
				errs[i] = s.commit(ctx, func(tx database.Tx) error {
					_, _, err := engine.Pay(ctx, s.Leave(tx), newWrite(), payment(rand.Text()))
					return err
				})
			}
		})
	}
	working.Wait()
	return time.Since(begun), errors.Join(errs...)
}

// accept returns the median time of a batch of payments, and of as many plain inserts of
// the same size, measured in turn, and the median of how many times as fast as the plain
// ones the payments of a round were.
func (s subject[TTx]) accept(ctx context.Context, engine *durable.Engine[TTx], rounds int) (payments, plain time.Duration, ratio float64, err error) {
	body := string(bytes.Repeat([]byte("x"), 1000))
	var ours, theirs []time.Duration
	var ratios []float64
	for range rounds {
		begun := time.Now()
		for range batch {
			err := s.commit(ctx, func(tx database.Tx) error {
				_, _, err := engine.Pay(ctx, s.Leave(tx), newWrite(), payment(rand.Text()))
				return err
			})
			if err != nil {
				return 0, 0, 0, err
			}
		}
		ours = append(ours, time.Since(begun))
		begun = time.Now()
		for range batch {
			err := s.commit(ctx, func(tx database.Tx) error {
				_, err := tx.Exec(ctx, "INSERT INTO plain (id, body) VALUES ($1, $2)", rand.Text(), body)
				return err
			})
			if err != nil {
				return 0, 0, 0, err
			}
		}
		theirs = append(theirs, time.Since(begun))
		ratios = append(ratios, theirs[len(theirs)-1].Seconds()/ours[len(ours)-1].Seconds())
	}
	slices.Sort(ratios)
	slices.Sort(ours)
	slices.Sort(theirs)
	return quantile(ours, 0.5), quantile(theirs, 0.5), ratios[len(ratios)/2], nil
}

func newWrite() durable.NewWrite { return durable.NewWrite{ID: rand.Text(), Order: rand.Text()} }

func payment(token string) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromSingleUseToken(token), PrincipalAmount: decimal.New(2490, -2),
		Currency: quickstream.CurrencyAUD, ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"),
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
}

// inbox returns how long acknowledgements take, sorted.
func (s subject[TTx]) inbox(ctx context.Context, box *sandbox.Sandbox, engine *durable.Engine[TTx]) ([]time.Duration, error) {
	if err := box.Inject(sandbox.Fault{Kind: sandbox.Unreachable(sandbox.ConnectionRefused)}); err != nil {
		return nil, err
	}
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{secret})
	if err != nil {
		return nil, err
	}
	handler := engine.Inbox(verifier)
	var times []time.Duration
	for i := range deliveries {
		body := fmt.Appendf(nil, `{"id":"evt-%d","timestamp":"2026-01-01T00:00:00Z","eventType":"payto.payment.approved","data":{"receiptNumber":"%d"}}`, i, i)
		header, err := signature.Sign(signature.AssumedHMAC{}, secret, time.Now(), body)
		if err != nil {
			return nil, err
		}
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/webhooks", bytes.NewReader(body))
		request.Header.Set(signature.Header, header)
		answer := httptest.NewRecorder()
		begun := time.Now()
		handler.ServeHTTP(answer, request)
		times = append(times, time.Since(begun))
		if answer.Code != http.StatusOK {
			return nil, fmt.Errorf("a notification was answered %d", answer.Code)
		}
	}
	slices.Sort(times)
	return times, nil
}

// over and waiting are what the copies of a payment are: settled for ever, or to be looked up tomorrow.
const (
	over    = "'settled', 'approved'"
	waiting = "'resolving', ''"
)

// fill makes as many copies of a payment as are asked for.
func (s subject[TTx]) fill(ctx context.Context, rows int, standing string) error {
	copies := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO quickstream.write (id, order_id, kind, operation, follows, business, source, token, request, state, outcome, reversal, version, claim,
		sends, key_number, first_sent_at, last_sent_at, key_sent_at, permit, next_at, due_at, written_at, changed_at, database_at, replaced_by, receipt,
		reference, intent_id, end_to_end_id, amount, total, currency, settles_on, intent, lookups, pending, failures, problem, decision)
		SELECT $1 || i || id, $1 || i || order_id, kind, operation, follows, business, source, $1 || i || token, request, ` + standing + `, reversal, version, claim,
		sends, key_number, first_sent_at, last_sent_at, key_sent_at, permit, $2, $2, written_at, changed_at, database_at, replaced_by, receipt,
		$1 || i || reference, $1 || i || intent_id, end_to_end_id, amount, total, currency, settles_on, intent, lookups, pending, failures, problem, decision
		FROM (SELECT * FROM quickstream.write WHERE id NOT LIKE 'copy%' LIMIT 100) AS w, n LIMIT $3`
	due := time.Time{} // never
	if standing == waiting {
		due = time.Now().AddDate(0, 0, 1)
	}
	return s.repeat(ctx, rows, func(tx database.Tx, made int) (int64, error) {
		return tx.Exec(ctx, copies, fmt.Sprintf("copy of %s %d-", standing[1:2], made), due, int64(rows-made))
	})
}

// notified makes as many notifications that were confirmed.
func (s subject[TTx]) notified(ctx context.Context, rows int) error {
	const copies = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO quickstream.notification (id, digest, raw, state, next_at, due_at, received_at, changed_at, failures, problem, carrier)
		SELECT $1 || i || id, digest, raw, 'done', NULL, NULL, received_at, changed_at, 0, '', carrier
		FROM (SELECT * FROM quickstream.notification WHERE id NOT LIKE 'copy%' LIMIT 100) AS o, n LIMIT $2`
	return s.repeat(ctx, rows, func(tx database.Tx, made int) (int64, error) {
		return tx.Exec(ctx, copies, fmt.Sprintf("copy %d-", made), int64(rows-made))
	})
}

// repeat makes rows until there are enough.
func (s subject[TTx]) repeat(ctx context.Context, rows int, some func(tx database.Tx, made int) (int64, error)) error {
	for made := 0; made < rows; {
		err := s.commit(ctx, func(tx database.Tx) error {
			n, err := some(tx, made)
			made += int(n)
			if err == nil && n == 0 {
				err = errors.New("there is nothing to copy")
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// health returns the median time of Health, with what the database knows of its tables up to date.
func (s subject[TTx]) health(ctx context.Context, engine *durable.Engine[TTx]) (time.Duration, error) {
	if err := s.commit(ctx, func(tx database.Tx) error {
		_, err := tx.Exec(ctx, "ANALYZE") //nolint:misspell // as SQL spells it
		return err
	}); err != nil {
		return 0, err
	}
	var times []time.Duration
	for range 21 {
		begun := time.Now()
		if _, err := engine.Health(ctx); err != nil {
			return 0, err
		}
		times = append(times, time.Since(begun))
	}
	slices.Sort(times)
	return quantile(times, 0.5), nil
}
