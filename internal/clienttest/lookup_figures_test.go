package clienttest_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// pursued drives a case to its end, and calls change before each look-up.
func pursued(t *testing.T, s *shelf, c resolve.Case, change func(look int)) resolve.Case {
	t.Helper()
	client, err := quickstream.NewClient(quickstream.CustomURL("https://api.invalid/rest/v1"), testKeys(), quickstream.WithHTTPClient(&http.Client{Transport: s}), quickstream.WithMaxAttempts(1))
	require.NoError(t, err)
	p := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	for look := 0; !c.NextLook.IsZero(); look++ {
		require.Less(t, look, 200, "it never ends")
		if change != nil {
			change(look)
		}
		c = p.Next(c, p.LookUp(t.Context(), client.Transactions, c), c.NextLook)
	}
	return c
}

// TestWhatInheritsItsOriginal: a service that gives what follows a transaction that one's metadata, and its
// reference or the merchant's, shows what was done under another write's id. It is never not_found.
func TestWhatInheritsItsOriginal(t *testing.T) {
	amount := decimal.RequireFromString("10.50")
	client := clientOf(t, says(500, ""))
	for _, sent := range []string{"", "ORDER-0", "ORDER-1"} {
		for kind, params := range map[string]quickstream.TransactionParams{
			"REFUND":  quickstream.RefundParams{OriginalReceiptNumber: "R-0", PrincipalAmount: amount, Currency: "AUD", FollowUpDetails: quickstream.FollowUpDetails{PaymentReferenceNumber: sent}},
			"PREAUTH": quickstream.TopUpParams{OriginalReceiptNumber: "R-0", PrincipalAmount: amount, Currency: "AUD", FollowUpDetails: quickstream.FollowUpDetails{PaymentReferenceNumber: sent}},
			"CAPTURE": quickstream.CaptureParams{
				OriginalReceiptNumber: "R-0", PrincipalAmount: amount, Currency: "AUD", FollowUpDetails: quickstream.FollowUpDetails{PaymentReferenceNumber: sent},
				StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeStoredCredential},
			},
		} {
			intent, err := client.Transactions.Plan(t.Context(), params)
			require.NoError(t, err)
			for _, shown := range []string{"ORDER-0", intent.Reference} {
				t.Run(kind+" sent under "+sent+", shown under "+shown, func(t *testing.T) {
					var s shelf
					inherits := map[string]any{"intentId": othersID}
					s.show("R-0", map[string]any{"paymentReferenceNumber": "ORDER-0", "metadata": inherits}, "ORDER-0")
					done := map[string]any{"transactionType": kind, "paymentReferenceNumber": shown, "metadata": inherits}
					if kind == "PREAUTH" {
						done["authorisationType"] = "INCREMENTAL"
					}
					s.show("R-1", done, shown)
					end := pursued(t, &s, resolve.Begin(intent, time.Now()), nil)
					assert.Equal(t, resolve.StatusEscalated, end.Status)
					assert.Contains(t, end.Receipts(), "R-1")
				})
			}
		}
	}
}

// TestUnknownAnswerUnderTheCallersKey: an earlier process may have been approved under the key, so the
// reference is looked up too after an answer that does not say how it ended.
func TestUnknownAnswerUnderTheCallersKey(t *testing.T) {
	var s shelf
	erred := map[string]any{"status": "Pending", "summaryCode": "2"}
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost {
			return echoing(t, func(o object) { o["status"], o["summaryCode"] = erred["status"], erred["summaryCode"] })(r)
		}
		return s.RoundTrip(r)
	})
	params := payment()
	params.Source, params.CustomerReferenceNumber = quickstream.FromAccount("A-1"), ""
	tx, err := client.Transactions.Pay(t.Context(), params, quickstream.WithIdempotencyKey("mine"))
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	c := resolve.After(tx, err, time.Now()).Case
	require.NotNil(t, c)
	id := map[string]any{"intentId": c.Intent.ID}
	s.show("R-1", map[string]any{"status": "Declined", "summaryCode": "1", "responseCode": "54", "metadata": id, "paymentReferenceNumber": c.Intent.Reference}, c.Intent.Reference)
	s.show("R-2", map[string]any{"metadata": id, "paymentReferenceNumber": c.Intent.Reference}, c.Intent.Reference)
	end := pursued(t, &s, *c, nil)
	assert.Equal(t, quickstream.OutcomeApproved, end.Outcome)
	assert.Equal(t, "R-2", end.Seen.ReceiptNumber)
}

// TestReceiptsInAnotherForm: a receipt in another case or with blanks is the same transaction: no second
// charge, and no other one's decline.
func TestReceiptsInAnotherForm(t *testing.T) {
	made, _, _, _, _ := planned(t)
	with := func(receipt, status, code string) map[string]any {
		return map[string]any{
			"receiptNumber": receipt, "status": status, "summaryCode": code, "responseCode": "54",
			"metadata": map[string]any{"intentId": made.ID}, "paymentReferenceNumber": made.Reference,
		}
	}
	var s shelf // twice in one list
	s.show("R-1", with("R-1", "Approved", "0"), made.Reference)
	s.show("r-1", with("r-1", "Approved", "0"), made.Reference)
	assert.Equal(t, resolve.StatusSettled, pursued(t, &s, resolve.Begin(made, time.Now()), nil).Status)

	s = shelf{} // in another form at each look-up
	end := pursued(t, &s, resolve.Begin(made, time.Now()), func(look int) {
		s = shelf{}
		s.show("R-1", with([]string{"R-1", "r-1", " R-1"}[look%3], "Approved", "0"), made.Reference)
	})
	assert.Equal(t, resolve.StatusSettled, end.Status)
	assert.Equal(t, quickstream.OutcomeApproved, end.Outcome)

	s = shelf{} // the decline of the receipt that the answer showed
	s.show("R-1", with("r-1", "Declined", "1"), made.Reference)
	answered := made
	answered.ReceiptNumber, answered.Attempts = "R-1", 2
	end = pursued(t, &s, resolve.Begin(answered, time.Now()), nil)
	assert.Equal(t, resolve.StatusSettled, end.Status)
	assert.Equal(t, quickstream.OutcomeDeclined, end.Outcome)
	assert.Len(t, end.Lookups, 1)
	assert.Equal(t, 1, end.Lookups[0].Count, "at once")
	assert.False(t, strings.Contains(end.Seen.ReceiptNumber, " "))
}

// TestFigures has what independent services did to lost payments, each driven to its end. What cannot be
// known is held, and its candidate says why.
func TestFigures(t *testing.T) {
	made, own, refund, _, _ := planned(t)
	type members = map[string]any
	of := func(intent quickstream.Intent, change members) members {
		all := members{"metadata": members{"intentId": intent.ID}, "paymentReferenceNumber": intent.Reference}
		maps.Copy(all, change)
		return all
	}
	sent := func(intent quickstream.Intent, attempts int) quickstream.Intent {
		intent.Attempts = attempts
		return intent
	}
	declined := members{"status": "Declined", "summaryCode": "1", "responseCode": "54"}
	for name, tt := range map[string]struct {
		intent  quickstream.Intent
		change  func(s *shelf, look int)
		status  resolve.Status
		outcome quickstream.Outcome
		changed bool
		differs string // of the candidate that is held
	}{
		"P11: a part of the amount is approved": {sent(made, 1), func(s *shelf, look int) {
			if look == 0 {
				s.show("R-1", of(made, members{"principalAmount": amountOf(6, "AUD")}), made.Reference)
			}
		}, resolve.StatusEscalated, "", false, "principalAmount"},
		"V15: reversed minutes after a look-up found it": {sent(made, 1), func(s *shelf, look int) {
			*s = shelf{}
			s.show("R-1", of(made, map[bool]members{false: nil, true: {"status": "Voided"}}[look > 0]), made.Reference)
		}, resolve.StatusEscalated, "", true, ""},
		"R40: the second send made another under the same reference and id": {sent(made, 2), func(s *shelf, look int) {
			if look == 0 {
				s.show("R-1", of(made, nil), made.Reference)
				s.show("R-2", of(made, nil), made.Reference)
			}
		}, resolve.StatusDoubleCharged, quickstream.OutcomeApproved, false, ""},
		"Q20: sent again, and the first one appears after the second look": {sent(made, 2), func(s *shelf, look int) {
			switch look {
			case 0:
				s.show("R-2", of(made, nil), made.Reference)
			case 2:
				s.show("R-1", of(made, nil), made.Reference)
			}
		}, resolve.StatusDoubleCharged, quickstream.OutcomeApproved, false, ""},
		"Q20: sent again and declined, and the first one appears": {sent(made, 2), func(s *shelf, look int) {
			switch look {
			case 0:
				s.show("R-2", of(made, declined), made.Reference)
			case 1:
				s.show("R-1", of(made, nil), made.Reference)
			}
		}, resolve.StatusSettled, quickstream.OutcomeApproved, false, ""},
		"P07d: a list that ignores what was asked for": {sent(made, 1), func(s *shelf, look int) {
			if look == 0 {
				s.show("R-9", members{"paymentReferenceNumber": "ELSE"})
				s.foreign = []string{"R-9"}
			}
		}, resolve.StatusEscalated, "", false, ""},
		"P12: an old decline under the merchant's reference": {sent(own, 1), func(s *shelf, look int) {
			if look == 0 {
				s.show("R-8", members{"paymentReferenceNumber": own.Reference, "status": "Declined", "summaryCode": "1", "responseCode": "54"}, own.Reference)
			}
		}, resolve.StatusEscalated, "", false, "shows no id"},
		"P12: an old decline with our id, as a caller's key repeats it": {sent(made, 0), func(s *shelf, look int) {
			switch look {
			case 0:
				s.show("R-8", of(made, declined), made.Reference)
			case 1:
				s.show("R-1", of(made, nil), made.Reference)
			}
		}, resolve.StatusSettled, quickstream.OutcomeApproved, false, ""},
		"Q27: the intent of another environment": {func() quickstream.Intent {
			other := made
			other.Environment = "elsewhere.invalid"
			return other
		}(), nil, resolve.StatusEscalated, "", false, ""},
		"R21: a refund that nothing shows, over Easter": {sent(refund, 1), func(s *shelf, look int) {
			if look == 0 {
				s.show("R-0", members{"paymentReferenceNumber": "ORDER-0"}, "ORDER-0")
			}
		}, resolve.StatusNotFound, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var s shelf
			begun := time.Date(2026, time.April, 2, 20, 0, 0, 0, time.FixedZone("", 11*60*60)) // before Good Friday
			tt.intent.NotBefore = begun
			end := pursued(t, &s, resolve.Begin(tt.intent, begun), func(look int) {
				if tt.change != nil {
					tt.change(&s, look)
				}
			})
			assert.Equal(t, tt.status, end.Status)
			assert.Equal(t, tt.outcome, end.Outcome)
			assert.Equal(t, tt.changed, end.Changed)
			if tt.status == resolve.StatusNotFound {
				assert.False(t, end.Until.Before(time.Date(2026, time.April, 9, 18, 30, 0, 0, begun.Location()).AddDate(0, 0, 14)), "five weekdays, and watched on")
			}
			if tt.differs == "" {
				return
			}
			require.NotEmpty(t, end.Lookups[0].Candidates)
			assert.Contains(t, strings.Join(end.Lookups[0].Candidates[0].Differs, ", "), tt.differs)
			assert.NotNil(t, end.Lookups[0].Candidates[0].Amount)
		})
	}
}

// TestReadTransactionsNameTheirEnvironment: the case of a transaction that was read is refused by another
// environment's client as well.
func TestReadTransactionsNameTheirEnvironment(t *testing.T) {
	var s shelf
	s.show("R-1", map[string]any{"status": "Pending"})
	tx, err := clientOf(t, s.RoundTrip).Transactions.Get(t.Context(), "R-1")
	require.NoError(t, err)
	assert.Equal(t, "api.invalid", tx.Intent().Environment)
}

// TestPartOfWhatWasAnsweredByItsReceipt: the answer named the receipt alone, and the look-up shows 6.00 of
// 10.50. The order is not paid, and the ids and references of the look-up decide nothing.
func TestPartOfWhatWasAnsweredByItsReceipt(t *testing.T) {
	for amount, status := range map[float64]resolve.Status{6: resolve.StatusEscalated, 10.50: resolve.StatusSettled} {
		var s shelf
		s.show("R-1", map[string]any{
			"principalAmount": amountOf(amount, "AUD"), "paymentReferenceNumber": "CUT", "metadata": map[string]any{"intentId": "CUT"},
		})
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return answer(http.StatusCreated, `{"receiptNumber":"R-1"}`), nil
			}
			return s.RoundTrip(r)
		})
		tx, err := client.Transactions.Pay(t.Context(), payment())
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
		end := pursued(t, &s, *resolve.After(tx, err, time.Now()).Case, nil)
		assert.Equal(t, status, end.Status, amount)
		assert.Contains(t, end.Receipts(), "R-1")
	}
}

// TestTopUpAnsweredByItsReceiptAlone: what our own answer named is looked up by its receipt, and settles,
// whatever the look-up shows of it.
func TestTopUpAnsweredByItsReceiptAlone(t *testing.T) {
	var s shelf
	s.show("R-1", map[string]any{"transactionType": "PREAUTH", "authorisationType": "INCREMENTAL"})
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost {
			return answer(http.StatusCreated, `{"receiptNumber":"R-1"}`), nil
		}
		return s.RoundTrip(r)
	})
	tx, err := client.Transactions.TopUp(t.Context(), quickstream.TopUpParams{OriginalReceiptNumber: "R-0", PrincipalAmount: decimal.New(1, 0), Currency: "AUD"})
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	end := pursued(t, &s, *resolve.After(tx, err, time.Now()).Case, nil)
	assert.Equal(t, quickstream.OutcomeApproved, end.Outcome)
}
