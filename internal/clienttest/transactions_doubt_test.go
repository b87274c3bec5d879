package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestIDsThatCameBackAltered: an id that came back altered says as little as an absent one. The reference
// still finds the payment. Without the reference it is a candidate and never dropped.
func TestIDsThatCameBackAltered(t *testing.T) {
	for name, change := range map[string]func(id string) string{
		"blank": func(id string) string { return id + " " }, "case": strings.ToLower, "quoted": func(id string) string { return `"` + id + `"` },
		"quoted twice": func(id string) string { return `\"` + id + `\"` }, "cut": func(id string) string { return id[:4] }, "end": func(id string) string { return id[20:] },
		"stars": func(id string) string { return strings.Repeat("*", len(id)-4) + id[len(id)-4:] }, "dots": func(id string) string { return id[:4] + "…" },
		"x": func(id string) string { return id[:4] + "XXXXXXXX" + id[len(id)-4:] }, "hidden": func(string) string { return "********" },
		"nearly hidden": func(id string) string { return "****" + id[len(id)-3:] },
	} {
		synctest.Test(t, func(t *testing.T) {
			made, paid := sent(t, "")
			altered := with(paid, "metadata", object{made.MetadataName: change(made.ID)})
			tx, err := clientOf(t, lookedUp([][]object{{altered}})).Transactions.Resume(t.Context(), made)
			require.NoError(t, err, name)
			assert.Equal(t, "R-1", tx.ReceiptNumber, name)
			candidates := func(pairs ...any) []quickstream.Candidate {
				tx, err := clientOf(t, lookedUp([][]object{{with(altered, pairs...)}})).Transactions.Resume(t.Context(), made)
				return still(t, tx, err).Candidates
			}
			for _, found := range [][]quickstream.Candidate{candidates("paymentReferenceNumber", nil), candidates("principalAmount", money("99.00"))} {
				require.Len(t, found, 1, name)
				assert.False(t, found[0].Matches, name)
			}
			assert.Len(t, candidates("paymentReferenceNumber", "OTHER"), 1, name)
			want := 1 // so much of the id is no chance
			if strings.Contains(name, "hidden") {
				want = 0
			}
			assert.Len(t, candidates("paymentReferenceNumber", "OTHER", "principalAmount", money("99.00")), want, name)
		})
		answered := echoing(t, func(t object) {
			t["metadata"] = object{"intentId": change(t["metadata"].(object)["intentId"].(string))}
		})
		_, err := clientOf(t, answered).Transactions.Pay(t.Context(), payment())
		require.NoError(t, err, "%s: what the service answers is about the payment", name)
	}
}

// TestIDsAndReferences: the intent's id counts more than its reference, unless amount and currency are
// others as well. Without the id, a payment under another reference is a candidate if nothing else
// tells it apart.
func TestIDsAndReferences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const neither, another = "it carries neither a reference nor the intent's id", "it shows another reference than it was searched by"
		made, paid := sent(t, "")
		unnamed, foreign := with(paid, "metadata", nil), object{"amount": 99, "currency": "NZD"}
		for name, c := range map[string]struct {
			listed object
			reason string // the first of a candidate's; "-" for no candidate, and "" for a match
		}{
			"the id, another reference":                {with(paid, "paymentReferenceNumber", "OTHER"), ""},
			"the id and the reference, another amount": {with(paid, "principalAmount", foreign), ""},
			"the id, no reference, another amount":     {with(paid, "principalAmount", foreign, "paymentReferenceNumber", nil), ""},
			"the id, another reference and amount":     {with(paid, "principalAmount", foreign, "paymentReferenceNumber", "OTHER"), "it carries the intent's id, and not its reference"},
			"neither":                                  {with(unnamed, "paymentReferenceNumber", nil), neither},
			"another reference":                        {with(unnamed, "paymentReferenceNumber", "OTHER"), another},
			"another reference, older":                 {with(unnamed, "paymentReferenceNumber", "OTHER", "transactionTime", madeAt(time.Now().Add(-3*time.Hour))), "-"},
			"another reference, declined":              {with(declined(unnamed, "R-1"), "paymentReferenceNumber", "OTHER"), "-"},
			"another's id, and another reference":      {with(paid, "metadata", object{made.MetadataName: "X"}, "paymentReferenceNumber", "OTHER"), "-"},
		} {
			tx, err := clientOf(t, lookedUp([][]object{{c.listed}})).Transactions.Resume(t.Context(), made)
			if c.reason == "" {
				assert.NoError(t, err, name)
				continue
			}
			candidates := still(t, tx, err).Candidates
			if c.reason == "-" {
				assert.Empty(t, candidates, name)
			} else if assert.Len(t, candidates, 1, name) {
				assert.Contains(t, candidates[0].Reasons, c.reason, name)
			}
		}

		intent, refund := lostRefund(t)
		changed := refund("ORIGINAL", "metadata", object{intent.MetadataName: intent.ID}, "principalAmount", money("9.00"))
		_, err := clientOf(t, refunded(changed)).Transactions.Resume(t.Context(), intent)
		assert.NoError(t, err, "a refund may go by its payment's reference")
	})
}

// TestIDsOfOthers: what only looks cut or masked is another intent's id.
func TestIDsOfOthers(t *testing.T) {
	for _, change := range []func(id string) string{
		func(id string) string { return id[:3] }, func(id string) string { return id + "A" }, func(id string) string { return id[:4] + "****?" },
		func(id string) string { return "?" + "****" + id[20:] },
	} {
		answered := echoing(t, func(t object) {
			t["metadata"] = object{"intentId": change(t["metadata"].(object)["intentId"].(string))}
		})
		_, err := clientOf(t, answered).Transactions.Pay(t.Context(), payment())
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
		made, paid := sent(t, "")
		other := with(paid, "paymentReferenceNumber", "OTHER", "metadata", object{made.MetadataName: change(made.ID)})
		tx, err := clientOf(t, lookedUp([][]object{{other}})).Transactions.Resume(t.Context(), made)
		assert.Empty(t, still(t, tx, err).Candidates)
	}
}

// TestRefundsUnderTheirPaymentsReference: the answer to a refund may show the payment's reference if it has
// the intent's id, as it was sent.
func TestRefundsUnderTheirPaymentsReference(t *testing.T) {
	params := quickstream.RefundParams{OriginalReceiptNumber: "R-0", PrincipalAmount: decimal.RequireFromString("10.50"), Currency: "AUD"}
	for id, fits := range map[string]bool{"": true, " ": false} {
		_, err := clientOf(t, echoing(t, func(t object) {
			t["paymentReferenceNumber"] = "ORIGINAL"
			t["metadata"] = object{"intentId": t["metadata"].(object)["intentId"].(string) + id}
		})).Transactions.Refund(t.Context(), params)
		assert.Equal(t, fits, err == nil, "%q: %v", id, err)
	}
}

// TestRefundsWithAnAlteredID are looked at like those without one.
func TestRefundsWithAnAlteredID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intent, refund := lostRefund(t)
		made := refund("ORIGINAL", "metadata", object{intent.MetadataName: "********"})
		<-time.After(time.Minute)
		tx, err := clientOf(t, refunded(made)).Transactions.Resume(t.Context(), intent, quickstream.WithForeignReceipts(func(string) bool { return false }))
		require.NoError(t, err)
		assert.Equal(t, "R-1", tx.ReceiptNumber)
	})
}

// TestTypesInAnotherCase: the type beside the intent's id is compared in any case.
func TestTypesInAnotherCase(t *testing.T) {
	made, paid := sent(t, "")
	for _, kind := range []any{"Payment", nil} {
		_, err := clientOf(t, lookedUp([][]object{{with(paid, "transactionType", kind)}})).Transactions.Resume(t.Context(), made)
		require.NoError(t, err)
	}
}

// TestTimesThatProveNothing: an earlier payment with the merchant's own reference looks like the lost
// one if its time is Sydney's under another label, or that of its last change. Such a time settles
// nothing, and a reference that this package made needs none.
func TestTimesThatProveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, bare := sent(t, "ORDER-1", quickstream.WithIntentMetadata(""))
		made, unnamed := sent(t, "", quickstream.WithIntentMetadata(""))
		sentAt := time.Now()
		<-time.After(time.Minute)
		labelled := func(t time.Time, hours int) string {
			return t.In(time.FixedZone("", hours*60*60)).Format("2006-01-02T15:04:05Z07:00")
		}
		for _, c := range []struct {
			time    any
			settles string
			found   bool
		}{
			{labelled(sentAt, 11), "2000-01-01", true},
			{labelled(sentAt, 13), "2000-01-01", true},
			{labelled(sentAt, 10), "2000-01-01", false},
			{labelled(sentAt, 0), "2000-01-01", false},
			{sentAt.Unix(), "2000-01-01", false},
			{nil, "2000-01-01", false},
			{strings.TrimSuffix(labelled(sentAt, 11), "+11:00"), "2000-01-01", false},
			{strings.TrimSuffix(labelled(sentAt.AddDate(0, 0, -1), 11), "+11:00"), "2000-01-01", false},
			{labelled(sentAt.Add(-2*time.Second), 11), "2000-01-01", true},
			{labelled(sentAt.Add(-3*time.Second), 11), "2000-01-01", false},
			{labelled(sentAt.Add(-time.Hour), 13), "2000-01-01", false},
			{labelled(time.Now().Add(-time.Second), 11), "2000-01-01", true},
			{labelled(time.Now(), 11), "2000-01-01", false},
			{labelled(sentAt.Add(11*time.Hour), 11), "2000-01-01", false},
			{labelled(sentAt, 11), "", false},
			{labelled(sentAt, 11), "2000-01-03", true},
			{labelled(sentAt, 11), "1999-12-31", false},
		} {
			resume := func(i quickstream.Intent, t1 object) (*quickstream.Transaction, error) {
				listed := lookedUp([][]object{{with(t1, "transactionTime", c.time, "settlementDate", c.settles)}})
				return clientOf(t, listed).Transactions.Resume(t.Context(), i)
			}
			_, err := resume(made, unnamed)
			require.NoError(t, err, "%+v", c)
			tx, err := resume(own, bare)
			if c.found {
				require.NoError(t, err, "%+v", c)
				continue
			}
			candidates := still(t, tx, err).Candidates
			require.Len(t, candidates, 1, "%+v", c)
			assert.False(t, candidates[0].Matches)
			if c.time == nil {
				assert.Equal(t, []string{"its time is not known, and an earlier one may look the same"}, candidates[0].Reasons)
			}
		}
	})
}

// TestTransactionsWithoutAnID: where the service shows the ids of intents, a transaction without one is
// of another program, such as the portal. With the merchant's own reference it settles nothing. An
// answer to this client, the same look-up or the stored intent say that ids are shown; otherwise the
// service may show none.
func TestTransactionsWithoutAnID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, mine := sent(t, "ORDER-1")
		made, named := sent(t, "")
		bare, paid := sent(t, "ORDER-2", quickstream.WithIntentMetadata(""))
		refund, refundOf := lostRefund(t)
		unnamed := with(mine, "metadata", nil, "receiptNumber", "R-2")
		other := with(mine, "metadata", object{own.MetadataName: "ANOTHER"}, "paymentReferenceNumber", "ORDER-12", "receiptNumber", "R-3")
		stored := own
		stored.IDsShown = true
		<-time.After(time.Minute)
		resume := func(paysFirst bool, intent quickstream.Intent, listed ...object) (*quickstream.Transaction, error) {
			search, pay := lookedUp([][]object{listed}), echoing(t, func(object) {})
			client := clientOf(t, func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					return pay(r)
				}
				return search(r)
			})
			if paysFirst {
				_, err := client.Transactions.Pay(t.Context(), payment())
				require.NoError(t, err)
			}
			return client.Transactions.Resume(t.Context(), intent, quickstream.WithForeignReceipts(func(string) bool { return false }))
		}
		for name, c := range map[string]struct {
			paysFirst bool
			intent    quickstream.Intent
			listed    []object
			found     string
		}{
			"no id seen":                        {false, own, []object{unnamed}, "R-2"},
			"seen in an answer":                 {true, own, []object{unnamed}, ""},
			"seen in the list, before":          {false, own, []object{other, unnamed}, ""},
			"seen in the list, after":           {false, own, []object{unnamed, other}, ""},
			"seen before the intent was stored": {false, stored, []object{unnamed}, ""},
			"declined":                          {true, own, []object{declined(unnamed, "R-2")}, ""},
			"with the id":                       {true, own, []object{mine}, "R-1"},
			"beside one with the id":            {true, own, []object{unnamed, mine}, "R-1"},
			"a reference of this package":       {true, made, []object{with(named, "metadata", nil)}, "R-1"},
			"an intent without an id":           {true, bare, []object{paid}, "R-1"},
			"a refund, no id seen":              {false, refund, []object{refundOf("")}, "R-1"},
			"a refund":                          {true, refund, []object{refundOf("")}, ""},
		} {
			tx, err := resume(c.paysFirst, c.intent, c.listed...)
			if c.found != "" {
				require.NoError(t, err, name)
				assert.Equal(t, c.found, tx.ReceiptNumber, name)
				continue
			}
			candidates := still(t, tx, err).Candidates
			require.Len(t, candidates, 1, name)
			assert.False(t, candidates[0].Matches, name)
		}
	})
}

// TestIDsShown: an intent says whether an answer has shown an id before it was made.
func TestIDsShown(t *testing.T) {
	for shows, change := range map[bool]func(object){true: func(object) {}, false: func(t object) { t["metadata"] = nil }} {
		client := clientOf(t, echoing(t, change))
		var intent quickstream.Intent
		for _, want := range []bool{false, shows} {
			_, err := client.Transactions.Pay(t.Context(), payment(), handed(&intent))
			require.NoError(t, err)
			assert.Equal(t, want, intent.IDsShown)
			planned, err := client.Transactions.Plan(t.Context(), quickstream.RefundParams{
				OriginalReceiptNumber: "R-1", PrincipalAmount: decimal.New(1, 0), Currency: "AUD",
			})
			require.NoError(t, err)
			assert.Equal(t, shows, planned.IDsShown)
		}
	}
}

// TestIDsShownBeforeThePlan: another process submits the plan, to which no answer has shown an id.
func TestIDsShownBeforeThePlan(t *testing.T) {
	for shows, change := range map[bool]func(object){true: func(object) {}, false: func(t object) { t["metadata"] = nil }} {
		planner := clientOf(t, echoing(t, change))
		_, err := planner.Transactions.Pay(t.Context(), payment())
		require.NoError(t, err)
		planned, err := planner.Transactions.Plan(t.Context(), quickstream.RefundParams{OriginalReceiptNumber: "R-1", PrincipalAmount: decimal.New(1, 0), Currency: "AUD"})
		require.NoError(t, err)
		lost := clientOf(t, func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, quickstream.WithoutResend())
		_, err = lost.Transactions.Submit(t.Context(), planned, func(context.Context) error { return nil })
		unknown, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, shows, unknown.Intent.IDsShown)
	}
}

// TestReceiptsListedInTwoStates: neither state wins by its place in the list. What counts is what the
// service says of the receipt, and without that the look-up fails.
func TestReceiptsListedInTwoStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, paid := sent(t, "")
		resent := made
		resent.Attempts = 2
		refused := declined(paid, "R-1")
		unnamed := with(refused, "metadata", nil)
		pending := with(paid, "status", "Pending")
		for _, listed := range [][]object{
			{refused, paid}, {paid, refused}, {refused, paid, refused}, {paid, refused, refused}, {paid, unnamed}, {unnamed, paid}, {paid, pending}, {pending, paid},
		} {
			for _, c := range []struct {
				intent quickstream.Intent
				latest object
				found  bool
			}{{made, paid, true}, {resent, paid, true}, {made, refused, true}, {resent, refused, false}, {made, pending, false}, {made, nil, false}, {resent, nil, false}} {
				gets := 0
				client := clientOf(t, func(r *http.Request) (*http.Response, error) {
					if !strings.HasSuffix(r.URL.Path, "/R-1") {
						return lookedUp([][]object{listed})(r)
					}
					if gets++; c.latest == nil {
						return answer(http.StatusNotFound, errorBody), nil
					}
					body, err := json.Marshal(c.latest)
					return answer(http.StatusOK, string(body)), err
				})
				tx, err := client.Transactions.Resume(t.Context(), c.intent)
				assert.Equal(t, 1, gets)
				if c.found {
					require.NoError(t, err)
					assert.EqualValues(t, c.latest["status"], tx.Status)
					continue
				}
				open := still(t, tx, err)
				assert.Equal(t, c.latest == nil, open.Cause != nil)
				assert.NotEmpty(t, open.Candidates)
			}
		}
		tx, err := clientOf(t, lookedUp([][]object{{paid, paid}})).Transactions.Resume(t.Context(), made)
		require.NoError(t, err, "the same twice is once")
		assert.Equal(t, "R-1", tx.ReceiptNumber)
	})
}

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

// TestNoSettlementDate: a payment under the merchant's own reference whose settlement date is not shown is no older
// one. It may be the intent's, or an earlier one whose time is that of its last change.
func TestNoSettlementDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, paid := sent(t, "ORDER-77", quickstream.WithIntentMetadata(""))
		<-time.After(time.Minute)
		tx, err := clientOf(t, lookedUp([][]object{{with(paid, "settlementDate", nil)}})).Transactions.Resume(t.Context(), made)
		candidates := still(t, tx, err).Candidates
		require.Len(t, candidates, 1)
		assert.Equal(t, []string{"its settlement date is not known, and its time may be that of its last change"}, candidates[0].Reasons)
		tx, err = clientOf(t, lookedUp([][]object{{paid}})).Transactions.Resume(t.Context(), made)
		require.NoError(t, err)
		assert.Equal(t, "R-1", tx.ReceiptNumber)
	})
}
