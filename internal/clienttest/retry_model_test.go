package clienttest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// step is what happens to one attempt of a payment, in the model's words.
type step struct {
	kind   sandbox.FaultKind
	unsent bool
	passes bool // an unsent one that can pass by itself
	does   string
	sees   string
}

// What the service does with a request that arrives: nothing, its work, or its
// work later. What the caller sees of it: the service's own answer, an answer
// that cannot be relied on, a refusal, "not processed", or nothing, at once or
// after the time limit of an attempt.
const (
	works, worksLater                                   = "works", "works later"
	itsAnswer, unclear, refusal, notProcessed           = "its answer", "unclear", "refusal", "not processed"
	nothing, nothingInTime, garbled, nothingWasSent, ok = "nothing", "nothing in time", "garbled", "nothing was sent", "ok"
)

func modelSteps() []step {
	return []step{
		{kind: sandbox.Unreachable(sandbox.ConnectionRefused), unsent: true, passes: true},
		{kind: sandbox.Unreachable(sandbox.UnknownHost), unsent: true},
		{kind: sandbox.Unreachable(sandbox.UntrustedCertificate), unsent: true},
		{kind: sandbox.Unreachable(sandbox.ProxyAuthRequired), unsent: true},
		{kind: sandbox.ResetBeforeCommit(), sees: nothing},
		{kind: sandbox.ResetAfterCommit(), does: works, sees: nothing},
		{kind: sandbox.CommitLate(time.Hour), does: worksLater, sees: nothing},
		{kind: sandbox.HangBeforeCommit(), sees: nothingInTime},
		{kind: sandbox.HangAfterCommit(), does: works, sees: nothingInTime},
		{kind: sandbox.DelayBeforeCommit(time.Hour), does: worksLater, sees: nothingInTime},
		{kind: sandbox.DelayAfterCommit(time.Hour), does: works, sees: nothingInTime},
		{kind: sandbox.DelayAfterCommit(time.Second), does: works, sees: itsAnswer},
		{kind: sandbox.Garbage(sandbox.HTML), does: works, sees: garbled},
		{kind: sandbox.Garbage(sandbox.Empty), does: works, sees: garbled},
		{kind: sandbox.TruncatedBody(30), does: works, sees: garbled},
		{kind: sandbox.StatusAfterCommit(500, sandbox.ServiceError), does: works, sees: unclear},
		{kind: sandbox.StatusAfterCommit(502, sandbox.HTML), does: works, sees: unclear},
		{kind: sandbox.Status(408, sandbox.Empty), sees: unclear},
		{kind: sandbox.Status(503, sandbox.HTML), sees: unclear},
		{kind: sandbox.Redirect(307, "http://elsewhere.localhost/"), sees: unclear},
		{kind: sandbox.Status(503, sandbox.ServiceError), sees: notProcessed},
		{kind: sandbox.Status(422, sandbox.ServiceError), sees: refusal},
		{kind: sandbox.Status(401, sandbox.ServiceError), sees: refusal},
		{kind: sandbox.StatusAfterCommit(401, sandbox.HTML), does: works, sees: unclear},
		{kind: sandbox.StatusAfterCommit(429, sandbox.Empty), does: works, sees: unclear},
		{kind: sandbox.RateLimited(""), sees: refusal},
	}
}

// modelOptions are the choices of the caller, whether the service honours keys, what earlier calls
// left of the budget, and which of the payments that it makes it approves, in order.
type modelOptions struct {
	attempts           int
	timeout            time.Duration
	noResend, honoured bool
	repeats, resends   int // tokens
	approves           [4]bool
}

// prediction is what the contract promises for a sequence of steps.
type prediction struct {
	ends                       string
	attempts, arrived, charges int // charges when all that was delayed is done
}

// predict is the contract in other words than the transport's: no classes, no
// table, no state but the service's memory of one key and the clock.
func predict(steps []step, o modelOptions) (p prediction) {
	var done, doing, declined bool // of the key in use: carried out, being carried out, with a decline
	var unanswered bool
	var elapsed time.Duration
	var late int // payments still being carried out
	made := 0
	defer func() {
		for range late {
			p.charges += charge(o, &made)
		}
	}()
	for {
		s := step{does: works, sees: itsAnswer}
		if p.attempts < len(steps) {
			s = steps[p.attempts]
		}
		p.attempts++
		again, last := false, p.attempts == o.attempts
		saw := nothingWasSent
		if s.unsent {
			again = s.passes
		} else {
			p.arrived++
			saw = s.sees
			says := ok
			switch {
			case s.does == "":
			case o.honoured && doing:
				says = unclear // the key is in use, which is no refusal
			case o.honoured && done:
			case s.does == worksLater:
				late++
				done, doing = false, true
			default:
				charged := charge(o, &made)
				p.charges += charged
				done, doing, declined = true, false, charged == 0
			}
			switch {
			case saw == itsAnswer:
				saw = says
			case saw == garbled: // a refusal counts in the service's words alone
				saw = unclear
			}
		}
		switch saw {
		case ok:
			p.ends = succeeds
			if declined && unanswered {
				p.ends = unknown
			} else if declined {
				p.ends = declines
			}
			return p
		case nothing, nothingInTime:
			if saw == nothingInTime {
				elapsed += o.timeout
			}
			unanswered = true
			again = !o.noResend && elapsed < time.Minute
		}
		tokens := &o.repeats
		if unanswered {
			tokens = &o.resends
		}
		switch {
		case again && !last && *tokens > 0:
			*tokens--
			continue
		case unanswered, saw == unclear:
			p.ends = unknown
		case s.unsent:
			p.ends = network
		default:
			p.ends = answered
		}
		return p
	}
}

func charge(o modelOptions, made *int) int {
	approved := o.approves[*made]
	*made++
	if approved {
		return 1
	}
	return 0
}

// TestRetryModel drives payments through random sequences of faults with random
// options, and compares what came of them with the model: how the call ended,
// how many requests there were, and what was charged.
func TestRetryModel(t *testing.T) {
	steps := modelSteps()
	ended := map[string]int{}
	for seed := range uint64(modelled) {
		rng := rand.New(rand.NewPCG(seed, 26))
		o := modelOptions{
			attempts: 1 + rng.IntN(4), timeout: []time.Duration{5 * time.Second, 25 * time.Second, 45 * time.Second}[rng.IntN(3)],
			noResend: rng.IntN(4) == 0, honoured: rng.IntN(4) > 0,
			repeats: []int{10, 9, 2, 1, 0}[rng.IntN(5)], resends: []int{10, 9, 2, 1, 0}[rng.IntN(5)],
		}
		for i := range o.approves {
			o.approves[i] = rng.IntN(3) > 0
		}
		sequence := make([]step, 1+rng.IntN(4))
		for i := range sequence {
			sequence[i] = steps[rng.IntN(len(steps))]
			if i+1 < len(sequence) && rng.IntN(2) == 0 { // most kinds end a call: let half of the steps go on
				sequence[i] = steps[[]int{0, 4, 5, 6, 7, 8, 9, 10, 20}[rng.IntN(9)]]
			}
		}
		synctest.Test(t, func(t *testing.T) {
			name := fmt.Sprintf("seed %d: %v, %+v", seed, kinds(sequence), o)
			want := predict(sequence, o)
			ended[want.ends]++
			box, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
				if !o.honoured {
					a.KeyLifetime = 0
				}
			}))
			spend(t, box, client, 10-o.repeats, 10-o.resends)
			require.NoError(t, box.Inject(inOrder(sequence)...))
			for _, approved := range o.approves {
				if approved {
					box.NextTransaction(sandbox.Approved())
				} else {
					box.NextTransaction(sandbox.Declined("51"))
				}
			}

			var resp quickstream.Response
			opts := []quickstream.CallOption{
				quickstream.WithMaxAttempts(o.attempts), quickstream.WithAttemptTimeout(o.timeout),
				quickstream.WithRetryWait(time.Millisecond, 2*time.Millisecond), quickstream.WithResponseInto(&resp),
			}
			if o.noResend {
				opts = append(opts, quickstream.WithoutResend())
			}
			tx, err := client.Transactions.Pay(t.Context(), payment(), opts...)
			requests := box.Requests()
			wait(2 * time.Hour)
			charged := box.Ledger().Charged(order)

			require.Equal(t, want.ends, ending(err), "%s: %v", name, err)
			require.Equal(t, want.attempts, resp.Attempts, "%s: attempts", name)
			require.Len(t, requests, want.arrived, "%s: requests that arrived", name)
			require.Len(t, charged, want.charges, "%s: charges", name)
			if o.honoured || o.noResend {
				require.LessOrEqual(t, len(charged), 1, name)
			}
			switch want.ends {
			case succeeds:
				require.True(t, slices.ContainsFunc(charged, func(e sandbox.Entry) bool { return e.ReceiptNumber == tx.ReceiptNumber }), name)
			case declines, network, answered:
				require.Empty(t, charged, "%s: charged although the caller was told otherwise", name)
			}
			for _, r := range requests[min(1, len(requests)):] {
				require.Equal(t, requests[0].IdempotencyKey, r.IdempotencyKey, "%s: one key", name)
			}
		})
	}
	for _, end := range []string{succeeds, network, unknown, answered} {
		require.Greater(t, ended[end], modelled/40, "the sequences cover %s: %v", end, ended)
	}
}

// spend takes tokens from the budget of a client, by reads that fail and tokens for cards that are
// lost.
func spend(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client, repeats, resends int) {
	t.Helper()
	const get, create = "GET /transactions/{receiptNumber}", "POST /single-use-tokens"
	require.NoError(t, box.Inject(
		sandbox.Fault{Operation: get, Kind: sandbox.Status(503, sandbox.HTML)}, sandbox.Fault{Operation: create, Kind: sandbox.ResetBeforeCommit()},
	))
	card := quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: sandbox.DefaultBusiness, Account: approvedCard()}
	for ; repeats > 0; repeats -= 5 {
		_, err := client.Transactions.Get(t.Context(), "R-1", quickstream.WithMaxAttempts(1+min(repeats, 5)))
		require.Equal(t, answered, ending(err))
	}
	for ; resends > 0; resends -= 5 {
		_, err := client.SingleUseTokens.Create(t.Context(), card, quickstream.WithMaxAttempts(1+min(resends, 5)))
		require.Equal(t, unknown, ending(err), "%v", err)
	}
	box.ResetRequests()
}

// inOrder returns faults that fire at the attempts of one call, one each. Dial
// faults count attempts; the others count the requests that arrive.
func inOrder(steps []step) []sandbox.Fault {
	faults := make([]sandbox.Fault, len(steps))
	arrived := 0
	for i, s := range steps {
		nth := i + 1
		if !s.unsent {
			arrived++
			nth = arrived
		}
		faults[i] = sandbox.Fault{Operation: "POST /transactions", Kind: s.kind, Nth: nth}
	}
	return faults
}

func kinds(steps []step) (names []string) {
	for _, s := range steps {
		names = append(names, s.kind.String())
	}
	return names
}
