package clienttest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// slowPages serves a list of one transaction per page, each after a while.
type slowPages struct {
	pages int
	takes time.Duration
	fails int // page that is answered with a 404; 0 for none
	loops bool
	asked atomic.Int32
	ended atomic.Int32 // requests that were cancelled
}

func (s *slowPages) RoundTrip(req *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	page, err := strconv.Atoi(req.URL.Query().Get("page"))
	if err != nil {
		page = 1
	}
	select {
	case <-time.After(s.takes):
	case <-req.Context().Done():
		s.ended.Add(1)
		return nil, req.Context().Err()
	}
	status, links := http.StatusOK, ""
	if page == s.fails {
		status = http.StatusNotFound
	}
	next := page + 1
	if s.loops && page == s.pages {
		next = 2
	}
	if next <= s.pages {
		links = fmt.Sprintf(`{"rel":"next","href":"https://api.invalid/rest/v1/transactions?page=%d"}`, next)
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Page": {strconv.Itoa(page)}}, Request: req, ContentLength: -1,
		Body: io.NopCloser(strings.NewReader(fmt.Sprintf(`{"links":[%s],"data":[{"receiptNumber":"%d"}]}`, links, page))),
	}, nil
}

func (s *slowPages) list(t *testing.T, opts ...quickstream.CallOption) quickstream.List[quickstream.Transaction] {
	t.Helper()
	return clientOf(t, s.RoundTrip).Transactions.List(quickstream.ListTransactionsParams{}, opts...)
}

const pageTakes, workTakes = 10 * time.Millisecond, 10 * time.Millisecond

func TestPrefetchReadsOnePageAhead(t *testing.T) {
	for _, work := range []time.Duration{0, pageTakes / 2, pageTakes, 3 * pageTakes} {
		synctest.Test(t, func(t *testing.T) {
			pages := &slowPages{pages: 6, takes: pageTakes}
			start, n := time.Now(), 0
			for page, err := range pages.list(t).Prefetch().Pages(t.Context()) {
				require.NoError(t, err)
				n++
				assert.Equal(t, strconv.Itoa(n), page.Data[0].ReceiptNumber)
				<-time.After(work)
				synctest.Wait()
				assert.LessOrEqual(t, int(pages.asked.Load()), min(n+1, 6), "one page ahead and no further")
			}
			assert.Equal(t, 6, n)
			assert.Equal(t, 6, int(pages.asked.Load()))
			// The first page and the last piece of work have nothing to overlap with.
			assert.Equal(t, pageTakes+5*max(pageTakes, work)+work, time.Since(start))
		})
	}
}

func TestPrefetchYieldsTheSame(t *testing.T) {
	for name, service := range map[string]func() *slowPages{
		"all":          func() *slowPages { return &slowPages{pages: 4} },
		"one page":     func() *slowPages { return &slowPages{pages: 1} },
		"a failure":    func() *slowPages { return &slowPages{pages: 4, fails: 3} },
		"fails first":  func() *slowPages { return &slowPages{pages: 4, fails: 1} },
		"leads back":   func() *slowPages { return &slowPages{pages: 4, loops: true} },
		"slow service": func() *slowPages { return &slowPages{pages: 3, takes: time.Second} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				read := func(ahead bool) (seen []string) {
					list := service().list(t)
					if ahead {
						list = list.Prefetch()
					}
					for transaction, err := range list.All(t.Context()) {
						if err != nil {
							seen = append(seen, err.Error())
							continue
						}
						seen = append(seen, transaction.ReceiptNumber)
					}
					return seen
				}
				want := read(false)
				assert.NotEmpty(t, want)
				assert.Equal(t, want, read(true))
			})
		})
	}
}

// A bubble of synctest ends only when all of its goroutines have: what is left
// running would fail these tests.

func TestPrefetchLeftEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := &slowPages{pages: 9, takes: 10 * time.Second}
		start := time.Now()
		for _, err := range pages.list(t).Prefetch().Pages(t.Context()) {
			require.NoError(t, err)
			synctest.Wait() // until the second page has been asked for
			break
		}
		assert.Equal(t, 10*time.Second, time.Since(start), "nobody waits for a page that nobody wants")
		assert.EqualValues(t, 2, pages.asked.Load())
		assert.EqualValues(t, 1, pages.ended.Load())
	})
	synctest.Test(t, func(t *testing.T) { // with the next page waiting
		pages := &slowPages{pages: 9, takes: pageTakes}
		for _, err := range pages.list(t).Prefetch().Pages(t.Context()) {
			require.NoError(t, err)
			<-time.After(time.Minute)
			break
		}
		synctest.Wait()
		assert.EqualValues(t, 2, pages.asked.Load(), "no page is asked for after the loop has ended")
	})
	synctest.Test(t, func(t *testing.T) { // by a panic
		pages := &slowPages{pages: 9, takes: pageTakes}
		assert.Panics(t, func() {
			for range pages.list(t).Prefetch().Pages(t.Context()) {
				panic("the caller's")
			}
		})
	})
}

// TestAttackRow11PanicsUnderPrefetch: a panic of the caller's code on the goroutine that reads
// ahead is an error of the list, and so is its end. Neither takes the program along or
// is taken for the end of the list.
func TestAttackRow11PanicsUnderPrefetch(t *testing.T) {
	blow := map[string]func(){"panic": func() { panic("blown") }, "exit": runtime.Goexit}
	for name, end := range blow {
		for _, hook := range []string{"transport", "start", "attempt", "end"} {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				at := func(place string) {
					if place != hook {
						return
					}
					if calls++; calls == 2 { // of the second page
						end()
					}
				}
				client := clientOf(t, func(r *http.Request) (*http.Response, error) {
					at("transport")
					return answer(200, pageOf("?page="+r.URL.Query().Get("page")+"1", "1")), nil
				}, quickstream.WithMaxAttempts(1), quickstream.WithObserver(quickstream.Observer{
					Start:   func(ctx context.Context, _ quickstream.CallInfo) context.Context { at("start"); return ctx },
					Attempt: func(context.Context, quickstream.CallInfo, quickstream.AttemptInfo) { at("attempt") },
					End:     func(context.Context, quickstream.CallInfo, quickstream.EndInfo) { at("end") },
				}))
				read, last := 0, error(nil)
				for _, err := range client.Customers.List(quickstream.ListCustomersParams{}).Prefetch().Pages(t.Context()) {
					if last = err; err == nil {
						read++
					}
				}
				assert.Equal(t, 1, read, "%s in %s", name, hook)
				assert.Error(t, last, "%s in %s: it is not the end of the list", name, hook)
			})
		}
	}
}
