package sandbox

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAuthentication(t *testing.T) {
	bubble(t, func(c *caller) {
		basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
		for name, header := range map[string]string{
			"none":           "",
			"unknown":        basic("SANDBOX_SEC_NOBODY:"),
			"wrong kind":     basic(c.keys.Publishable + ":"),
			"password":       basic(c.keys.Secret + ":x"),
			"without colon":  basic(c.keys.Secret),
			"another scheme": "Bearer " + c.keys.Secret,
		} {
			r := c.request("GET", "/customers", "", nil)
			if header != "" {
				r.Header.Set("Authorization", header)
			}
			out, err := c.try(r)
			require.NoError(t, err)
			c.must(401, out)
			assert.NotEmpty(t, out.body["developerMessage"], name)
			assert.NotContains(t, string(out.raw), c.keys.Secret, name)
		}
		assert.Equal(t, 401, c.do("POST", "/single-use-tokens", c.keys.Secret, cardToken(goodCard)).status)
	})
}

func TestKeysExpireAndAreRenewed(t *testing.T) {
	bubble(t, func(c *caller) {
		renewed := c.box.RenewKey(KeySecret, time.Hour)
		assert.Equal(t, renewed, c.box.Keys().Secret)
		assert.Equal(t, c.keys.Publishable, c.box.Keys().Publishable)
		c.must(200, c.get("/customers"))
		c.must(200, c.do("GET", "/customers", renewed, nil))
		c.sleep(time.Hour)
		c.must(401, c.get("/customers"))
		c.must(200, c.do("GET", "/customers", renewed, nil))
		c.box.RenewKey(KeyPublishable, 0)
		c.must(200, c.do("GET", "/customers", renewed, nil))
		c.must(401, c.post("/single-use-tokens", cardToken(goodCard)))
		c.keys = c.box.Keys()
		c.must(200, c.get("/customers"))
		c.token(cardToken(goodCard))
	})
}

func TestRouting(t *testing.T) {
	bubble(t, func(c *caller) {
		for _, path := range []string{"/nothing", "/customers/1/2/3/4", "/customers/", "http://localhost/rest/v10/customers", "http://localhost/"} {
			body := c.must(404, c.get(path))
			assert.Equal(t, "404", body["status"], path)
		}
		out := c.do("DELETE", "/customers/1", c.keys.Secret, nil)
		c.must(404, out)

		// A literal wins over a parameter, and an escaped slash stays in its segment.
		c.findings(c.get("/transactions/for-reference-number"))
		assert.Equal(t, "There is no such customer.", c.get("/customers/a%2Fb").body["developerMessage"])
	})
}

func TestErrorBody(t *testing.T) {
	bubble(t, func(c *caller) {
		out := c.post("/customers", object{"customerNumber": "", "supplierBusinessCode": "nobody", "Customername": "K"})
		assert.Equal(t, map[string]string{
			"customerNumber": "is required", "customerName": "is required",
			"supplierBusinessCode": "is not the code of a business of this facility", "Customername": "is not a member of this request",
		}, c.findings(out))
		assert.Equal(t, c.base+"/customers?page=x", c.get("/customers?page=x").body["requestUrl"])
		value := ""
		for _, e := range out.body["errors"].([]any) {
			if e.(object)["fieldName"] == "supplierBusinessCode" {
				value = e.(object)["fieldValue"].(string)
			}
		}
		assert.Equal(t, "nobody", value)
	})
}

func TestBodiesThatCannotBeRead(t *testing.T) {
	bubble(t, func(c *caller) {
		for _, body := range []string{``, `[]`, `"x"`, `{"customerNumber":`, `{"customerNumber":"1"} {}`, `{"a":}`} {
			c.must(400, c.post("/customers", body))
		}
		c.must(415, c.post("/customers", object{}, "Content-Type", "text/plain"))
		assert.Equal(t, "must be a string", c.findings(c.post("/customers", `{"customerNumber":1,"customerName":"K"}`))["customerNumber"])
	})
}

func TestRecord(t *testing.T) {
	bubble(t, func(c *caller) {
		c.get("/customers?customerNumber=7")
		c.post("/single-use-tokens", cardToken(goodCard))
		c.findings(c.post("/transactions", changed(cardPayment("O"), "creditCard", cardDetails(realPAN)), "Idempotency-Key", "k1"))
		c.findings(c.post("/customers", fmt.Sprintf(`{"customerNumber":"card %s-%s","cvn":"837"}`, realPAN[:4], realPAN[4:])))

		list := c.box.Requests()
		require.Len(t, list, 4)
		assert.Equal(t, "GET /customers", list[0].Operation)
		assert.Equal(t, "7", list[0].Query.Get("customerNumber"))
		assert.Equal(t, []string{"secret", "publishable"}, []string{list[0].Header.Get("Authorization"), list[1].Key})
		assert.True(t, list[1].Committed)
		assert.Contains(t, string(list[1].Body), goodCard)
		assert.NotContains(t, string(list[1].Body), testCVN)
		assert.Equal(t, "k1", list[2].IdempotencyKey)
		assert.Equal(t, 422, list[2].Status)
		assert.False(t, list[2].Committed)
		for _, e := range list[2:] {
			assert.NotContains(t, onlyDigits(string(e.Body)), realPAN)
			assert.NotContains(t, string(e.Body), testCVN)
		}
		assert.False(t, list[3].Time.IsZero())

		c.box.ResetRequests()
		assert.Empty(t, c.box.Requests())
	})
}

func TestOtherHostsDoNotResolve(t *testing.T) {
	bubble(t, func(c *caller) {
		_, err := c.try(c.request("GET", "http://other.localhost/rest/v1", c.keys.Secret, nil))
		var dns *net.DNSError
		require.ErrorAs(t, err, &dns)
		assert.Equal(t, "other.localhost", dns.Name)
		assert.Empty(t, c.box.Requests())
	})
}

func TestListen(t *testing.T) {
	box := New()
	defer box.Close()
	url, err := box.Listen("127.0.0.1:0")
	require.NoError(t, err)
	c := &caller{t: t, box: box, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, base: url, keys: box.Keys()}
	body := c.must(200, c.get(""))
	assert.Equal(t, url, linkOf(body, "self"))

	// The headers of proxies about the host are ignored.
	out := c.do("GET", "", c.keys.Secret, nil, "X-Forwarded-Host", "evil.invalid", "X-Forwarded-Proto", "https")
	assert.NotContains(t, string(out.raw), "evil.invalid")

	require.NoError(t, box.Inject(Fault{Operation: "GET /", Kind: ResetBeforeCommit()}))
	_, err = c.try(c.request("GET", "", c.keys.Secret, nil))
	require.ErrorIs(t, err, syscall.ECONNRESET)

	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.invalid:0", "nonsense"} {
		_, err := box.Listen(addr)
		require.Error(t, err, addr)
	}
	closed := New()
	closed.Close()
	_, err = closed.Listen("127.0.0.1:0")
	require.ErrorContains(t, err, "closed")
}

func TestCloseEndsEverything(t *testing.T) {
	bubble(t, func(c *caller) {
		require.NoError(t, c.box.Inject(Fault{Operation: "GET /", Kind: HangBeforeCommit()}, Fault{Operation: "GET /customers", Kind: DelayBeforeCommit(time.Hour)}))
		errs := make(chan error, 2)
		for _, path := range []string{"/", "/customers"} {
			r := c.request("GET", path, c.keys.Secret, nil)
			go func() { _, err := c.try(r); errs <- err }()
		}
		c.sleep(time.Minute)
		c.box.Close()
		require.Error(t, <-errs)
		require.Error(t, <-errs)
		c.box.Close()
		_, err := c.try(c.request("GET", "/", c.keys.Secret, nil))
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		// The bubble fails if a goroutine is left.
	})
}

func TestSeedRepeatsARun(t *testing.T) {
	run := func(seed uint64) (ids []string) {
		bubble(t, func(c *caller) {
			ids = append(ids, c.keys.Secret, c.token(cardToken(goodCard)), c.pay("O"))
			ids = append(ids, c.must(201, c.post("/customers", object{"customerNumber": "1", "customerName": "K"}))["customerId"].(string))
		}, WithSeed(seed))
		return ids
	}
	assert.Equal(t, run(1), run(1))
	assert.NotEqual(t, run(1), run(2))
	a, b := New(), New()
	defer a.Close()
	defer b.Close()
	assert.NotEqual(t, a.Keys(), b.Keys())
}

func TestReplay(t *testing.T) {
	bubble(t, func(c *caller) {
		first := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
		c.must(201, first)
		again := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
		assert.Equal(t, []any{first.status, string(first.raw)}, []any{again.status, string(again.raw)})
		assert.Len(t, c.box.Ledger().Charged("O"), 1)
		list := c.box.Requests()
		assert.Equal(t, []bool{false, true}, []bool{list[0].Replayed, list[1].Replayed})
		assert.Equal(t, []bool{true, false}, []bool{list[0].Committed, list[1].Committed})

		// Another operation, another key, no key.
		c.must(201, c.post("/customers", object{"customerNumber": "1", "customerName": "K"}, "Idempotency-Key", "k"))
		c.must(201, c.post("/transactions", cardPayment("O2"), "Idempotency-Key", "k2"))
		c.must(201, c.post("/transactions", cardPayment("O2")))
		c.must(201, c.post("/transactions", cardPayment("O2")))
		assert.Len(t, c.box.Ledger().Charged("O2"), 3)
	})
}

func TestReplayAssumptions(t *testing.T) {
	bubble(t, func(c *caller) {
		wrong := changed(cardPayment("O"), "currency", nil)
		c.must(422, c.post("/transactions", wrong, "Idempotency-Key", "k"))
		// By default the refusal has used up the key.
		out := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
		c.must(422, out)
		assert.Contains(t, out.body["developerMessage"], "another body")
		c.must(422, c.post("/transactions", wrong, "Idempotency-Key", "k"))
		assert.True(t, c.box.Requests()[2].Replayed)
		c.must(201, c.post("/transactions", cardPayment("O"), "Idempotency-Key", strings.Repeat("k", 255)))
	})
}

func TestClockFiresInOrderAtTheRightTimes(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := NewClock(start)
	var log []string
	note := func(name string) func() {
		return func() { log = append(log, name+" "+clock.Now().Sub(start).String()) }
	}
	clock.afterFunc(3*time.Second, note("c"))
	clock.afterFunc(time.Second, func() {
		note("a")()
		clock.afterFunc(time.Second, note("nested"))
		clock.afterFunc(time.Hour, note("far"))
	})
	clock.afterFunc(3*time.Second, note("d"))
	stop := clock.afterFunc(2*time.Second, note("never"))
	clock.afterFunc(-time.Second, note("past"))
	assert.True(t, stop())
	assert.False(t, stop())
	clock.Advance(0)
	assert.Equal(t, []string{"past 0s"}, log)
	clock.Advance(5 * time.Second)
	assert.Equal(t, []string{"past 0s", "a 1s", "nested 2s", "c 3s", "d 3s"}, log)
	clock.Advance(-time.Hour)
	assert.Equal(t, start.Add(5*time.Second), clock.Now())
}

func TestSandboxOnAClock(t *testing.T) {
	clock := NewClock(time.Date(2026, 4, 4, 7, 0, 0, 0, time.UTC)) // 18:00 in Sydney
	c := newCaller(t, WithClock(clock))
	defer c.box.Close()
	assert.Equal(t, clock.Now(), c.box.Now())
	c.box.NextTransaction(Erred().ThenAfter(24*time.Hour, Approved()))
	body := c.must(201, c.post("/transactions", cardPayment("O")))
	assert.Equal(t, []any{"2026-04-05", "2026-04-04T18:00:00+1100"}, []any{body["settlementDate"], body["transactionTime"]})
	path := "/transactions/" + body["receiptNumber"].(string)
	c.must(404, c.get(path))
	clock.Advance(2 * time.Second)
	assert.Equal(t, "2", c.must(200, c.get(path))["summaryCode"])
	clock.Advance(24 * time.Hour)
	assert.Equal(t, "0", c.must(200, c.get(path))["summaryCode"])
	assert.Equal(t, "2026-04-05T17:00:02+1000", c.must(201, c.post("/transactions", cardPayment("O")))["transactionTime"])
}

// The delays of faults pass at once on a clock that stands still, and the clock shows that they have.
func TestDelaysPassOnAClockThatStandsStill(t *testing.T) {
	for _, kind := range []FaultKind{DelayBeforeCommit(time.Hour), DelayAfterCommit(time.Hour)} {
		clock := NewClock(time.Now())
		begun := clock.Now()
		c := newCaller(t, WithClock(clock))
		require.NoError(t, c.box.Inject(Fault{Operation: "POST /transactions", Kind: kind}))
		c.must(201, c.post("/transactions", cardPayment("O")))
		assert.Equal(t, begun.Add(time.Hour), clock.Now(), kind)
		c.box.Close()
	}
	t.Run("several at once", func(t *testing.T) {
		clock := NewClock(time.Now())
		c := newCaller(t, WithClock(clock))
		defer c.box.Close()
		require.NoError(t, c.box.Inject(Fault{Kind: DelayAfterCommit(time.Hour)}))
		begun := clock.Now()
		var calls sync.WaitGroup
		for range 5 {
			r := c.request("GET", "/", c.keys.Secret, nil)
			calls.Go(func() {
				out, err := c.try(r)
				assert.NoError(t, err)
				assert.Equal(t, 200, out.status)
			})
		}
		calls.Wait()
		passed := clock.Now().Sub(begun)
		assert.GreaterOrEqual(t, passed, time.Hour)
		assert.LessOrEqual(t, passed, 5*time.Hour)
	})
}

// Advance moves a clock only when the requests that were under way have ended.
func TestAdvanceWaitsForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := NewClock(time.Now())
		begun := clock.Now()
		c := newCaller(t, WithClock(clock))
		defer c.box.Close()
		require.NoError(t, c.box.Inject(Fault{Operation: "GET /", Kind: HangBeforeCommit()}))
		ctx, giveUp := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		calls.Go(func() { _, _ = c.try(c.request("GET", "/", c.keys.Secret, nil).WithContext(ctx)) })
		synctest.Wait()
		release := c.box.HoldClock()
		calls.Go(func() { clock.Advance(time.Hour) })
		synctest.Wait()
		assert.Equal(t, begun, clock.Now(), "a request is under way")
		giveUp()
		synctest.Wait()
		assert.Equal(t, begun, clock.Now(), "a call is under way")
		release()
		release()
		calls.Wait()
		assert.Equal(t, begun.Add(time.Hour), clock.Now())
	})
}

// A running clock runs with package time, also while a request is under way, and Advance moves it.
func TestRunningClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		clock := NewRunningClock(start)
		var log []string
		note := func(name string) func() {
			return func() { log = append(log, name+" "+clock.Now().Sub(start).String()) }
		}
		clock.afterFunc(2*time.Second, note("b"))
		clock.afterFunc(time.Second, note("a"))
		clock.afterFunc(time.Hour, note("c"))
		stop := clock.afterFunc(3*time.Second, note("never"))
		<-time.After(2500 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{"a 1s", "b 2s"}, log)
		assert.True(t, stop())
		clock.Advance(2 * time.Hour)
		assert.Equal(t, []string{"a 1s", "b 2s", "c 1h0m0s"}, log)
		assert.Equal(t, 2*time.Hour+2500*time.Millisecond, clock.Now().Sub(start))

		c := newCaller(t, WithClock(clock))
		defer c.box.Close()
		require.NoError(t, c.box.Inject(Fault{Operation: "GET /", Kind: DelayAfterCommit(time.Minute)}))
		done := make(chan response)
		r := c.request("GET", "/", c.keys.Secret, nil)
		go func() {
			out, _ := c.try(r)
			done <- out
		}()
		synctest.Wait()
		begun := time.Now()
		clock.Advance(time.Hour) // first to the end of the delay
		assert.Equal(t, 200, (<-done).status)
		assert.Zero(t, time.Since(begun))
	})
}
