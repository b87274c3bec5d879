package clienttest_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// How a call may end, as the retry table words it.
const (
	succeeds = "success"
	declines = "DeclinedError"
	network  = "NetworkError"
	unknown  = "UnknownOutcomeError"
	answered = "APIError"
	decoding = "DecodeError"
)

// caller makes one call of a class of operations. The classes are the columns of
// the table.
type caller struct {
	name, operation string
	call            func(ctx context.Context, c *quickstream.Client, opts ...quickstream.CallOption) error
}

const order = "ORDER-1"

func payment() quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.RequireFromString("10.50"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), CustomerReferenceNumber: order,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		Source:           quickstream.FromCard(approvedCard()),
	}
}

func approvedCard() quickstream.CardDetails {
	return quickstream.CardDetails{
		CardholderName: "Ann Example", CardNumber: quickstream.NewSecret("4242424242424242"),
		Expiry: quickstream.YearMonth{Year: 2035, Month: time.March}, CVN: quickstream.NewSecret("123"),
	}
}

// table sets up what the four calls need and returns them.
func table(t *testing.T, c *quickstream.Client) []caller {
	t.Helper()
	customer, err := c.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-0", CustomerName: "Ann"})
	require.NoError(t, err)
	return []caller{
		{"GET", "GET /customers/{customerId}", func(ctx context.Context, c *quickstream.Client, opts ...quickstream.CallOption) error {
			return second(c.Customers.Get(ctx, customer.CustomerID, opts...))
		}},
		{"POST /transactions", "POST /transactions", func(ctx context.Context, c *quickstream.Client, opts ...quickstream.CallOption) error {
			return second(c.Transactions.Pay(ctx, payment(), opts...))
		}},
		{"other POST", "POST /customers", func(ctx context.Context, c *quickstream.Client, opts ...quickstream.CallOption) error {
			return second(c.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Bob"}, opts...))
		}},
		{"PUT", "PUT /customers/{customerId}", func(ctx context.Context, c *quickstream.Client, opts ...quickstream.CallOption) error {
			return second(c.Customers.Update(ctx, customer.CustomerID, quickstream.UpdateCustomerParams{CustomerName: new("Cy")}, opts...))
		}},
	}
}

// cell is what a cell of the table promises: how the call ends, and how many
// requests were begun.
type cell struct {
	ends     string
	requests int
}

// row is a situation and what its row of the documented table promises for it.
type row struct {
	when  string // as in the table of the package documentation
	name  string
	fault sandbox.FaultKind
	times int // 0: at every attempt
	cells [4]cell
	// kind is the network condition, where nothing is sent.
	kind quickstream.NetworkKind
	// unsent: the requests never reach the sandbox.
	unsent bool
	// patience ends the context of the call.
	patience time.Duration
}

func all(c cell) [4]cell { return [4]cell{c, c, c, c} }

func tableRows() []row {
	const neverSent, lost, inconclusive, refused, refused429 = "never sent", "lost after sending", "inconclusive", "refused", "refused with 429"
	gone := [4]cell{{network, 3}, {unknown, 3}, {unknown, 1}, {unknown, 1}}
	once := [4]cell{{succeeds, 2}, {succeeds, 2}, {unknown, 1}, {unknown, 1}}
	unclear := [4]cell{{answered, 3}, {unknown, 1}, {unknown, 1}, {unknown, 1}}
	undecodable := [4]cell{{decoding, 3}, {unknown, 1}, {unknown, 1}, {unknown, 1}}
	later := [4]cell{{answered, 3}, {answered, 1}, {answered, 1}, {answered, 1}}
	redirected := [4]cell{{answered, 1}, {unknown, 1}, {unknown, 1}, {unknown, 1}}
	forged := [4]cell{{answered, 1}, {unknown, 1}, {unknown, 1}, {unknown, 1}}
	inFlight := [4]cell{{answered, 1}, {unknown, 1}, {unknown, 1}, {answered, 1}}
	rows := []row{
		{when: "success", name: "slowly", fault: sandbox.DelayAfterCommit(time.Second), cells: all(cell{succeeds, 1})},

		{when: neverSent, name: "connection refused", fault: sandbox.Unreachable(sandbox.ConnectionRefused), cells: all(cell{network, 3}), kind: quickstream.NetworkKindConnectionRefused, unsent: true},
		{when: neverSent, name: "connection refused once", fault: sandbox.Unreachable(sandbox.ConnectionRefused), times: 1, cells: all(cell{succeeds, 2})},
		{when: neverSent, name: "host name unknown", fault: sandbox.Unreachable(sandbox.UnknownHost), cells: all(cell{network, 1}), kind: quickstream.NetworkKindDNS, unsent: true},
		{when: neverSent, name: "certificate not trusted", fault: sandbox.Unreachable(sandbox.UntrustedCertificate), cells: all(cell{network, 1}), kind: quickstream.NetworkKindCertificate, unsent: true},
		{when: neverSent, name: "proxy wants credentials", fault: sandbox.Unreachable(sandbox.ProxyAuthRequired), cells: all(cell{network, 1}), kind: quickstream.NetworkKindProxy, unsent: true},

		{when: lost, name: "reset before commit", fault: sandbox.ResetBeforeCommit(), cells: gone},
		{when: lost, name: "reset before commit once", fault: sandbox.ResetBeforeCommit(), times: 1, cells: once},
		{when: lost, name: "reset after commit", fault: sandbox.ResetAfterCommit(), cells: gone},
		{when: lost, name: "reset after commit once", fault: sandbox.ResetAfterCommit(), times: 1, cells: once},
		// The two attempts that fit into the window in which a key is trusted.
		{when: lost, name: "time-out before commit", fault: sandbox.HangBeforeCommit(), cells: [4]cell{{network, 3}, {unknown, 2}, {unknown, 1}, {unknown, 1}}},
		{when: lost, name: "time-out before commit once", fault: sandbox.HangBeforeCommit(), times: 1, cells: once},
		{when: lost, name: "time-out after commit once", fault: sandbox.HangAfterCommit(), times: 1, cells: once},
		{when: "context ended", name: "time-out of the caller", fault: sandbox.HangAfterCommit(), patience: 5 * time.Second, cells: [4]cell{{network, 1}, {unknown, 1}, {unknown, 1}, {unknown, 1}}},

		{when: inconclusive, name: "slow body", fault: sandbox.SlowBody(1), cells: [4]cell{{network, 3}, {unknown, 1}, {unknown, 1}, {unknown, 1}}},
		{when: inconclusive, name: "truncated body", fault: sandbox.TruncatedBody(40), cells: [4]cell{{network, 3}, {unknown, 1}, {unknown, 1}, {unknown, 1}}},
		{when: inconclusive, name: "duplicated members", fault: sandbox.Garbage(sandbox.DuplicateMembers), cells: undecodable},
		{when: inconclusive, name: "503, HTML", fault: sandbox.Status(503, sandbox.HTML), cells: unclear},
		{when: inconclusive, name: "503, empty", fault: sandbox.Status(503, sandbox.Empty), cells: unclear},
		{when: inconclusive, name: "503, broken JSON", fault: sandbox.Status(503, sandbox.BrokenJSON), cells: unclear},
		{when: inconclusive, name: "500 after commit", fault: sandbox.StatusAfterCommit(500, sandbox.ServiceError), cells: unclear},
		{when: inconclusive, name: "success, HTML", fault: sandbox.Garbage(sandbox.HTML), cells: undecodable},
		{when: inconclusive, name: "success, empty", fault: sandbox.Garbage(sandbox.Empty), cells: [4]cell{undecodable[0], undecodable[1], undecodable[2], {succeeds, 1}}},
		{when: inconclusive, name: "success, broken JSON", fault: sandbox.Garbage(sandbox.BrokenJSON), cells: undecodable},
		{when: inconclusive, name: "success, an error body", fault: sandbox.Garbage(sandbox.ServiceError), cells: undecodable},
		// A key in flight is no refusal.
		{when: inconclusive, name: "409", fault: sandbox.Status(409, sandbox.ServiceError), cells: inFlight},

		{when: "503, error body", name: "503", fault: sandbox.Status(503, sandbox.ServiceError), cells: later},
		{when: refused429, name: "429", fault: sandbox.RateLimited("1"), cells: later},
		{when: refused429, name: "429 without Retry-After", fault: sandbox.RateLimited(""), cells: later},
		{when: refused429, name: "429 at the cap", fault: sandbox.RateLimited("8"), cells: later},
		{when: refused429, name: "429 until a time", fault: sandbox.RateLimited("Sat, 01 Jan 2000 00:00:05 GMT"), cells: later},
		{when: refused429, name: "429 beyond the cap", fault: sandbox.RateLimited("3600"), cells: all(cell{answered, 1})},
		{when: refused429, name: "429 with an absurd Retry-After", fault: sandbox.RateLimited("99999999999999999999"), cells: later},
		{when: "3xx, not followed", name: "300", fault: sandbox.Status(300, sandbox.Empty), cells: redirected},
		{when: "3xx, not followed", name: "307 with a broken Location", fault: sandbox.Redirect(307, "http://[::"), cells: redirected},
	}
	for _, code := range []int{402, 407, 408, 410, 412, 418, 423, 425, 426, 428, 431, 451, 460, 499, 500, 501, 502, 504, 520} {
		for name, body := range map[string]sandbox.BodyKind{"service's body": sandbox.ServiceError, "HTML": sandbox.HTML, "empty": sandbox.Empty} {
			rows = append(rows, row{when: inconclusive, name: fmt.Sprintf("%d, %s", code, name), fault: sandbox.Status(code, body), cells: unclear})
		}
	}
	for _, code := range []int{400, 401, 403, 404, 405, 406, 411, 413, 414, 415, 422} {
		rows = append(rows, row{when: refused, name: fmt.Sprintf("%d", code), fault: sandbox.Status(code, sandbox.ServiceError), cells: all(cell{answered, 1})})
	}
	// What a proxy says refuses a read and no write.
	for _, code := range []int{400, 401, 403, 404, 405, 406, 409, 411, 413, 414, 415, 422, 429} {
		for name, body := range map[string]sandbox.BodyKind{"HTML": sandbox.HTML, "empty": sandbox.Empty, "a gateway's JSON": sandbox.GatewayError, "errors without a field": sandbox.ErrorList} {
			cells := forged
			if code == 429 {
				cells = unclear
			}
			rows = append(rows, row{when: inconclusive, name: fmt.Sprintf("%d, %s", code, name), fault: sandbox.Status(code, body), cells: cells})
		}
	}
	for _, code := range []int{301, 302, 303, 304, 307, 308} {
		rows = append(rows, row{when: "3xx, not followed", name: fmt.Sprintf("%d", code), fault: sandbox.Redirect(code, "http://elsewhere.localhost/x"), cells: redirected})
	}
	return rows
}

// TestRetryTable goes through every cell: each situation, made by the sandbox,
// against each class of operation. A cell that nothing met fails the test.
func TestRetryTable(t *testing.T) {
	met := map[string][4]int{}
	cells := 0
	for _, row := range tableRows() {
		for i, want := range row.cells {
			cells++
			hits := met[row.when]
			hits[i]++
			met[row.when] = hits
			synctest.Test(t, func(t *testing.T) { row.play(t, i, want) })
		}
	}
	for _, documented := range transport.Table {
		if documented.When == "503 on 3D Secure" { // one operation: see TestEvery503OnThreeDS
			continue
		}
		for i, hits := range met[documented.When] {
			assert.Positive(t, hits, "%s, column %d: nothing met this cell", documented.When, i)
		}
		delete(met, documented.When)
	}
	assert.Empty(t, met, "situations that no row of the table describes")
	t.Logf("%d rows, %d cells", len(tableRows()), cells)
}

// play makes the situation for a class and compares what came of it.
func (r row) play(t *testing.T, class int, want cell) {
	box, client := sandboxtest.New(t)
	caller := table(t, client)[class]
	name := r.name + " / " + caller.name
	box.ResetRequests()
	// On a connection that served before, net/http may repeat a GET by itself.
	client.CloseIdleConnections()
	require.NoError(t, box.Inject(sandbox.Fault{Operation: caller.operation, Kind: r.fault, Times: r.times}))
	ctx := t.Context()
	if r.patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.patience)
		defer cancel()
	}
	var resp quickstream.Response
	err := caller.call(ctx, client, quickstream.WithResponseInto(&resp))

	assert.Equal(t, want.ends, ending(err), "%s: %v", name, err)
	assert.Equal(t, want.requests, resp.Attempts, "%s: attempts", name)
	if err != nil {
		assert.Equal(t, want.requests, attemptsIn(err), "%s: attempts of the error", name)
	}
	if !r.unsent && r.times == 0 {
		assert.Len(t, box.Requests(), want.requests, "%s: requests seen by the service", name)
	}
	if network, ok := errors.AsType[*quickstream.NetworkError](err); ok && r.kind != "" {
		assert.Equal(t, r.kind, network.Kind, name)
		assert.NotEmpty(t, hints()[r.kind], name)
		assert.ErrorContains(t, err, hints()[r.kind], name)
		assert.Equal(t, class > 0, strings.Contains(err.Error(), "nothing was sent"), "%s: of a write it is said: %v", name, err)
	}
	sameKey(t, box, name)
	settled(t, box, err, name)
}

// ending names the error type. An unknown outcome must not be mistaken for
// anything else.
func ending(err error) string {
	var (
		networkErr *quickstream.NetworkError
		unknownErr *quickstream.UnknownOutcomeError
		apiErr     *quickstream.APIError
		decodeErr  *quickstream.DecodeError
	)
	switch {
	case err == nil:
		return succeeds
	case errors.Is(err, quickstream.ErrDeclined):
		return declines
	case errors.As(err, &unknownErr):
		for _, other := range []error{
			quickstream.ErrUnavailable, quickstream.ErrInvalid, quickstream.ErrNotFound, quickstream.ErrUnauthorized,
			quickstream.ErrRateLimited, quickstream.ErrForbidden, quickstream.ErrThreeDSNotEnabled,
		} {
			if errors.Is(err, other) {
				return "an unknown outcome that matches " + other.Error()
			}
		}
		if !errors.Is(err, quickstream.ErrOutcomeUnknown) || errors.As(err, &apiErr) || errors.As(err, &networkErr) {
			return "an unknown outcome that unwraps"
		}
		if unknownErr.FindOut == "" || unknownErr.Cause == nil || unknownErr.FirstSent.IsZero() {
			return "an unknown outcome that does not help"
		}
		return unknown
	case errors.As(err, &networkErr):
		return network
	case errors.As(err, &apiErr):
		return answered
	case errors.As(err, &decodeErr):
		return decoding
	}
	return err.Error()
}

// attemptsIn returns the attempts that an error counts. The intent of an unknown outcome has the
// same number: a decline settles one that was sent once.
func attemptsIn(err error) int {
	switch e := err.(type) { //nolint:errorlint // as the method returned it
	case *quickstream.UnknownOutcomeError:
		if e.Intent != nil && e.Intent.Attempts != e.Attempts {
			return -e.Intent.Attempts
		}
		return e.Attempts
	case *quickstream.NetworkError:
		return e.Attempts
	case *quickstream.APIError:
		return e.Attempts
	case *quickstream.DecodeError:
		return e.Attempts
	}
	return 0
}

// sameKey checks that all requests of the one call carried one key, and that
// only POSTs did.
func sameKey(t *testing.T, box *sandbox.Sandbox, name string) {
	t.Helper()
	keys := map[string]bool{}
	for _, r := range box.Requests() {
		if r.Method == "POST" {
			assert.NotEmpty(t, r.IdempotencyKey, name)
		} else {
			assert.Empty(t, r.IdempotencyKey, name)
		}
		keys[r.IdempotencyKey] = true
	}
	assert.LessOrEqual(t, len(keys), 1, "%s: keys of one call", name)
}

// settled checks the promise against what was really charged: never twice, and
// what the caller was told is true.
func settled(t *testing.T, box *sandbox.Sandbox, err error, name string) {
	t.Helper()
	charged := len(box.Ledger().Charged(order))
	assert.LessOrEqual(t, charged, 1, "%s: charged twice", name)
	paying := false
	for _, r := range box.Requests() {
		paying = paying || r.Operation == "POST /transactions"
	}
	if !paying {
		return
	}
	switch ending(err) {
	case succeeds:
		assert.Equal(t, 1, charged, "%s: a success that was not charged", name)
	case network, answered:
		assert.Zero(t, charged, "%s: charged although the caller was told otherwise", name)
	}
}

// TestContextEndsInAPause: what never left is not unknown, and the wait ends with the context. That the
// context ends during an attempt is a row of the table.
func TestContextEndsInAPause(t *testing.T) {
	for i := range 4 {
		synctest.Test(t, func(t *testing.T) {
			box, client := sandboxtest.New(t)
			caller := table(t, client)[i]
			require.NoError(t, box.Inject(sandbox.Fault{Operation: caller.operation, Kind: sandbox.Unreachable(sandbox.ConnectionRefused)}))
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			start := time.Now()
			err := caller.call(ctx, client)
			assert.Equal(t, network, ending(err), "%s: %v", caller.name, err)
			assert.ErrorIs(t, err, context.DeadlineExceeded, caller.name)
			assert.Equal(t, 100*time.Millisecond, time.Since(start))
		})
	}
}
