package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// shelf is a service that only shows: transactions by receipt, lists under a reference, refunds. It is no
// sandbox, and agrees with nothing that this repository believes but the contract's names.
type shelf struct {
	receipts map[string]string   // a transaction's JSON
	lists    map[string][]string // receipts, under a reference in lower case or "refunds of R-1"
	foreign  []string            // what every search shows, whatever was asked for
	failing  string              // a part of the path that answers 502
	absent   string              // a part of the path that answers 404
	asked    []string
}

func (s *shelf) RoundTrip(r *http.Request) (*http.Response, error) {
	path := strings.TrimPrefix(r.URL.Path, "/rest/v1/transactions/")
	s.asked = append(s.asked, strings.TrimSuffix(path+" "+r.URL.Query().Get("referenceNumber"), " "))
	if s.failing != "" && strings.Contains(r.URL.String(), s.failing) {
		return answer(502, "<html>"), nil
	}
	if s.absent != "" && strings.Contains(path, s.absent) {
		return answer(404, errorBody), nil
	}
	list := func(receipts []string) (*http.Response, error) {
		items := []string{}
		for _, receipt := range receipts {
			items = append(items, s.receipts[receipt])
		}
		return answer(200, `{"links":[],"data":[`+strings.Join(items, ",")+`]}`), nil
	}
	if payment, is := strings.CutSuffix(path, "/refunds"); is {
		return list(s.lists["refunds of "+payment])
	}
	if path == "for-reference-number" {
		if s.foreign != nil {
			return list(s.foreign)
		}
		return list(s.lists[strings.ToLower(r.URL.Query().Get("referenceNumber"))])
	}
	if body, known := s.receipts[path]; known {
		return answer(200, body), nil
	}
	return answer(404, errorBody), nil
}

// show adds a transaction under references. Members replace those of an approved payment of 10.50.
func (s *shelf) show(receipt string, members map[string]any, references ...string) {
	body := map[string]any{
		"receiptNumber": receipt, "transactionType": "PAYMENT", "status": "Approved", "summaryCode": "0",
		"principalAmount": map[string]any{"amount": 10.50, "currency": "AUD"},
	}
	for name, value := range members {
		if body[name] = value; value == nil {
			delete(body, name)
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	if s.receipts == nil {
		s.receipts, s.lists = map[string]string{}, map[string][]string{}
	}
	s.receipts[receipt] = string(text)
	for _, reference := range references {
		key := reference
		if !strings.HasPrefix(reference, "refunds of ") {
			key = strings.ToLower(reference)
		}
		s.lists[key] = append(s.lists[key], receipt)
	}
}

const othersID = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

func amountOf(amount float64, currency string) map[string]any {
	return map[string]any{"amount": amount, "currency": currency}
}

// planned returns the intents of a payment with a reference of this package, of one with the merchant's
// own, and of what follows the receipt R-0.
func planned(t *testing.T) (made, own, refund, topUp, capture quickstream.Intent) {
	t.Helper()
	client := clientOf(t, says(500, ""))
	plan := func(params quickstream.TransactionParams) quickstream.Intent {
		intent, err := client.Transactions.Plan(t.Context(), params)
		require.NoError(t, err)
		intent.Attempts = 1
		return intent
	}
	pay := payment()
	pay.Source, pay.CustomerReferenceNumber = quickstream.FromAccount("A-1"), ""
	made = plan(pay)
	pay.PaymentReferenceNumber, pay.CustomerReferenceNumber = "ORDER-1", "CUSTOMER-1"
	own = plan(pay)
	amount := decimal.RequireFromString("10.50")
	refund = plan(quickstream.RefundParams{OriginalReceiptNumber: "R-0", PrincipalAmount: amount, Currency: "AUD"})
	topUp = plan(quickstream.TopUpParams{OriginalReceiptNumber: "R-0", PrincipalAmount: amount, Currency: "AUD"})
	capture = plan(quickstream.CaptureParams{
		OriginalReceiptNumber: "R-0", PrincipalAmount: amount, Currency: "AUD",
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeStoredCredential},
	})
	return made, own, refund, topUp, capture
}

// TestTheTableOfMatches has a name for each row of the table in package resolve.
func TestTheTableOfMatches(t *testing.T) {
	made, own, refund, topUp, capture := planned(t)
	own0, err := clientOf(t, says(500, "")).Transactions.Plan(t.Context(), quickstream.CaptureParams{
		OriginalReceiptNumber: "R-0", PrincipalAmount: decimal.RequireFromString("10.50"), Currency: "AUD", FollowUpDetails: quickstream.FollowUpDetails{PaymentReferenceNumber: "ORDER-7"},
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeStoredCredential},
	})
	require.NoError(t, err)
	refund0, err := clientOf(t, says(500, "")).Transactions.Plan(t.Context(), quickstream.RefundParams{
		OriginalReceiptNumber: "R-0", PrincipalAmount: decimal.RequireFromString("10.50"), Currency: "AUD", FollowUpDetails: quickstream.FollowUpDetails{PaymentReferenceNumber: "ORDER-7"},
	})
	require.NoError(t, err)
	pay := payment()
	pay.Source, pay.PaymentReferenceNumber = quickstream.FromAccount("A-1"), "ORDER-8"
	nameless, err := clientOf(t, says(500, "")).Transactions.Plan(t.Context(), pay, quickstream.WithIntentMetadata(""))
	require.NoError(t, err)
	id := func(intent quickstream.Intent) map[string]any { return map[string]any{"intentId": intent.ID} }
	type members = map[string]any
	for name, tt := range map[string]struct {
		intent     quickstream.Intent
		members    members
		references []string
		is         string // ours, candidate or another
		differs    string
	}{
		"1: our id":                                         {made, members{"metadata": id(made)}, []string{made.Reference}, "ours", ""},
		"1: our id under a shortened reference":             {own, members{"metadata": id(own), "paymentReferenceNumber": "ORD"}, []string{"ORDER-1"}, "ours", ""},
		"1: our id, the total in place":                     {made, members{"metadata": id(made), "principalAmount": amountOf(10.60, "AUD"), "surchargeAmount": amountOf(0.1, "AUD"), "totalAmount": amountOf(10.60, "AUD")}, []string{made.Reference}, "ours", ""},
		"2: our id, a part of the amount":                   {made, members{"metadata": id(made), "principalAmount": amountOf(6, "AUD")}, []string{made.Reference}, "candidate", "principalAmount"},
		"2: our id, the total alone":                        {made, members{"metadata": id(made), "principalAmount": nil, "totalAmount": amountOf(10.60, "AUD")}, []string{made.Reference}, "candidate", "principalAmount"},
		"2: our id, another currency":                       {made, members{"metadata": id(made), "principalAmount": amountOf(10.50, "NZD")}, []string{made.Reference}, "candidate", "currency"},
		"2: our id, another type":                           {made, members{"metadata": id(made), "transactionType": "REFUND"}, []string{made.Reference}, "candidate", "transactionType"},
		"2: our id, another original":                       {refund, members{"metadata": id(refund), "transactionType": "REFUND", "originalReceiptNumber": "R-9"}, []string{refund.Reference}, "candidate", "originalReceiptNumber"},
		"1: a top-up that shows what is held":               {topUp, members{"metadata": id(topUp), "transactionType": "PREAUTH", "authorisationType": "INCREMENTAL", "principalAmount": amountOf(99, "AUD")}, []string{topUp.Reference}, "ours", ""},
		"2: an extension for a top-up":                      {topUp, members{"metadata": id(topUp), "transactionType": "PREAUTH", "authorisationType": "EXTENSION"}, []string{topUp.Reference}, "candidate", "authorisationType"},
		"3: among the refunds":                              {refund, members{"transactionType": "REFUND", "paymentReferenceNumber": "OTHER"}, []string{"refunds of R-0"}, "candidate", "follows the same"},
		"3: it shows the original":                          {capture, members{"transactionType": "CAPTURE", "paymentReferenceNumber": "ORDER-0", "originalReceiptNumber": "R-0"}, []string{"ORDER-0"}, "candidate", "follows the same"},
		"3: with the original's reference and id":           {capture, members{"transactionType": "CAPTURE", "paymentReferenceNumber": "ORDER-0", "metadata": members{"intentId": "ORIGINAL"}}, []string{"ORDER-0"}, "candidate", "follows the same"},
		"3: a top-up of any amount":                         {topUp, members{"transactionType": "PREAUTH", "authorisationType": "INCREMENTAL", "paymentReferenceNumber": "ORDER-0", "principalAmount": amountOf(99, "AUD")}, []string{"ORDER-0"}, "candidate", "follows the same"},
		"3: our own reference, the original's id":           {own0, members{"transactionType": "CAPTURE", "paymentReferenceNumber": "ORDER-7", "metadata": members{"intentId": "ORIGINAL"}}, []string{"ORDER-7"}, "candidate", "follows the same"},
		"4: our own reference, a third one's id":            {own0, members{"transactionType": "CAPTURE", "paymentReferenceNumber": "ORDER-7", "metadata": members{"intentId": othersID}}, []string{"ORDER-7"}, "another", ""},
		"3: it shows the original, under another reference": {capture, members{"transactionType": "CAPTURE", "paymentReferenceNumber": "ELSE", "customerReferenceNumber": "ORDER-0", "originalReceiptNumber": "R-0"}, []string{"ORDER-0"}, "candidate", "follows the same"},
		"7: it shows no original, under another reference":  {capture, members{"transactionType": "CAPTURE", "paymentReferenceNumber": "ELSE", "customerReferenceNumber": "ORDER-0"}, []string{"ORDER-0"}, "another", ""},
		"3: it stands in the second list alone":             {refund0, members{"transactionType": "REFUND", "paymentReferenceNumber": "ELSE", "customerReferenceNumber": "ORDER-7"}, []string{"ORDER-7", "refunds of R-0"}, "candidate", "follows the same"},
		"6: our own reference, and ids are switched off":    {nameless, members{"paymentReferenceNumber": "ORDER-8"}, []string{"ORDER-8"}, "candidate", "shows no id"},
		"6: of another amount, and ids are switched off":    {nameless, members{"paymentReferenceNumber": "ORDER-8", "principalAmount": amountOf(6, "AUD")}, []string{"ORDER-8"}, "candidate", "shows no id"},
		"7: a refund of another amount":                     {refund, members{"transactionType": "REFUND", "principalAmount": amountOf(1, "AUD")}, []string{"refunds of R-0"}, "another", ""},
		"7: another kind that follows":                      {capture, members{"transactionType": "REFUND", "paymentReferenceNumber": "ORDER-0"}, []string{"ORDER-0"}, "another", ""},
		"4: another's id among the refunds":                 {refund, members{"transactionType": "REFUND", "metadata": members{"intentId": othersID}}, []string{"refunds of R-0"}, "another", ""},
		"4: another's id under our own reference":           {own, members{"metadata": members{"intentId": othersID}, "paymentReferenceNumber": "ORDER-1"}, []string{"ORDER-1"}, "another", ""},
		"4: another's id and a made reference":              {made, members{"metadata": members{"intentId": othersID}, "paymentReferenceNumber": made.Reference}, []string{made.Reference}, "candidate", "its id is another"},
		"5: a made reference without an id":                 {made, members{"paymentReferenceNumber": strings.ToLower(made.Reference)}, []string{made.Reference}, "ours", ""},
		"5: a refund under a made reference":                {refund, members{"transactionType": "REFUND", "originalReceiptNumber": "R-0", "paymentReferenceNumber": refund.Reference}, []string{refund.Reference}, "ours", ""},
		"6: a made reference, another amount":               {made, members{"paymentReferenceNumber": made.Reference, "principalAmount": amountOf(6, "AUD")}, []string{made.Reference}, "candidate", "principalAmount"},
		"6: our own reference without an id":                {own, members{"paymentReferenceNumber": "order-1"}, []string{"ORDER-1"}, "candidate", "shows no id"},
		"6: an id in lower case":                            {own, members{"paymentReferenceNumber": "ORDER-1", "metadata": members{"intentId": strings.ToLower(own.ID)}}, []string{"ORDER-1"}, "candidate", "its id is another"},
		"6: an id that was cut":                             {own, members{"paymentReferenceNumber": "ORDER-1", "metadata": members{"intentId": own.ID[:20]}}, []string{"ORDER-1"}, "candidate", "its id is another"},
		"1: our id under the customer reference":            {own, members{"metadata": id(own), "customerReferenceNumber": "CUSTOMER-1"}, []string{"CUSTOMER-1"}, "ours", ""},
		"2: our id under the customer reference":            {own, members{"metadata": id(own), "customerReferenceNumber": "CUSTOMER-1", "principalAmount": amountOf(6, "AUD")}, []string{"CUSTOMER-1"}, "candidate", "principalAmount"},
		"7: under the customer reference":                   {own, members{"customerReferenceNumber": "CUSTOMER-1"}, []string{"CUSTOMER-1"}, "another", ""},
		"7: a longer reference":                             {own, members{"paymentReferenceNumber": "ORDER-10", "customerReferenceNumber": "ORDER-1"}, []string{"ORDER-1"}, "another", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var s shelf
			s.show("R-0", members{"paymentReferenceNumber": "ORDER-0", "metadata": members{"intentId": "ORIGINAL"}}, "ORDER-0")
			if _, shows := tt.members["paymentReferenceNumber"]; !shows && !strings.HasPrefix(tt.references[0], "refunds of ") && tt.members["customerReferenceNumber"] == nil {
				tt.members["paymentReferenceNumber"] = tt.references[0]
			}
			if name == "1: our id under a shortened reference" { // the service finds it by what it stored
				tt.members["customerReferenceNumber"] = "ORDER-1"
			}
			s.show("R-1", tt.members, tt.references...)
			client := clientOf(t, s.RoundTrip)
			fromEvent, err := client.Transactions.Get(t.Context(), "R-1")
			require.NoError(t, err)
			_, found := tt.intent.Match(fromEvent)
			tx, err := client.Transactions.Resume(t.Context(), tt.intent)
			if tt.is == "ours" {
				require.NoError(t, err)
				assert.Equal(t, "R-1", tx.ReceiptNumber)
				require.NoError(t, found)
				return
			}
			require.ErrorIs(t, found, quickstream.ErrOutcomeUnknown, "an event settles no more than a look-up")
			var open *quickstream.UnknownOutcomeError
			require.ErrorAs(t, err, &open)
			require.NoError(t, open.Cause)
			if tt.is == "another" {
				assert.Empty(t, open.Candidates)
				return
			}
			require.Len(t, open.Candidates, 1)
			assert.Equal(t, "R-1", open.Candidates[0].Transaction.ReceiptNumber)
			assert.False(t, open.Candidates[0].Matches)
			assert.Contains(t, strings.Join(open.Candidates[0].Reasons, ", "), tt.differs)
		})
	}
}

// TestWhatSettles: one approval settles if all other matches took nothing; a decline settles at once if the
// write was surely sent once.
func TestWhatSettles(t *testing.T) {
	made, own, refund, _, _ := planned(t)
	type members = map[string]any
	declined, pending := members{"status": "Declined", "summaryCode": "1"}, members{"status": "Pending"}
	for name, tt := range map[string]struct {
		attempts int
		key      bool // the caller's
		shows    []members
		settles  string
		matches  int
	}{
		"approved":                  {0, false, []members{{}}, "R-1", 0},
		"approved beside a decline": {2, false, []members{declined, {}}, "R-2", 0},
		"two approved":              {1, false, []members{{}, {}}, "", 2},
		"approved and pending":      {2, false, []members{{}, pending}, "", 2},
		"declined, sent once":       {1, false, []members{declined}, "R-1", 0},
		"declined, sent twice":      {2, false, []members{declined}, "", 1},
		"declined, after a crash":   {0, false, []members{declined}, "", 1},
		"declined, sent once, two":  {1, false, []members{declined, declined}, "", 2},
		"pending":                   {1, false, []members{pending}, "", 1},
		"declined and pending":      {1, false, []members{declined, pending}, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var s shelf
			for i, shown := range tt.shows {
				with := members{"metadata": members{"intentId": made.ID}, "paymentReferenceNumber": made.Reference}
				for member, value := range shown {
					with[member] = value
				}
				s.show(fmt.Sprintf("R-%d", i+1), with, made.Reference)
			}
			intent := made
			intent.Attempts = tt.attempts
			tx, err := clientOf(t, s.RoundTrip).Transactions.Resume(t.Context(), intent)
			if tt.settles != "" {
				require.NoError(t, err)
				assert.Equal(t, tt.settles, tx.ReceiptNumber)
				return
			}
			var open *quickstream.UnknownOutcomeError
			require.ErrorAs(t, err, &open)
			assert.Len(t, open.Candidates, tt.matches)
			for _, c := range open.Candidates {
				assert.True(t, c.Matches)
				assert.Equal(t, tt.matches > 1, slices.Contains(c.Reasons, "it is not the only one"))
			}
		})
	}

	var s shelf // a candidate does not hold a match, and is reported
	s.show("R-0", members{"paymentReferenceNumber": "ORDER-0"})
	s.show("R-1", members{"metadata": members{"intentId": own.ID}, "paymentReferenceNumber": "ORDER-1"}, "ORDER-1")
	s.show("R-2", members{"paymentReferenceNumber": "ORDER-1"}, "ORDER-1")
	tx, err := clientOf(t, s.RoundTrip).Transactions.Resume(t.Context(), own)
	require.NoError(t, err)
	require.Len(t, tx.Candidates(), 1)
	assert.Equal(t, "R-2", tx.Candidates()[0].Transaction.ReceiptNumber)

	refund.ReceiptNumber = "R-3" // with its receipt, in any case and with blanks
	s.show("R-3", members{"receiptNumber": " r-3", "transactionType": "REFUND", "status": "Declined", "summaryCode": "1"})
	refund.Attempts = 2
	tx, err = clientOf(t, s.RoundTrip).Transactions.Resume(t.Context(), refund)
	require.NoError(t, err)
	assert.Equal(t, quickstream.OutcomeDeclined, tx.Outcome())
	refund.OwnKey = true // an earlier process may have been approved under the same reference
	s.show("R-4", members{"transactionType": "REFUND", "metadata": members{"intentId": refund.ID}, "paymentReferenceNumber": refund.Reference}, refund.Reference)
	tx, err = clientOf(t, s.RoundTrip).Transactions.Resume(t.Context(), refund)
	require.NoError(t, err)
	assert.Equal(t, "R-4", tx.ReceiptNumber)
}

// TestFound: what an event was about is judged as what a look-up finds.
func TestFound(t *testing.T) {
	made, _, refund, _, _ := planned(t)
	type members = map[string]any
	var s shelf
	client := clientOf(t, s.RoundTrip)
	found := func(intent quickstream.Intent, of members) (*quickstream.Transaction, *quickstream.UnknownOutcomeError) {
		s.show("R-1", of)
		shown, err := client.Transactions.Get(t.Context(), "R-1")
		require.NoError(t, err)
		tx, err := intent.Match(shown)
		open, _ := errors.AsType[*quickstream.UnknownOutcomeError](err)
		assert.Equal(t, err == nil, open == nil)
		return tx, open
	}
	declined := members{"metadata": members{"intentId": made.ID}, "status": "Declined", "summaryCode": "1"}
	tx, _ := found(made, declined)
	assert.Equal(t, "R-1", tx.ReceiptNumber)
	made.Attempts = 2
	_, open := found(made, declined)
	assert.True(t, open.Candidates[0].Matches, "the other attempt may be approved")
	assert.Contains(t, open.Error(), "Transactions.Pay (POST /transactions)", "nothing was read")

	made.ReceiptNumber, made.Answered = "r-1", true
	tx, _ = found(made, members{"status": "Declined", "summaryCode": "1"})
	assert.Equal(t, quickstream.OutcomeDeclined, tx.Outcome(), "the answer named it")
	tx, _ = found(made, members{"paymentReferenceNumber": "CUT", "status": "Declined", "summaryCode": "1"})
	assert.Equal(t, quickstream.OutcomeDeclined, tx.Outcome(), "only the facts have to agree")
	_, open = found(made, members{"principalAmount": amountOf(6, "AUD")})
	assert.False(t, open.Candidates[0].Matches)

	cancel, err := client.Transactions.Plan(t.Context(), quickstream.CancelPreauthorisationParams{
		OriginalReceiptNumber: "R-0", Type: quickstream.CancellationTypePartial, PrincipalAmount: decimal.RequireFromString("10.50"), Currency: "AUD",
	})
	require.NoError(t, err)
	tx, _ = found(cancel, members{"transactionType": "PREAUTH_CANCELLATION", "metadata": members{"intentId": cancel.ID}, "principalAmount": amountOf(6, "AUD")})
	assert.Equal(t, "R-1", tx.ReceiptNumber, "the answer may show what is held then")

	void := quickstream.Intent{Version: quickstream.IntentVersion, Operation: quickstream.OperationVoid, Target: "R-1"}
	voided := members{"status": "Voided", "summaryCode": "0"}
	tx, _ = found(void, voided)
	assert.Equal(t, quickstream.OutcomeVoided, tx.Outcome())
	_, open = found(void, nil)
	assert.Empty(t, open.Candidates, "that it stands says nothing")
	_, open = found(void, members{"status": "Reversed"})
	assert.Contains(t, open.Candidates[0].Reasons[0], "neither approved nor voided")
	void.Target = "R-2"
	_, open = found(void, voided)
	assert.Empty(t, open.Candidates)

	refund.Request = json.RawMessage(`{}`)
	_, open = found(refund, nil)
	require.Error(t, open.Cause, "it says nothing of what was sent")
	refund.Version = 99
	_, open = found(refund, nil)
	require.Error(t, open.Cause)
}

// TestLookUpsThatFail: a list that cannot be read, or that ignores what was asked for, says nothing about
// what is not in it. GETs ask caches for nothing that is stored.
func TestLookUpsThatFail(t *testing.T) {
	made, own, refund, _, _ := planned(t)
	type members = map[string]any
	for name, tt := range map[string]struct {
		intent  quickstream.Intent
		failing string
		foreign []string
	}{
		"the list":               {made, "for-reference-number", nil},
		"the original":           {refund, "transactions/R-0", nil},
		"the refunds":            {refund, "/refunds", nil},
		"the original's list":    {refund, "referenceNumber=ORDER-0", nil},
		"the customer reference": {own, "referenceNumber=CUSTOMER-1", nil},
		"another's list":         {made, "", []string{"R-9"}},
	} {
		s := shelf{failing: tt.failing, foreign: tt.foreign}
		s.show("R-0", members{"paymentReferenceNumber": "ORDER-0"}, "ORDER-0")
		s.show("R-9", members{"paymentReferenceNumber": "ELSE"})
		_, err := clientOf(t, s.RoundTrip).Transactions.Resume(t.Context(), tt.intent, quickstream.WithMaxAttempts(1))
		var open *quickstream.UnknownOutcomeError
		require.ErrorAs(t, err, &open, name)
		assert.Error(t, open.Cause, name)
	}
	var control []string
	s := shelf{}
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		control = append(control, r.Header.Get("Cache-Control"))
		return s.RoundTrip(r)
	})
	_, _ = client.Transactions.Resume(t.Context(), refund)
	assert.NotEmpty(t, control)
	assert.False(t, slices.ContainsFunc(control, func(value string) bool { return value != "no-cache" }), "%v", control)
}

// TestIntentsOfAnotherEnvironment: what one environment was sent, another does not have.
func TestIntentsOfAnotherEnvironment(t *testing.T) {
	made, _, _, _, _ := planned(t)
	assert.Equal(t, "api.invalid", made.Environment)
	s := shelf{}
	other, err := quickstream.NewClient(quickstream.CustomURL("https://other.invalid/rest/v1"), testKeys(), quickstream.WithHTTPClient(&http.Client{Transport: &s}))
	require.NoError(t, err)
	_, err = other.Transactions.Resume(t.Context(), made)
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	made.Attempts = 0
	_, err = other.Transactions.Submit(t.Context(), made, func(context.Context) error { return nil })
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	assert.Empty(t, s.asked)
}

// TestWhatALookUpAsks: it reads no list that is not needed, and the lists that are.
func TestWhatALookUpAsks(t *testing.T) {
	made, own, refund, topUp, capture := planned(t)
	type members = map[string]any
	of := func(intent quickstream.Intent, status string) members {
		return members{"metadata": members{"intentId": intent.ID}, "paymentReferenceNumber": intent.Reference, "status": status}
	}
	customers := made // a made reference, and a customer's
	customers.Request = json.RawMessage(strings.Replace(string(made.Request), `{`, `{"customerReferenceNumber":"CUSTOMER-1",`, 1))
	named := func(intent quickstream.Intent, receipt string) quickstream.Intent {
		intent.ReceiptNumber = receipt
		return intent
	}
	both, err := clientOf(t, says(500, "")).Transactions.Plan(t.Context(), quickstream.RefundParams{
		OriginalReceiptNumber: "R-0", PrincipalAmount: decimal.RequireFromString("10.50"), Currency: "AUD", FollowUpDetails: quickstream.FollowUpDetails{PaymentReferenceNumber: "ORDER-7", CustomerReferenceNumber: "CUSTOMER-7"},
	})
	require.NoError(t, err)
	reference, refunds := "for-reference-number "+refund.Reference, "R-0/refunds"
	for name, tt := range map[string]struct {
		intent  quickstream.Intent
		service func(s *shelf)
		asks    []string
		finds   string // "" for nothing, "failed" for an error
	}{
		"no customer reference for a made one": {customers, func(*shelf) {}, []string{"for-reference-number " + made.Reference}, ""},
		"a customer reference for an own one":  {own, func(*shelf) {}, []string{"for-reference-number ORDER-1", "for-reference-number CUSTOMER-1"}, ""},
		"found among the refunds": {refund, func(s *shelf) {
			s.show("R-1", members{"transactionType": "REFUND", "metadata": members{"intentId": refund.ID}, "paymentReferenceNumber": "X"}, "refunds of R-0")
		}, []string{"R-0", reference, refunds}, "R-1"},
		"no refunds is a 404": {refund, func(s *shelf) {
			s.absent = "/refunds"
			s.show("R-1", members{"transactionType": "REFUND", "metadata": members{"intentId": refund.ID}, "paymentReferenceNumber": "ORDER-0"}, "ORDER-0")
		}, []string{"R-0", reference, refunds, "for-reference-number ORDER-0"}, "R-1"},
		"found under the reference, and the original cannot be read": {refund, func(s *shelf) {
			s.failing = "transactions/R-0"
			s.show("R-1", members{"transactionType": "REFUND", "metadata": members{"intentId": refund.ID}, "paymentReferenceNumber": refund.Reference}, refund.Reference)
		}, []string{"R-0", reference}, "R-1"},
		"a customer reference after all of the original's": {both, func(*shelf) {}, []string{"R-0", "for-reference-number ORDER-7", refunds, "for-reference-number ORDER-0", "for-reference-number CUSTOMER-7"}, ""},
		"no customer reference once it is found": {both, func(s *shelf) {
			s.show("R-1", members{"transactionType": "REFUND", "metadata": members{"intentId": both.ID}, "paymentReferenceNumber": "ORDER-0"}, "ORDER-0")
		}, []string{"R-0", "for-reference-number ORDER-7", refunds, "for-reference-number ORDER-0"}, "R-1"},
		"no customer reference if a list before it fails": {both, func(s *shelf) { s.failing = "/refunds" }, []string{"R-0", "for-reference-number ORDER-7", refunds}, "failed"},
		"an original that cannot be read, and another's reference": {refund, func(s *shelf) {
			s.failing = "transactions/R-0"
			s.show("R-1", members{"transactionType": "REFUND", "paymentReferenceNumber": "ELSE", "customerReferenceNumber": refund.Reference}, refund.Reference)
		}, []string{"R-0", reference}, "failed"},
		"a refund with two states, that cannot be read": {refund, func(s *shelf) {
			s.show("R-1", members{"transactionType": "REFUND", "metadata": members{"intentId": refund.ID}}, "refunds of R-0")
			s.show("older", members{"receiptNumber": "R-1", "transactionType": "REFUND", "status": "Pending", "metadata": members{"intentId": refund.ID}}, "refunds of R-0")
			s.failing = "transactions/R-1"
		}, []string{"R-0", reference, refunds, "R-1"}, "failed"},
		"an original that cannot be read": {refund, func(s *shelf) {
			s.failing = "transactions/R-0"
			s.show("R-1", members{"transactionType": "REFUND", "metadata": members{"intentId": "ORIGINAL"}, "paymentReferenceNumber": refund.Reference}, refund.Reference)
		}, []string{"R-0", reference}, "failed"},
		"an original without a reference": {capture, func(s *shelf) {
			s.show("R-0", members{"transactionType": "PREAUTH"})
			s.show("R-1", members{"transactionType": "CAPTURE", "customerReferenceNumber": capture.Reference}, capture.Reference)
		}, []string{"R-0", "for-reference-number " + capture.Reference}, ""},
		"the original is nothing that follows it": {topUp, func(s *shelf) {
			s.lists = nil
			s.lists = map[string][]string{}
			s.show("R-0", members{"transactionType": "PREAUTH", "paymentReferenceNumber": "ORDER-0", "metadata": members{"intentId": "ORIGINAL"}}, "ORDER-0")
		}, []string{"R-0", "for-reference-number " + topUp.Reference, "for-reference-number ORDER-0"}, ""},
		"under the original's reference, sent so": {func() quickstream.Intent {
			same, err := clientOf(t, says(500, "")).Transactions.Plan(t.Context(), quickstream.TopUpParams{OriginalReceiptNumber: "R-0", PrincipalAmount: decimal.New(1, 0), Currency: "AUD", FollowUpDetails: quickstream.FollowUpDetails{PaymentReferenceNumber: "ORDER-0"}})
			require.NoError(t, err)
			return same
		}(), func(*shelf) {}, []string{"R-0", "for-reference-number ORDER-0"}, ""},
		"a receipt that is not there": {
			named(made, "R-7"), func(s *shelf) { s.show("R-1", of(made, "Approved"), made.Reference) },
			[]string{"R-7", "for-reference-number " + made.Reference},
			"R-1",
		},
		"a receipt that cannot be read": {named(made, "R-7"), func(s *shelf) { s.failing = "R-7" }, []string{"R-7"}, "failed"},
		"a receipt of something else": {
			named(made, "R-7"), func(s *shelf) { s.show("R-7", members{"metadata": members{"intentId": othersID}}) },
			[]string{"R-7", "for-reference-number " + made.Reference},
			"candidate",
		},
		"an approved receipt under the caller's key": {func() quickstream.Intent {
			keyed := named(made, "R-7")
			keyed.OwnKey, keyed.Attempts = true, 0
			return keyed
		}(), func(s *shelf) { s.show("R-7", of(made, "Approved")) }, []string{"R-7"}, "R-7"},
		"a receipt alone, without a request": {quickstream.Intent{Version: quickstream.IntentVersion, Operation: quickstream.OperationTopUp, ReceiptNumber: "R-7"}, func(s *shelf) {
			s.show("R-7", members{"transactionType": "PREAUTH", "authorisationType": "INCREMENTAL"})
		}, []string{"R-7"}, "R-7"},
		"a receipt twice, alike": {made, func(s *shelf) {
			s.show("R-1", of(made, "Approved"), made.Reference, made.Reference)
		}, []string{"for-reference-number " + made.Reference}, "R-1"},
		"a receipt twice, with two states": {made, func(s *shelf) {
			s.show("R-1", of(made, "Approved"), made.Reference)
			older := of(made, "Pending")
			older["receiptNumber"] = "R-1"
			s.show("older", older, made.Reference)
		}, []string{"for-reference-number " + made.Reference, "R-1"}, "R-1"},
		"a decline, beside what cannot be read": {made, func(s *shelf) {
			declined := of(made, "Declined")
			declined["summaryCode"] = "1"
			s.show("R-1", declined, made.Reference)
			s.show("R-2", of(made, "Approved"), made.Reference)
			older := of(made, "Pending")
			older["receiptNumber"] = "R-2"
			s.show("older", older, made.Reference)
			s.failing = "transactions/R-2"
		}, []string{"for-reference-number " + made.Reference, "R-2"}, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			var s shelf
			s.show("R-0", members{"paymentReferenceNumber": "ORDER-0", "metadata": members{"intentId": "ORIGINAL"}}, "ORDER-0")
			tt.service(&s)
			tx, err := clientOf(t, s.RoundTrip).Transactions.Resume(t.Context(), tt.intent, quickstream.WithMaxAttempts(1))
			assert.Equal(t, tt.asks, s.asked)
			if strings.HasPrefix(tt.finds, "R-") {
				require.NoError(t, err)
				assert.Equal(t, tt.finds, tx.ReceiptNumber)
				return
			}
			var open *quickstream.UnknownOutcomeError
			require.ErrorAs(t, err, &open)
			assert.Equal(t, tt.finds == "failed", open.Cause != nil)
			assert.Equal(t, tt.finds == "candidate", len(open.Candidates) > 0 && tt.finds != "failed", "%v", open.Candidates)
		})
	}
}
