package conform_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/conform"
	"github.com/quickstream-go/quickstream/sandbox"
)

// Differences from the file are noted once, without values, and the answer stays as it is.
func TestWatch(t *testing.T) {
	t.Parallel()
	const body = `{"receiptNumber":"1000000001","transactionType":"PAYMENT","status":"Parked","transactionTime":"02.01.2030 03:04",` +
		`"addedLater":{"secret":"canary"},"known":1,"metadata":{"order":"canary"},"creditCard":{"newMember":"canary"}}`
	var noted []conform.Difference
	file := sandbox.Facility{Members: map[string]string{"known": "number"}, Findings: []sandbox.FacilityFinding{{Name: "TimeForm", Value: "+1100"}}}
	requests := 0
	watched := conform.Watch(handled{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		if strings.HasSuffix(r.URL.Path, "/broken") {
			_, _ = io.WriteString(w, "{")
			return
		}
		_, _ = io.WriteString(w, body)
	})}, file, func(d conform.Difference) { noted = append(noted, d) })
	client := &http.Client{Transport: watched}
	for _, path := range []string{"/rest/v1/transactions/1000000001", "/rest/v1/transactions/1000000002", "/broken"} {
		resp, err := client.Get("http://localhost" + path)
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		if path != "/broken" {
			assert.Equal(t, body, string(got))
		}
	}
	assert.Equal(t, 3, requests)
	const route = "GET /rest/v1/transactions/{}"
	assert.ElementsMatch(t, []conform.Difference{
		{Route: route, What: "an unknown status: Parked"},
		{Route: route, What: "another form of time: text 00.00.0000 00:00"},
		{Route: route, What: "a new member: addedLater, object"},
		{Route: route, What: "a new member: addedLater.secret, text"},
		{Route: route, What: "a new member: creditCard.newMember, text"},
	}, noted)
}
