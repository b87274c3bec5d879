package clienttest_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/heaptest"
)

// TestAttackRow02FoldingHosts: a host that only folds to ours gets no request, be it the base
// address's or a link's.
func TestAttackRow02FoldingHosts(t *testing.T) {
	const ours = "desk.invalid"
	for _, host := range []string{"de\u017fk.invalid", "des\u212a.invalid", "de%C5%BFk.invalid", "des%E2%84%AA.invalid", "desk\u3002invalid", "\uff44esk.invalid", "d\u00e9sk.invalid"} {
		_, err := quickstream.NewClient(quickstream.CustomURL("https://"+host+"/rest/v1"), testKeys())
		require.Error(t, err, host)
		assert.False(t, quickstream.CustomURL("https://"+host).IsProduction())

		asked := []string{}
		client, err := quickstream.NewClient(quickstream.CustomURL("https://DESK.invalid/rest/v1"), testKeys(), quickstream.WithHTTPClient(&http.Client{
			Transport: service(func(r *http.Request) (*http.Response, error) {
				asked = append(asked, r.URL.Host)
				return answer(200, pageOf("https://"+host+"/rest/v1/customers?page=1", "1")), nil
			}),
		}))
		require.NoError(t, err)
		_, err = read(t.Context(), client.Customers.List(quickstream.ListCustomersParams{}))
		assert.Equal(t, decoding, ending(err), host)
		assert.Equal(t, []string{ours}, asked, host)
	}
}

// TestAttackRow08Cursors: of the links that were followed nothing but digests is kept.
func TestAttackRow08Cursors(t *testing.T) {
	const pages, length = 2_000, 8 << 10
	cursor := func(page int) string { return fmt.Sprintf("?page=%0*d", length-len("?page="), page) }
	asked := 0
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		if asked++; asked == pages {
			return answer(200, pageOf("")), nil
		}
		return answer(200, pageOf(cursor(asked))), nil
	})
	var err error
	peak := heaptest.Peak(func() { _, err = read(t.Context(), client.Customers.List(quickstream.ListCustomersParams{})) })
	require.NoError(t, err)
	require.Equal(t, pages, asked)
	t.Logf("%.1f MiB after %d pages", float64(peak)/mebibyte, pages)
	assert.Less(t, peak, int64(pages*length/2), "links are not kept")
}

// TestAttackRow11PanicsUnderPrefetch: a panic of the caller's code on the goroutine that reads
// ahead is an error of the list, and so is its end. Neither takes the program along or
// is taken for the end of the list.
func TestAttackRow11PanicsUnderPrefetch(t *testing.T) {
	blow := map[string]func(){"panic": func() { panic("blown") }, "exit": runtime.Goexit}
	for name, end := range blow {
		hooks := map[string]func(at func()) []quickstream.ClientOption{
			"transport": func(func()) []quickstream.ClientOption { return nil },
			"start": func(at func()) []quickstream.ClientOption {
				return []quickstream.ClientOption{quickstream.WithObserver(quickstream.Observer{Start: func(ctx context.Context, _ quickstream.CallInfo) context.Context { at(); return ctx }})}
			},
			"attempt": func(at func()) []quickstream.ClientOption {
				return []quickstream.ClientOption{quickstream.WithObserver(quickstream.Observer{Attempt: func(context.Context, quickstream.CallInfo, quickstream.AttemptInfo) { at() }})}
			},
			"end": func(at func()) []quickstream.ClientOption {
				return []quickstream.ClientOption{quickstream.WithObserver(quickstream.Observer{End: func(context.Context, quickstream.CallInfo, quickstream.EndInfo) { at() }})}
			},
		}
		for hook, options := range hooks {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				at := func() {
					if calls++; calls == 2 { // of the second page
						end()
					}
				}
				opts := append(options(at), quickstream.WithMaxAttempts(1))
				client := clientOf(t, func(r *http.Request) (*http.Response, error) {
					if hook == "transport" {
						at()
					}
					return answer(200, pageOf("?page="+r.URL.Query().Get("page")+"1", "1")), nil
				}, opts...)
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
