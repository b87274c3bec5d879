package sandbox

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryFaultKind checks for each kind what the caller sees and what the ledger has.
func TestEveryFaultKind(t *testing.T) {
	unreadable := regexp.MustCompile(`Proxy Authentication Required|no such host|certificate|unexpected EOF`)
	for _, test := range []struct {
		kind    FaultKind
		status  int   // that the caller sees
		err     error // that the caller sees
		holds   string
		charges int
	}{
		{kind: Unreachable(ConnectionRefused), err: syscall.ECONNREFUSED},
		{kind: Unreachable(UnknownHost), holds: "no such host"},
		{kind: Unreachable(UntrustedCertificate), holds: "certificate signed by unknown authority"},
		{kind: Unreachable(ProxyAuthRequired), holds: "Proxy Authentication Required"},
		{kind: ResetBeforeCommit(), err: syscall.ECONNRESET},
		{kind: ResetAfterCommit(), err: syscall.ECONNRESET, charges: 1},
		{kind: HangBeforeCommit(), err: context.DeadlineExceeded},
		{kind: HangAfterCommit(), err: context.DeadlineExceeded, charges: 1},
		{kind: DelayBeforeCommit(10 * time.Second), status: 201, charges: 1},
		{kind: DelayAfterCommit(10 * time.Second), status: 201, charges: 1},
		{kind: DelayBeforeCommit(2 * time.Minute), err: context.DeadlineExceeded, charges: 1},
		{kind: DelayAfterCommit(2 * time.Minute), err: context.DeadlineExceeded, charges: 1},
		{kind: CommitLate(time.Minute), err: syscall.ECONNRESET, charges: 1},
		{kind: SlowBody(400), status: 201, charges: 1},
		{kind: SlowBody(1), status: 201, err: context.DeadlineExceeded, charges: 1},
		{kind: TruncatedBody(100), status: 201, err: io.ErrUnexpectedEOF, charges: 1},
		{kind: Redirect(307, "http://localhost/rest/v1/elsewhere"), status: 307},
		{kind: Status(503, ServiceError), status: 503, holds: `"status":"503"`},
		{kind: Status(502, HTML), status: 502, holds: "<html>"},
		{kind: Status(504, Empty), status: 504},
		{kind: RateLimited("7"), status: 429, holds: `"status":"429"`},
		{kind: StatusAfterCommit(500, ServiceError), status: 500, holds: `"status":"500"`, charges: 1},
		{kind: StatusAfterCommit(503, HTML), status: 503, holds: "<html>", charges: 1},
		{kind: StatusAfterCommit(206, Unchanged), status: 206, holds: `"status":"Approved"`, charges: 1},
		{kind: SentTwice(422), status: 201, charges: 1},
		{kind: Garbage(HTML), status: 201, holds: "<html>", charges: 1},
		{kind: Garbage(BrokenJSON), status: 201, err: io.ErrUnexpectedEOF, charges: 1},
		{kind: Garbage(Empty), status: 201, charges: 1},
		{kind: Garbage(DuplicateMembers), status: 201, holds: `"status":null`, charges: 1},
	} {
		t.Run(test.kind.String(), func(t *testing.T) {
			bubble(t, func(c *caller) {
				c.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
				require.NoError(t, c.box.Inject(Fault{Operation: "POST /transactions", Nth: 1, Kind: test.kind}))
				c.must(200, c.get("/")) // the connection is a used one
				ctx, cancel := context.WithTimeout(c.t.Context(), 90*time.Second)
				defer cancel()
				got, err := c.try(c.request("POST", "/transactions", c.keys.Secret, cardPayment("O"), "Idempotency-Key", "k").WithContext(ctx))
				text := string(got.raw)
				if test.err != nil {
					require.ErrorIs(t, err, test.err)
				} else if err != nil {
					require.Regexp(t, unreadable, err)
					text += err.Error()
				}
				assert.Equal(t, test.status, got.status)
				assert.Contains(t, text, test.holds)
				c.sleep(10 * time.Minute)
				assert.Len(t, c.box.Ledger().Charged("O"), test.charges)
				assert.Equal(t, map[string]int{test.kind.String(): 1}, c.box.FaultCounts())

				list := c.box.Requests()[1:]
				if test.kind.dial != nil {
					assert.Empty(t, list)
					return
				}
				require.Len(t, list, 1)
				assert.Equal(t, test.kind.String(), list[0].Fault)
				assert.Equal(t, test.status, list[0].Status)
				assert.Equal(t, test.charges == 1, list[0].Committed)
			})
		})
	}
}

// The waits of the caller to the second, and the headers and lengths of answers.
func TestFaultsToTheSecond(t *testing.T) {
	bubble(t, func(c *caller) {
		c.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		meets := func(kind FaultKind) (response, time.Duration) {
			c.box.ClearFaults()
			require.NoError(t, c.box.Inject(Fault{Operation: "GET /", Nth: 1, Kind: kind}))
			begun := time.Now()
			out, _ := c.try(c.request("GET", "/", c.keys.Secret, nil))
			return out, time.Since(begun)
		}
		_, took := meets(DelayBeforeCommit(10 * time.Second))
		assert.Equal(t, 10*time.Second, took)
		_, took = meets(DelayAfterCommit(10 * time.Second))
		assert.Equal(t, 10*time.Second, took)
		slow, took := meets(SlowBody(100))
		assert.Equal(t, time.Duration((len(slow.raw)-1)/100)*time.Second, took)
		cut, _ := meets(TruncatedBody(100))
		assert.Len(t, cut.raw, 100)
		moved, _ := meets(Redirect(307, "http://localhost/rest/v1/elsewhere"))
		assert.Contains(t, moved.header.Get("Location"), "elsewhere")
		limited, _ := meets(RateLimited("7"))
		assert.Equal(t, "7", limited.header.Get("Retry-After"))
		limited, _ = meets(RateLimited(""))
		assert.Empty(t, limited.header.Get("Retry-After"))
	})
}

func TestCommitLate(t *testing.T) {
	bubble(t, func(c *caller) {
		require.NoError(t, c.box.Inject(Fault{Operation: "POST /transactions", Nth: 1, Kind: CommitLate(time.Minute)}))
		token := c.token(cardToken(goodCard))
		body := changed(payment("O"), "singleUseTokenId", token)
		_, err := c.try(c.request("POST", "/transactions", c.keys.Secret, body, "Idempotency-Key", "k"))
		require.ErrorIs(t, err, syscall.ECONNRESET)
		c.must(409, c.post("/transactions", body, "Idempotency-Key", "k"))
		c.sleep(59 * time.Second)
		c.must(404, c.get("/transactions/for-reference-number?referenceNumber=O"))
		assert.Empty(t, c.box.Ledger())
		c.sleep(5 * time.Second)
		found := c.must(200, c.get("/transactions/for-reference-number?referenceNumber=O"))["data"].([]any)
		again := c.must(201, c.post("/transactions", body, "Idempotency-Key", "k"))
		assert.Equal(t, found[0].(object)["receiptNumber"], again["receiptNumber"])
		assert.Equal(t, c.box.Now().Add(-4*time.Second), c.box.Ledger()[0].Time)
	})
	bubble(t, func(c *caller) { // the second attempt can also be refused
		require.NoError(t, c.box.Inject(Fault{Operation: "POST /transactions", Nth: 1, Kind: CommitLate(11 * time.Minute)}))
		_, err := c.try(c.request("POST", "/transactions", c.keys.Secret, changed(payment("O"), "singleUseTokenId", c.token(cardToken(goodCard)))))
		require.Error(t, err)
		c.sleep(time.Hour)
		assert.Empty(t, c.box.Ledger())
		assert.False(t, c.box.Requests()[1].Committed)
	})
}

func TestUnavailableSpendsTheKey(t *testing.T) {
	inject := func(c *caller) {
		require.NoError(c.t, c.box.Inject(Fault{Operation: "POST /transactions", Nth: 1, Kind: Status(503, ServiceError)}))
		c.must(503, c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k"))
	}
	bubble(t, func(c *caller) {
		inject(c)
		c.must(503, c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k"))
		c.must(201, c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k2"))
	})
}

func TestDialFaultsAreNeverSent(t *testing.T) {
	bubble(t, func(c *caller) {
		require.NoError(t, c.box.Inject(
			Fault{Operation: "POST /transactions", Nth: 2, Kind: Unreachable(ConnectionRefused)},
			Fault{Match: func(r Request) bool {
				return r.Key == KeyPublishable && r.Header.Get("Authorization") == KeyPublishable
			}, Times: 1, Kind: Unreachable(UnknownHost)},
		))
		c.pay("1")
		wrote := false
		r := c.request("POST", "/transactions", c.keys.Secret, cardPayment("2"), "Idempotency-Key", "k")
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
			GotConn:      func(httptrace.GotConnInfo) { wrote = true },
			WroteHeaders: func() { wrote = true },
		}))
		_, err := c.try(r)
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		assert.False(t, wrote)
		_, err = c.try(c.request("POST", "/single-use-tokens", c.keys.Publishable, cardToken(goodCard)))
		require.Error(t, err)
		c.pay("3")
		c.token(cardToken(goodCard))
		assert.Len(t, c.box.Requests(), 3)
		assert.Equal(t, map[string]int{"ConnectionRefused": 1, "UnknownHost": 1}, c.box.FaultCounts())
	})
}

func TestWhichCallsMeetAFault(t *testing.T) {
	statuses := func(c *caller, n int) (out []int) {
		for range n {
			out = append(out, c.get("/").status)
		}
		return out
	}
	for name, test := range map[string]struct {
		faults []Fault
		want   []int
	}{
		"every call":      {[]Fault{{Kind: Status(500, Empty)}}, []int{500, 500, 500, 500}},
		"twice":           {[]Fault{{Times: 2, Kind: Status(500, Empty)}}, []int{500, 500, 200, 200}},
		"the third":       {[]Fault{{Nth: 3, Kind: Status(500, Empty)}}, []int{200, 200, 500, 200}},
		"from the second": {[]Fault{{Nth: 2, Times: 2, Kind: Status(500, Empty)}}, []int{200, 500, 500, 200}},
		"first one wins":  {[]Fault{{Nth: 2, Kind: Status(500, Empty)}, {Nth: 2, Kind: Status(502, Empty)}, {Nth: 3, Kind: Status(504, Empty)}}, []int{200, 500, 502, 504}},
		"other operation": {[]Fault{{Operation: "GET /customers", Kind: Status(500, Empty)}}, []int{200, 200, 200, 200}},
		"match":           {[]Fault{{Match: func(r Request) bool { return r.Path == "/rest/v1/" }, Nth: 4, Kind: Status(500, Empty)}}, []int{200, 200, 200, 500}},
	} {
		bubble(t, func(c *caller) {
			require.NoError(t, c.box.Inject(test.faults...))
			assert.Equal(t, test.want, statuses(c, 4), name)
		})
	}
	dice := func(seed uint64) (out []int) {
		bubble(t, func(c *caller) {
			require.NoError(t, c.box.Inject(Fault{Probability: 0.5, Kind: Status(500, Empty)}))
			out = statuses(c, 64)
		}, WithSeed(seed))
		return out
	}
	first := dice(1)
	assert.Equal(t, first, dice(1))
	assert.NotEqual(t, first, dice(2))
	assert.Contains(t, first, 200)
	assert.Contains(t, first, 500)

	bubble(t, func(c *caller) {
		require.NoError(t, c.box.Inject(Fault{Kind: Status(500, Empty)}))
		statuses(c, 1)
		c.box.ClearFaults()
		assert.Equal(t, []int{200}, statuses(c, 1))
		assert.Equal(t, map[string]int{"Status": 1}, c.box.FaultCounts())
	})
}

func TestInjectRefusesNonsense(t *testing.T) {
	box := New()
	defer box.Close()
	require.ErrorContains(t, box.Inject(Fault{Operation: "POST /transaction", Kind: Unreachable(ConnectionRefused)}), "POST /transaction")
	require.ErrorContains(t, box.Inject(Fault{Operation: "GET /"}), "no kind")
	require.ErrorContains(t, box.Inject(Fault{Kind: Unreachable(ConnectionRefused), Probability: 2}), "probability")
	assert.Empty(t, box.FaultCounts())
}

// TestAStalledReaderStopsNobodyElse leaves one answer unread, and pays again meanwhile.
func TestAStalledReaderStopsNobodyElse(t *testing.T) {
	bubble(t, func(c *caller) {
		resp, err := c.client.Do(c.request("POST", "/transactions", c.keys.Secret, cardPayment("O")))
		require.NoError(t, err)
		synctest.Wait()
		c.pay("O2")
		require.NoError(t, resp.Body.Close())
		assert.Len(t, c.box.Ledger(), 2)
	})
}

// heapGrowth returns how much more memory is in use after f than before.
func heapGrowth(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// Callers without a key, with wrong keys and with idempotency keys send large bodies: the
// sandbox keeps a bounded part.
func TestAttackRow10BodiesFillMemory(t *testing.T) {
	const megabytes, enough = 40, 24 << 20
	large := strings.Repeat("x", 1<<20)
	flood := func(h http.Handler, change func(*http.Request, int)) int64 {
		grown := heapGrowth(func() {
			for i := range megabytes {
				r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/rest/v1/transactions", strings.NewReader(large))
				change(r, i)
				h.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
		runtime.KeepAlive(h)
		return grown
	}
	same := New(WithSeed(1))
	defer same.Close()
	key := same.Keys().Secret
	for name, attack := range map[string]func(*http.Request, int){
		"strangers":   func(*http.Request, int) {},
		"a wrong key": func(r *http.Request, _ int) { r.SetBasicAuth("SANDBOX_SEC_WRONG", "") },
		"idempotency keys": func(r *http.Request, i int) {
			r.SetBasicAuth(key, "")
			r.Header.Set("Idempotency-Key", strings.Repeat("k", i+1))
		},
	} {
		box := New(WithSeed(1))
		assert.Less(t, flood(box, attack), int64(enough), name)
		for _, r := range box.Requests() {
			assert.Len(t, r.Body, maxRecordedBody)
		}
		box.Close()
	}
}

// When Drain returns, a call whose caller has given up was carried out, and calls that hang
// have ended.
func TestDrain(t *testing.T) {
	b := New()
	defer b.Close()
	require.NoError(t, b.Drain(t.Context()), "nothing was ever called")
	for _, kind := range []FaultKind{HangBeforeCommit(), HangAfterCommit()} {
		require.NoError(t, b.Inject(Fault{Operation: "POST /customers", Kind: kind, Times: 1}))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL()+"/customers", strings.NewReader(`{}`))
		require.NoError(t, err)
		_, err = b.HTTPClient().Do(r) //nolint:bodyclose // there is none
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, b.Drain(t.Context()))
	}
}
