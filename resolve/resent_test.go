package resolve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// forgetful is a service that ignores idempotency keys. It answers no first request.
type forgetful struct {
	made     []string // transactions
	lookups  int
	echoesID bool
	executes bool // the request that it does not answer
	lag      time.Duration
	first    time.Time
	fails    bool
}

func (f *forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	reply := func(status int, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
	if r.Method == http.MethodGet {
		f.lookups++
		if f.fails {
			return reply(http.StatusBadGateway, "<html>")
		}
		var seen []string
		for i, made := range f.made {
			if i > 0 || time.Since(f.first) >= f.lag {
				seen = append(seen, made)
			}
		}
		return reply(http.StatusOK, `{"data":[`+strings.Join(seen, ",")+`]}`)
	}
	var sent struct {
		Reference string          `json:"paymentReferenceNumber"`
		Metadata  json.RawMessage `json:"metadata"`
	}
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		return nil, err
	}
	if !f.echoesID {
		sent.Metadata = []byte("null")
	}
	lost := f.first.IsZero()
	if lost {
		f.first = time.Now()
	}
	if !lost || f.executes {
		f.made = append(f.made, fmt.Sprintf(`{"receiptNumber":"R%d","transactionType":"PAYMENT","status":"Approved","summaryCode":"0","paymentReferenceNumber":%q,`+
			`"principalAmount":{"amount":49.95,"currency":"AUD"},"transactionTime":%q,"metadata":%s}`, len(f.made)+1, sent.Reference, time.Now().Format(time.RFC3339), sent.Metadata))
	}
	if lost {
		return nil, errors.New("reset")
	}
	return reply(http.StatusCreated, f.made[len(f.made)-1])
}

// TestPaidAgainByAResend: an approval after a lost answer may be the second one.
func TestPaidAgainByAResend(t *testing.T) {
	for name, tt := range map[string]struct {
		service   forgetful
		reference string
		status    resolve.Status
		lookups   int
	}{
		"executed twice":              {forgetful{executes: true, echoesID: true}, "", resolve.StatusDoubleCharged, 1},
		"executed twice, without ids": {forgetful{executes: true}, "", resolve.StatusDoubleCharged, 1},
		"the first is visible later":  {forgetful{executes: true, lag: time.Hour}, "", resolve.StatusDoubleCharged, 2},
		"executed once":               {forgetful{echoesID: true}, "", resolve.StatusSettled, 2},
		"own reference, with ids":     {forgetful{executes: true, echoesID: true}, "ORDER-1", resolve.StatusDoubleCharged, 1},
		"own reference, without ids":  {forgetful{executes: true}, "ORDER-1", resolve.StatusSettled, 2},
		"failed looks":                {forgetful{executes: true, fails: true}, "", resolve.StatusSettled, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				keys := quickstream.Keys{Secret: quickstream.NewSecretKey("S"), Publishable: quickstream.NewPublishableKey("P")}
				client, err := quickstream.NewClient(quickstream.CustomURL("https://api.invalid/rest/v1"), keys, quickstream.WithHTTPClient(&http.Client{Transport: &tt.service}))
				require.NoError(t, err)
				order := exampleOrder()
				order.CustomerReferenceNumber, order.PaymentReferenceNumber = "", tt.reference
				tx, err := client.Transactions.Pay(t.Context(), order)
				require.NoError(t, err)
				assert.Zero(t, tt.service.lookups, "Pay looks up nothing")

				begun := time.Now()
				result := resolve.After(tx, err, begun)
				assert.Equal(t, resolve.ResultEnded, result.Status)
				require.NotNil(t, result.Case)
				c := *result.Case
				assert.Equal(t, 2, c.Intent.Attempts)
				assert.Equal(t, resolve.StatusSettled, c.Status)
				assert.Equal(t, quickstream.OutcomeApproved, c.Outcome)
				stored, err := json.Marshal(c)
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(stored, &c))
				c = run(t, client.Transactions, c)
				assert.Equal(t, tt.status, c.Status)
				assert.Equal(t, quickstream.OutcomeApproved, c.Outcome)
				assert.True(t, c.NextLook.IsZero())
				if tt.lookups == 0 {
					return
				}
				assert.Equal(t, tt.lookups, tt.service.lookups)
				assert.Equal(t, 15*time.Minute, c.Lookups[0].At.Sub(begun))
			})
		})
	}
}

// resentCase is what After makes of an approval that was sent again.
func resentCase(intent quickstream.Intent, tx *quickstream.Transaction) resolve.Case {
	c := resolve.Begin(intent, wednesday())
	c.Status, c.Seen, c.NextLook = resolve.StatusSettled, resolve.Observe(tx, nil), wednesday().Add(15*time.Minute)
	c.Outcome = c.Seen.Outcome
	return c
}

// TestResentWithAnotherUnderWay: a second one that may still be approved is looked up until it is
// over, and early looks change nothing.
func TestResentWithAnotherUnderWay(t *testing.T) {
	tx := approved("R1")
	c := resentCase(quickstream.Intent{Reference: "A", NotBefore: wednesday()}, tx)
	p := policy()
	c = p.Next(c, several("R1", "R2"), c.NextLook)
	assert.Equal(t, wednesday().AddDate(0, 0, 1).Add(15*time.Minute), c.NextLook)
	assert.Equal(t, c.NextLook, p.Next(c, foundNothing(), wednesday().Add(time.Hour)).NextLook)
	pending := resentCase(quickstream.Intent{Reference: "A", NotBefore: wednesday()}, tx)
	assert.Equal(t, c.NextLook, p.Next(pending, found(unsettled("R2")), pending.NextLook).NextLook)
	days, end := over(t, p, c, several("R1", "R2"))
	assert.Len(t, days, 14)
	assert.Equal(t, resolve.StatusSettled, end.Status)
	assert.Equal(t, resolve.StatusDoubleCharged, p.Next(c, found(approved("R2")), c.NextLook).Status)
	assert.Equal(t, resolve.StatusSettled, p.Next(c, found(declined("R2", "54")), c.NextLook).Status)
	assert.Equal(t, quickstream.OutcomeApproved, p.Next(c, found(declined("R2", "54")), c.NextLook).Outcome)
}
