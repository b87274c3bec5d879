package clienttest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
)

// smallAnswer is read without an allocation that the count would have to leave
// out.
type smallAnswer struct{ strings.Reader }

func (*smallAnswer) Close() error { return nil }

// TestAllocations counts what a call allocates besides the object that it
// returns: in the client and below it, down to the answer of a transport that
// makes two allocations itself. Sixteen would be needed to write the same by hand
// with net/http.
func TestAllocations(t *testing.T) {
	const most, body = 25, `{"receiptNumber":"1000000001"}`
	header := http.Header{"Content-Type": {"application/json"}}
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		answer := new(smallAnswer)
		answer.Reset(body)
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: answer, ContentLength: int64(len(body))}, nil
	})
	var tx *quickstream.Transaction
	var err error
	whole := testing.AllocsPerRun(1000, func() {
		if tx, err = client.Transactions.Get(t.Context(), "1000000001"); err != nil {
			t.Fatal(err)
		}
	})
	decoding := testing.AllocsPerRun(1000, func() {
		tx = new(quickstream.Transaction)
		if err = tx.UnmarshalJSON([]byte(body)); err != nil {
			t.Fatal(err)
		}
	})
	assert.LessOrEqual(t, whole-decoding, float64(most), "%v allocations, of which %v for decoding", whole, decoding)
	t.Logf("%v allocations besides %v for decoding", whole-decoding, decoding)
}
