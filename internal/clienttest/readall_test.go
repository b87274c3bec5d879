package clienttest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestReadAll: a list counts once it has one page, or two readings agree.
func TestReadAll(t *testing.T) {
	pages := func(other string) [][]object {
		return [][]object{{{"receiptNumber": "R-1"}}, {{"receiptNumber": other}}}
	}
	for _, c := range []struct {
		readings        [][][]object
		requests, items int
	}{
		{[][][]object{{{}}}, 1, 0},
		{[][][]object{{{{"receiptNumber": "R-1"}}}}, 1, 1},
		{[][][]object{pages("R-2")}, 4, 2},
		{[][][]object{pages("R-2"), pages("R-3"), pages("R-3")}, 6, 2},
		{[][][]object{pages("R-2"), pages("R-3"), pages("R-4"), pages("R-5")}, 8, -1},
		{[][][]object{pages("R-2")[:1], nil}, 1, 1},
		{[][][]object{{{}, {}}, {{}, {{"receiptNumber": "R-2"}}}}, 6, 1},
		{[][][]object{pages("R-2"), {{{"receiptNumber": "R-2"}}, {{"receiptNumber": "R-1"}}}, pages("R-3")}, 4, 2},
		{[][][]object{{{{"receiptNumber": "R-1"}, {}}}}, 4, -1},
		{[][][]object{{nil}}, 1, -1},
	} {
		requests, list := 0, lookedUp(c.readings...)
		client := clientOf(t, func(r *http.Request) (*http.Response, error) { requests++; return list(r) })
		items, err := client.Transactions.Retries("R-0").ReadAll(t.Context())
		assert.Equal(t, c.requests, requests)
		assert.Len(t, items, max(c.items, 0))
		assert.Equal(t, c.items < 0, err != nil, "%v", err)
	}
	items, err := quickstream.ListOf(new(quickstream.Transaction)).ReadAll(t.Context())
	require.NoError(t, err)
	assert.Len(t, items, 1)
}
