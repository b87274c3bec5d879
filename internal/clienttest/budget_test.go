package clienttest_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
)

// TestRetryBudget: a client repeats ten requests, and one more after ten successes. It never stops
// a first attempt, and payments that are lost have a budget of their own.
func TestRetryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s service
		client := clientOf(t, func(r *http.Request) (*http.Response, error) { return s(r) })
		var resp quickstream.Response
		read := func() int {
			_, _ = client.Transactions.Get(t.Context(), "R-1", quickstream.WithResponseInto(&resp))
			return resp.Attempts
		}
		pay := func() int {
			_, _ = client.Transactions.Pay(t.Context(), payment(), quickstream.WithResponseInto(&resp))
			return resp.Attempts
		}
		s = says(200, approvedBody)
		for range 100 {
			assert.Equal(t, 1, read())
		}
		s = says(503, "<html>")
		for range 3 {
			assert.Equal(t, 3, read())
		}
		s = unreachable(io.ErrUnexpectedEOF)
		assert.Equal(t, []int{3, 3, 1, 1}, []int{pay(), read(), pay(), read()})
		s = func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
		assert.Equal(t, []int{1, 3, 3, 3, 3, 3, 1, 1}, []int{read(), pay(), pay(), pay(), pay(), pay(), pay(), read()})
		s = says(422, errorBody)
		for range 20 {
			assert.Equal(t, 1, read())
		}
		s = says(200, approvedBody)
		for range 15 {
			assert.Equal(t, 1, read())
		}
		s = says(500, "")
		assert.Equal(t, []int{2, 1}, []int{read(), read()}, "ten successes make one")
		s = func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
		assert.Equal(t, []int{2, 1}, []int{pay(), pay()})
	})
}

// outage is a fleet of clients in 20 minutes without a service, and what came of them.
type outage struct {
	offered, requests, unknown int // calls and requests of the outage; unknown outcomes in all
	drained                    time.Duration
}

// TestOutage: 200 clients send no more than 1.1 requests for a call of an outage. The baseline is a
// client of its own for each call, whose budget no call uses up.
func TestOutage(t *testing.T) {
	var without, with outage
	synctest.Test(t, func(t *testing.T) { without = playOutage(t, true) })
	synctest.Test(t, func(t *testing.T) { with = playOutage(t, false) })
	ratio := func(o outage) float64 { return float64(o.requests) / float64(o.offered) }
	for i, o := range []outage{without, with} {
		t.Logf("%s a budget: %d calls offered in the outage, %d requests (%.2f each), %d unknown outcomes in all, backlog drained after %s",
			[]string{"without", "with"}[i], o.offered, o.requests, ratio(o), o.unknown, o.drained.Round(time.Second))
	}
	assert.Equal(t, without.offered, with.offered)
	assert.Greater(t, ratio(without), 2.5)
	assert.LessOrEqual(t, ratio(with), 1.1)
	assert.LessOrEqual(t, float64(with.unknown), 1.01*float64(without.unknown))
	assert.LessOrEqual(t, with.drained, without.drained+2*time.Minute)
}

// playOutage has each client make a call every ten seconds, a payment of five, for two minutes,
// the outage and until the backlog is gone: a read or an unsent payment that failed is offered
// again, five at a time. In the outage minutes of refused connections and of a gateway's 503
// follow each other. Outside it one answer of 100 is lost, and requests above the capacity, three
// times what the fleet needs, get 503.
func playOutage(t *testing.T, fresh bool) (o outage) {
	const clients, interval, calm, length, capacity = 200, 10 * time.Second, 2 * time.Minute, 20 * time.Minute, 60
	begun := time.Now()
	out := func() bool { d := time.Since(begun); return d >= calm && d < calm+length }
	var mu sync.Mutex
	var second time.Duration
	served := 0
	random := rand.New(rand.NewPCG(1, 26))
	s := service(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		at := time.Since(begun)
		if now := at.Truncate(time.Second); now != second {
			second, served = now, 0
		}
		served++
		switch {
		case out():
			o.requests++
			if at.Truncate(time.Minute)%(2*time.Minute) == 0 {
				httptrace.ContextClientTrace(r.Context()).GetConn(r.URL.Host)
				return nil, io.ErrUnexpectedEOF
			}
			return answer(503, "<html>"), nil
		case served > capacity:
			return answer(503, "<html>"), nil
		case random.IntN(100) == 0:
			return nil, io.ErrUnexpectedEOF
		case r.Method == http.MethodGet:
			return answer(200, approvedBody), nil
		default:
			return answer(201, approvedBody), nil
		}
	})
	var fleet sync.WaitGroup
	for i := range clients {
		fleet.Go(func() {
			client := clientOf(t, s)
			call := func(pays bool) bool {
				if fresh {
					client = clientOf(t, s)
				}
				during := out()
				var err error
				if pays {
					_, err = client.Transactions.Pay(t.Context(), payment())
				} else {
					_, err = client.Transactions.Get(t.Context(), "R-1")
				}
				mu.Lock()
				defer mu.Unlock()
				if during {
					o.offered++
				}
				if errors.Is(err, quickstream.ErrOutcomeUnknown) {
					o.unknown++
					return true // looked up, and not offered again
				}
				return err == nil
			}
			wait(interval * time.Duration(i) / clients)
			var backlog []bool
			for n := 0; ; n++ {
				next := time.Now().Add(interval)
				calls := []bool{n%5 == 0}
				if over := time.Since(begun) >= calm+length; over {
					again := min(len(backlog), 5)
					calls, backlog = append(calls, backlog[:again]...), backlog[again:]
				}
				for _, pays := range calls {
					if !call(pays) {
						backlog = append(backlog, pays)
					}
				}
				if over := time.Since(begun) - calm - length; over >= 0 && len(backlog) == 0 {
					mu.Lock()
					o.drained = max(o.drained, over)
					mu.Unlock()
					return
				}
				wait(time.Until(next))
			}
		})
	}
	fleet.Wait()
	return o
}
