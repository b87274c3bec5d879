package clienttest_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"

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
