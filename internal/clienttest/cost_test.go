package clienttest_test

import (
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// TestDepth follows a payment to the wire: whoever steps through it passes few
// functions of this module on the way.
func TestDepth(t *testing.T) {
	const most = 8
	var ours []string
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		callers := make([]uintptr, 100)
		frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
		for more := true; more; {
			var frame runtime.Frame
			frame, more = frames.Next()
			own := strings.HasPrefix(frame.Function, modulePath+".") || strings.HasPrefix(frame.Function, modulePath+"/")
			if own && !strings.Contains(frame.Function, "/clienttest_test.") {
				ours = append(ours, strings.TrimPrefix(frame.Function, modulePath))
			}
		}
		return answer(http.StatusCreated, approvedBody), nil
	})
	_, err := client.Transactions.Pay(t.Context(), payment())
	require.NoError(t, err)
	t.Logf("%d frames:\n%s", len(ours), strings.Join(ours, "\n"))
	assert.LessOrEqual(t, len(ours), most)
	assert.Greater(t, len(ours), 2, "they are counted")
}
