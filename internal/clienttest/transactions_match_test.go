package clienttest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// object is a JSON object of an answer.
type object = map[string]any

func money(amount string) object { return object{"currency": "AUD", "amount": json.Number(amount)} }

// echoOf is the transaction that a request asks for, approved, as the contract has it.
func echoOf(request object) object {
	return object{
		"receiptNumber": "R-1", "status": "Approved", "summaryCode": "0", "transactionType": request["transactionType"],
		"paymentReferenceNumber": request["paymentReferenceNumber"], "metadata": request["metadata"],
		"principalAmount": money(fmt.Sprint(request["principalAmount"])), "transactionTime": madeAt(time.Now()), "settlementDate": settling(),
	}
}

// madeAt writes a time as the contract's samples have it: Sydney's, with its offset.
func madeAt(t time.Time) string {
	return t.In(time.FixedZone("", 11*60*60)).Format("2006-01-02T15:04:05-0700")
}

// settling is the settlement date of what is made now.
func settling() string { return time.Now().UTC().Add(11 * time.Hour).Format(time.DateOnly) }

// echoing is a service that answers a POST with what change makes of its echo.
func echoing(t *testing.T, change func(object)) service {
	return func(r *http.Request) (*http.Response, error) {
		decoder := json.NewDecoder(r.Body)
		decoder.UseNumber()
		var request object
		require.NoError(t, decoder.Decode(&request))
		t := echoOf(request)
		change(t)
		body, err := json.Marshal(t)
		return answer(http.StatusCreated, string(body)), err
	}
}

// TestAnswersAreAboutTheQuestion changes one member of an answer to a payment at a
// time: what the contract echoes has to agree where it is there.
func TestAnswersAreAboutTheQuestion(t *testing.T) {
	set := func(name string, value any) func(object) { return func(t object) { t[name] = value } }
	text := func(name string, change func(string) string) func(object) {
		return func(t object) { t[name] = change(t[name].(string)) }
	}
	surcharged := func(principal, surcharge, total string) func(object) {
		return func(t object) {
			for name, amount := range map[string]string{"principalAmount": principal, "surchargeAmount": surcharge, "totalAmount": total} {
				if t[name] = nil; amount != "" {
					t[name] = money(amount)
				}
			}
		}
	}
	fits := map[string]func(object){
		"as sent": func(object) {}, "other members": set("accountToken", "A-2"), "no type": set("transactionType", nil),
		"lower reference": text("paymentReferenceNumber", strings.ToLower), "blanks": text("paymentReferenceNumber", func(s string) string { return s + " " }),
		"no reference": set("paymentReferenceNumber", nil), "no metadata": set("metadata", nil), "other metadata": set("metadata", object{"x": "y"}),
		"no amount": set("principalAmount", nil), "receipt and outcome only": func(t object) {
			maps.DeleteFunc(t, func(name string, _ any) bool {
				return !slices.Contains([]string{"receiptNumber", "status", "summaryCode"}, name)
			})
		},
		"PayTo details of another kind of source": set("payToData", object{"agreementToken": "A-9"}),
		"surcharge": surcharged("10.50", "0.50", "11.00"), "the total as principal": surcharged("11.00", "0.50", "11.00"),
		"total alone": surcharged("", "", "10.50"), "total with a surcharge not shown": surcharged("", "", "11.00"),
		"surcharge alone": surcharged("", "0.50", ""), "no principal": surcharged("", "0.50", "11.00"),
	}
	misfits := map[string]func(object){
		"type":   set("transactionType", "REFUND"),
		"amount": set("principalAmount", money("10.51")), "currency": set("principalAmount", object{"currency": "NZD", "amount": 10.5}),
		"currency of the total": func(t object) {
			t["principalAmount"], t["totalAmount"] = nil, object{"currency": "NZD", "amount": 10.5}
		},
		"intent": set("metadata", object{"intentId": "ANOTHER"}), "parts that do not add up": surcharged("11.00", "0.40", "11.00"),
		"less in total": surcharged("", "", "10.49"), "no principal, and parts that do not add up": surcharged("", "0.40", "11.00"),
		"another principal alone": surcharged("11.00", "", ""), "another principal and surcharge": surcharged("11.00", "0.50", ""),
		"another principal and total": surcharged("11.00", "", "11.00"),
		"another total":               surcharged("11.00", "0.50", "12.00"), "a principal of its own": surcharged("12.00", "0.50", "11.00"),
	}
	for name, change := range fits {
		tx, err := clientOf(t, echoing(t, change)).Transactions.Pay(t.Context(), payment())
		require.NoError(t, err, name)
		assert.Equal(t, "R-1", tx.ReceiptNumber, name)
	}
	for name, change := range misfits {
		tx, err := clientOf(t, echoing(t, change)).Transactions.Pay(t.Context(), payment())
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, name)
		assert.Nil(t, tx, name)
		lost := err.(*quickstream.UnknownOutcomeError) //nolint:errorlint // is one
		assert.Equal(t, "R-1", lost.Intent.ReceiptNumber, "%s: it is looked at", name)
	}
}

// TestPayToAnswersAreAboutTheirAgreement, whatever else they show.
func TestPayToAnswersAreAboutTheirAgreement(t *testing.T) {
	params := payToPayment("A-1", "49.95")
	params.Source = quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: "A-1", EndToEndID: "E-1"})
	for fits, answers := range map[bool][]object{
		true:  {nil, {"agreementToken": "A-1", "endToEndId": "E-1"}, {"agreementToken": "a-1"}, {}},
		false: {{"agreementToken": "A-2", "endToEndId": "E-1"}},
	} {
		for _, data := range answers {
			_, err := clientOf(t, echoing(t, func(t object) { t["payToData"] = data })).PayTo.Collect(t.Context(), params)
			assert.Equal(t, fits, err == nil, "%v: %v", data, err)
		}
	}
}

// TestAnswersAreAboutTheAccount that was to pay, if they show one.
func TestAnswersAreAboutTheAccount(t *testing.T) {
	kind := quickstream.AccountTypeCreditCard
	for name, c := range map[string]struct {
		source      quickstream.AccountSource
		fit, misfit []object
	}{
		"account": {
			quickstream.FromAccount("T-1", kind),
			[]object{nil, {}, {"accountToken": nil}, {"accountToken": "T-1", "customerId": "C-9"}, {"accountToken": "t-1 "}},
			[]object{{"accountToken": "T-2"}},
		},
		"customer": {
			quickstream.FromCustomer("C-1", kind),
			[]object{nil, {}, {"accountToken": "T-9"}, {"customerId": "C-1"}, {"customerId": "c-1"}},
			[]object{{"customerId": "C-2"}, {"customerId": "C-2", "accountToken": "T-1"}},
		},
		"token": {quickstream.FromSingleUseToken("S-1", kind), []object{{"accountToken": "T-9", "customerId": "C-9"}}, nil},
	} {
		params := payment()
		params.Source, params.IPAddress = c.source, netip.MustParseAddr("203.0.113.10")
		for fits, accounts := range map[bool][]object{true: c.fit, false: c.misfit} {
			for _, account := range accounts {
				for _, member := range []string{"creditCard", "bankAccount", "nzBankAccount"} {
					_, err := clientOf(t, echoing(t, func(t object) { t[member] = account })).Transactions.Pay(t.Context(), params)
					assert.Equal(t, fits, err == nil, "%s: %s %v: %v", name, member, account, err)
					assert.Equal(t, !fits, errors.Is(err, quickstream.ErrOutcomeUnknown))
				}
			}
		}
	}
}

// TestAnotherAccountUnderTheReference: a payment with another account of the customer settles nothing, be
// it approved or declined.
func TestAnotherAccountUnderTheReference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intent, made := sent(t, "ORDER-1", quickstream.WithIntentMetadata(""))
		var request object
		require.NoError(t, json.Unmarshal(intent.Request, &request))
		delete(request, "creditCard")
		request["accountToken"] = "T-1"
		body, err := json.Marshal(request)
		require.NoError(t, err)
		intent.Request = body
		<-time.After(time.Minute)
		for token, found := range map[string]bool{"T-1": true, "T-2": false} {
			paid := with(made, "creditCard", object{"accountToken": token})
			for _, listed := range []object{paid, declined(paid, "R-1")} {
				tx, err := clientOf(t, lookedUp([][]object{{listed}})).Transactions.Resume(t.Context(), intent)
				if found && listed["status"] == "Approved" {
					require.NoError(t, err)
					assert.Equal(t, "R-1", tx.ReceiptNumber)
					continue
				}
				candidates := still(t, tx, err).Candidates
				require.Len(t, candidates, 1)
				assert.Equal(t, found, candidates[0].Matches, "%s: %v", token, candidates[0].Reasons)
			}
		}
	})
}

// TestFollowUpsAreAboutTheirOriginal: what a follow-up answers as its amount is open,
// its original is not.
func TestFollowUpsAreAboutTheirOriginal(t *testing.T) {
	params := quickstream.TopUpParams{OriginalReceiptNumber: "R-0", PrincipalAmount: decimal.RequireFromString("10.50"), Currency: "AUD"}
	held := func(t object) { t["principalAmount"] = money("99.00") }
	_, err := clientOf(t, echoing(t, held)).Transactions.TopUp(t.Context(), params)
	require.NoError(t, err)
	_, err = clientOf(t, echoing(t, held)).Transactions.CancelPreauthorisation(t.Context(), quickstream.CancelPreauthorisationParams{
		OriginalReceiptNumber: "R-0", PrincipalAmount: decimal.RequireFromString("10.50"), Currency: "AUD", Type: quickstream.CancellationTypePartial,
	})
	require.NoError(t, err)
	for member, value := range map[string]any{"originalReceiptNumber": "R-9", "principalAmount": object{"currency": "NZD", "amount": 99}} {
		_, err = clientOf(t, echoing(t, func(t object) { t[member] = value })).Transactions.TopUp(t.Context(), params)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, member)
	}
}

// lookedUp is a service whose look-ups answer the given pages, a list for each; nil is
// a 404. Each reading takes the next of readings, and then the last again. It searches the
// first reference only.
func lookedUp(readings ...[][]object) service {
	reading, searched := -1, ""
	return func(r *http.Request) (*http.Response, error) {
		page := 0
		if reference := r.URL.Query().Get("referenceNumber"); reference != "" {
			if searched == "" {
				searched = reference
			}
			if searched != reference {
				return answer(http.StatusOK, `{"data":[]}`), nil
			}
		}
		if _, err := fmt.Sscan(r.URL.Query().Get("page"), &page); err != nil {
			reading = min(reading+1, len(readings)-1)
		}
		pages := readings[reading]
		if page >= len(pages) || pages[page] == nil {
			return answer(http.StatusNotFound, errorBody), nil
		}
		body := object{"data": pages[page], "links": []any{}}
		if page+1 < len(pages) {
			body["links"] = []any{object{"rel": "next", "href": fmt.Sprintf("https://%s%s?page=%d", r.URL.Host, r.URL.Path, page+1)}}
		}
		text, err := json.Marshal(body)
		resp := answer(http.StatusOK, string(text))
		resp.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
		return resp, err
	}
}

// sent returns an intent of a payment, sent once, and what the service makes of it.
func sent(t *testing.T, reference string, opts ...quickstream.CallOption) (quickstream.Intent, object) {
	t.Helper()
	var intent quickstream.Intent
	var made object
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		var request object
		require.NoError(t, json.Unmarshal(body, &request))
		request["principalAmount"] = "10.50"
		made = echoOf(request)
		return nil, io.ErrUnexpectedEOF
	})
	params := payment()
	params.PaymentReferenceNumber = reference
	_, err := client.Transactions.Pay(t.Context(), params, append(opts, handed(&intent), quickstream.WithoutResend())...)
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	intent.Attempts = 1
	return intent, made
}

// with returns a copy of an object with a changed member; nil takes it away.
func with(t object, pairs ...any) object {
	t = maps.Clone(t)
	for pair := range slices.Chunk(pairs, 2) {
		t[pair[0].(string)] = pair[1]
	}
	return t
}

func declined(t object, receipt string) object {
	return with(t, "receiptNumber", receipt, "status", "Declined", "summaryCode", "1")
}

// TestLookUps goes through what a look-up can find, with the reference of the merchant
// or of ours, with the id echoed and without.
func TestLookUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, paid := sent(t, "")
		own, bare := sent(t, "ORDER-1", quickstream.WithIntentMetadata(""))
		planned, taken := sent(t, "ORDER-2")
		taken["metadata"] = object{"intentId": "X"} // Pay was called and not Submit
		sentAt := time.Now()
		<-time.After(time.Minute)
		unnamed := with(paid, "metadata", nil)
		resent := made
		resent.Attempts = 2
		second := func(t object) object { return with(t, "receiptNumber", "R-2") }
		older := func(t object, d time.Duration) object {
			return with(t, "transactionTime", madeAt(sentAt.Add(-d)))
		}
		one := func(data ...object) [][]object { return [][]object{data} }
		for _, c := range []struct {
			name       string
			intent     quickstream.Intent
			readings   [][][]object
			found      string // its receipt
			candidates int
			failed     bool
		}{
			{"upper reference", made, [][][]object{one(with(paid, "paymentReferenceNumber", strings.ToLower(made.Reference)))}, "R-1", 0, false},
			{"the id, and nothing else", made, [][][]object{one(with(paid, "paymentReferenceNumber", nil, "principalAmount", money("99.00")))}, "R-1", 0, false},
			{"the id, of another type", made, [][][]object{one(with(paid, "transactionType", "REFUND"))}, "", 1, false},
			{"another id", made, [][][]object{one(with(paid, "metadata", object{"intentId": "X"}, "principalAmount", money("1.00")))}, "", 0, false},
			{"another id, without a reference", made, [][][]object{one(with(paid, "metadata", object{"intentId": "X"}, "paymentReferenceNumber", nil))}, "", 1, false},
			{"the id, with another reference and amount", made, [][][]object{one(with(paid, "paymentReferenceNumber", "X", "principalAmount", money("99.00")))}, "", 1, false},
			{"a cut reference", made, [][][]object{one(with(unnamed, "paymentReferenceNumber", made.Reference[:5]))}, "", 1, false},
			{"a cut reference, and another amount", made, [][][]object{one(with(unnamed, "paymentReferenceNumber", made.Reference[:5], "principalAmount", money("99.00")))}, "", 0, false},
			{"no id", made, [][][]object{one(unnamed)}, "R-1", 0, false},
			{"neither id nor reference", made, [][][]object{one(with(unnamed, "paymentReferenceNumber", nil))}, "", 1, false},
			{"a prefix", made, [][][]object{one(with(unnamed, "paymentReferenceNumber", made.Reference+"2"))}, "", 0, false},
			{"an hour old", made, [][][]object{one(older(unnamed, time.Hour))}, "R-1", 0, false},
			{"three hours old", made, [][][]object{one(older(unnamed, 3*time.Hour))}, "", 1, false},
			{"three hours old, with the id", made, [][][]object{one(older(paid, 3*time.Hour))}, "R-1", 0, false},
			{"a decline", made, [][][]object{one(declined(unnamed, "R-3"))}, "R-3", 0, false},
			{"a rejection", made, [][][]object{one(with(unnamed, "status", "Declined", "summaryCode", "3"))}, "R-1", 0, false},
			{"voided since", made, [][][]object{one(with(unnamed, "status", "Voided"))}, "R-1", 0, false},
			{"approved beside rejected", made, [][][]object{one(with(second(paid), "status", "Declined", "summaryCode", "3"), paid)}, "R-1", 0, false},
			{"a decline of one of two requests", resent, [][][]object{one(declined(paid, "R-3"))}, "", 1, false},
			{"approved beside declined", made, [][][]object{one(declined(paid, "R-3"), paid)}, "R-1", 0, false},
			{"approved beside pending", made, [][][]object{one(with(second(paid), "status", "Pending"), paid)}, "", 2, false},
			{"approved twice", made, [][][]object{one(paid, second(paid))}, "", 2, false},
			{"approved twice, no id", made, [][][]object{one(unnamed, second(unnamed))}, "", 2, false},
			{"declined twice", made, [][][]object{one(declined(paid, "R-3"), declined(paid, "R-4"))}, "", 2, false},
			{"page two is gone", made, [][][]object{{{declined(paid, "R-3")}, nil}}, "", 1, true},
			{"page two is gone, and page one approves", made, [][][]object{{{paid}, nil}}, "R-1", 0, false},
			{"two pages that agree", made, [][][]object{{{declined(paid, "R-3")}, {with(unnamed, "paymentReferenceNumber", "X", "receiptNumber", "R-9")}}}, "R-3", 0, false},
			{"two pages that change", made, [][][]object{{{}, {second(unnamed)}}, {{}, {}}, {{}, {declined(unnamed, "R-7")}}}, "R-2", 0, false},
			{"nothing on changing pages", made, [][][]object{
				{{}, {with(unnamed, "paymentReferenceNumber", "X1", "receiptNumber", "R-7")}},
				{{}, {}},
				{{}, {with(unnamed, "paymentReferenceNumber", "X2", "receiptNumber", "R-8")}},
				{{}, {}},
			}, "", 0, true},
			{"page two is gone and comes again", made, [][][]object{
				{{declined(paid, "R-3")}, nil}, {{declined(paid, "R-3")}, {}}, {{declined(paid, "R-3")}, nil}, {{declined(paid, "R-3")}, {}},
			}, "R-3", 0, false},
			{"nothing", made, [][][]object{one()}, "", 0, false},
			{"not found", made, [][][]object{{nil}}, "", 0, false},
			{"the id beside one without", made, [][][]object{one(paid, second(unnamed))}, "R-1", 0, false},
			{"own reference", own, [][][]object{one(bare)}, "R-1", 0, false},
			{"own reference, declined", own, [][][]object{one(declined(bare, "R-3"))}, "", 1, false},
			{"own reference, older", own, [][][]object{one(older(bare, 5*time.Second))}, "", 1, false},
			{"own reference, without a time", own, [][][]object{one(with(bare, "transactionTime", nil))}, "", 1, false},
			{"own reference, without a settlement date", own, [][][]object{one(with(bare, "settlementDate", nil))}, "", 1, false},
			{"own reference, another id", planned, [][][]object{one(taken)}, "", 1, false},
			{"own reference, another id, without a time", planned, [][][]object{one(with(taken, "transactionTime", nil))}, "", 1, false},
			{"own reference, another id, older", planned, [][][]object{one(older(taken, 5*time.Second))}, "", 0, false},
		} {
			tx, err := clientOf(t, lookedUp(c.readings...)).Transactions.Resume(t.Context(), c.intent)
			if c.found != "" {
				require.NoError(t, err, c.name)
				assert.Equal(t, c.found, tx.ReceiptNumber, c.name)
				continue
			}
			open := still(t, tx, err)
			assert.Len(t, open.Candidates, c.candidates, c.name)
			for _, candidate := range open.Candidates {
				several := candidate.Matches && c.candidates > 1
				assert.Equal(t, several, strings.HasSuffix(candidate.Reasons[0], ", and not the only one"), c.name)
			}
			assert.Equal(t, c.intent.Attempts, open.Attempts, "%s: how often the payment was sent", c.name)
			assert.Equal(t, c.failed, open.Cause != nil, "%s: %v", c.name, open.Cause)
			assert.NotErrorIs(t, err, quickstream.ErrNotFound)
		}
	})
}

// TestReasonsBesideAMatch: what matches by id does not change why another one does not match.
func TestReasonsBesideAMatch(t *testing.T) {
	made, paid := sent(t, "")
	made.Attempts = 2 // so that a decline ends nothing
	other := with(paid, "receiptNumber", "R-2", "metadata", nil)
	tx, err := clientOf(t, lookedUp([][]object{{
		declined(paid, "R-1"), other, with(other, "receiptNumber", "R-3", "principalAmount", money("99.00")),
	}})).Transactions.Resume(t.Context(), made)
	reasons := map[string]string{}
	for _, candidate := range still(t, tx, err).Candidates {
		reasons[candidate.Transaction.ReceiptNumber] = strings.Join(candidate.Reasons, ", ")
	}
	assert.Equal(t, map[string]string{"R-1": "it is declined", "R-2": "another one carries the intent's id", "R-3": "its principalAmount is another"}, reasons)
}

// gone is a service that carries out what it is sent, or not, and never answers.
func gone(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// TestReceiptOfAnother: a receipt that came with an answer is the intent's only when what
// it names is about the intent. It stays a candidate.
func TestReceiptOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, paid := sent(t, "")
		made.ReceiptNumber = "R-9"
		another, err := json.Marshal(with(paid, "receiptNumber", "R-9", "principalAmount", money("99.00"), "metadata", nil))
		require.NoError(t, err)
		for name, pages := range map[string][][]object{"R-1": {{paid}}, "": {{}}} {
			tx, err := clientOf(t, func(r *http.Request) (*http.Response, error) {
				if strings.HasSuffix(r.URL.Path, "/R-9") {
					return answer(http.StatusOK, string(another)), nil
				}
				return lookedUp(pages)(r)
			}).Transactions.Resume(t.Context(), made)
			if name == "" {
				candidates := still(t, tx, err).Candidates
				require.Len(t, candidates, 1)
				assert.False(t, candidates[0].Matches)
				continue
			}
			require.NoError(t, err)
			assert.Equal(t, name, tx.ReceiptNumber)
		}
	})
}

// TestReceiptThatCannotBeRead: a look-up by receipt that fails is the cause of the open outcome, and
// no candidate.
func TestReceiptThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, _ := sent(t, "")
		made.ReceiptNumber = "R-9"
		tx, err := clientOf(t, says(http.StatusInternalServerError, errorBody)).Transactions.Resume(t.Context(), made)
		open := still(t, tx, err)
		require.ErrorContains(t, open.Cause, "500")
		assert.Empty(t, open.Candidates)
	})
}

// lostRefund returns the intent of a refund whose answer was lost, and makes refunds of the
// same payment.
func lostRefund(t *testing.T, opts ...quickstream.CallOption) (intent quickstream.Intent, refund func(reference string, pairs ...any) object) {
	t.Helper()
	params := quickstream.RefundParams{OriginalReceiptNumber: "R-0", PrincipalAmount: decimal.RequireFromString("10.50"), Currency: "AUD"}
	_, err := clientOf(t, gone).Transactions.Refund(t.Context(), params, append(opts, handed(&intent), quickstream.WithoutResend())...)
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	return intent, func(reference string, pairs ...any) object {
		return with(object{
			"receiptNumber": "R-1", "status": "Approved", "summaryCode": "0", "transactionType": "REFUND", "originalReceiptNumber": "R-0",
			"paymentReferenceNumber": reference, "principalAmount": money("10.50"), "transactionTime": madeAt(time.Now().Add(-time.Second)), "settlementDate": settling(),
		}, pairs...)
	}
}

// refunded is a service that made the payment R-0, and a refund of it.
func refunded(refund object) service {
	return func(r *http.Request) (*http.Response, error) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/R-0"):
			return answer(http.StatusOK, `{"receiptNumber":"R-0","paymentReferenceNumber":"ORIGINAL"}`), nil
		case strings.HasSuffix(r.URL.Path, "/refunds"):
			return lookedUp([][]object{{refund}})(r)
		}
		return lookedUp([][]object{{}})(r)
	}
}

// TestRefundsThatLookOlder: what tells an earlier refund from the lost one is its age
// alone, and clocks differ: it is a candidate.
func TestRefundsThatLookOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intent, refund := lostRefund(t, quickstream.WithIntentMetadata(""))
		made, sentAt := refund("ORIGINAL"), time.Now()
		<-time.After(time.Minute)
		aged := func(age time.Duration) object { return with(made, "transactionTime", madeAt(sentAt.Add(-age))) }
		known := quickstream.WithForeignReceipts(func(string) bool { return false })
		for age, opts := range map[time.Duration][]quickstream.CallOption{0: nil, time.Minute: nil, 2 * time.Minute: {known}} {
			client := clientOf(t, lookedUp([][]object{{}}, [][]object{{aged(age)}}))
			tx, err := client.Transactions.Resume(t.Context(), intent, opts...)
			assert.Len(t, still(t, tx, err).Candidates, 1, age)
		}
		client := clientOf(t, lookedUp([][]object{{with(aged(3*time.Hour), "paymentReferenceNumber", intent.Reference)}}))
		tx, err := client.Transactions.Resume(t.Context(), intent, known)
		require.Len(t, still(t, tx, err).Candidates, 1)
		assert.Equal(t, []string{"it is older"}, still(t, tx, err).Candidates[0].Reasons, "it has the intent's reference")
		client = clientOf(t, refunded(made))
		tx, err = client.Transactions.Resume(t.Context(), intent, known)
		require.NoError(t, err, "no other intent has made it")
		assert.Equal(t, "R-1", tx.ReceiptNumber)
		foreign := quickstream.WithForeignReceipts(func(receipt string) bool { return receipt == "R-1" })
		tx, err = client.Transactions.Resume(t.Context(), intent, foreign)
		assert.Empty(t, still(t, tx, err).Candidates, "it is another's")
		client = clientOf(t, lookedUp([][]object{{refund("ANOTHER")}}))
		tx, err = client.Transactions.Resume(t.Context(), intent, known)
		still(t, tx, err)
	})
}

// TestRefundsAmongOthers: which of a payment's refunds is the one whose answer was lost.
func TestRefundsAmongOthers(t *testing.T) {
	synctest.Test(t, refundsAmongOthers)
}

func refundsAmongOthers(t *testing.T) {
	intent, refund := lostRefund(t)
	sentAt := madeAt(time.Now())
	<-time.After(time.Minute)
	for _, c := range []struct {
		id, reference, amount string
		found                 bool
		candidates            int
	}{
		{intent.ID, "ORIGINAL", "10.50", true, 0},
		{"", "ORIGINAL", "10.50", true, 0},
		{"", intent.Reference, "10.50", true, 0},
		{"", "ORIGINAL", "10.51", false, 0},
		{"", intent.Reference, "10.51", false, 1},
		{"ANOTHER", "ORIGINAL", "10.50", false, 0},
		{"ANOTHER", intent.Reference, "10.50", false, 1},
		{"ANOTHER", intent.Reference, "10.51", false, 0},
	} {
		client := clientOf(t, refunded(refund(c.reference, "transactionTime", sentAt, "principalAmount", money(c.amount), "metadata", object{intent.MetadataName: c.id})))
		tx, err := client.Transactions.Resume(t.Context(), intent, quickstream.WithForeignReceipts(func(string) bool { return false }))
		if c.found {
			require.NoError(t, err, "%+v", c)
			assert.Equal(t, "R-1", tx.ReceiptNumber)
			continue
		}
		assert.Len(t, still(t, tx, err).Candidates, c.candidates, "%+v", c)
	}
}

// TestAmendmentsThatAreNotNamed: that no amendment waits for the payer has to be said.
func TestAmendmentsThatAreNotNamed(t *testing.T) {
	var intent quickstream.Intent
	err := clientOf(t, gone).PayTo.RecallAmendment(t.Context(), "A-1", handed(&intent))
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	for body, asAsked := range map[string]bool{
		`{"agreementToken":"A-1","hasPendingBilateralAmendment":false}`: true,
		`{"agreementToken":"A-1","hasPendingBilateralAmendment":true}`:  false,
		`{"agreementToken":"A-1","hasPendingBilateralAmendment":null}`:  false,
		`{"agreementToken":"A-1"}`:                                      false,
	} {
		state, err := clientOf(t, says(http.StatusOK, body)).PayTo.ResumeChange(t.Context(), intent)
		require.NoError(t, err, body)
		assert.Equal(t, asAsked, state.AsAsked, body)
	}
}

// TestAgreementsInListsThatMove: an agreement that one reading missed is found by the next.
func TestAgreementsInListsThatMove(t *testing.T) {
	intent := lostMandate(t)
	agreement := func(token, reference string) object {
		return object{"agreementToken": token, "payeeReference": reference}
	}
	pages := func(other string) [][]object {
		return [][]object{{agreement("A-1", "AG-1")}, {agreement(other, "AG-2")}}
	}
	for found, readings := range map[bool][][][]object{
		true:  {{{}, {}}, pages("B-1"), pages("B-1")},
		false: {pages("B-1"), pages("B-2"), pages("B-3"), pages("B-4")},
	} {
		_, err := clientOf(t, lookedUp(readings...)).PayTo.Resume(t.Context(), intent)
		assert.Equal(t, found, err == nil, "%v", err)
	}
}

// TestAgreementsWithoutARenewal: a stored request need not say whether the agreement renews itself.
func TestAgreementsWithoutARenewal(t *testing.T) {
	var intent quickstream.Intent
	_, err := clientOf(t, gone).PayTo.Create(t.Context(), "C-1", agreementParams("AG-1"), handed(&intent))
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	edit(t, &intent, func(r request) { delete(r["paymentDetails"].(request), "automaticRenewal") })
	body := `{"data":[{"agreementToken":"A-1","payeeReference":"AG-1","paymentDetails":{"automaticRenewal":false}}]}`
	agreement, err := clientOf(t, says(http.StatusOK, body)).PayTo.Resume(t.Context(), intent)
	require.NoError(t, err)
	assert.Equal(t, "A-1", agreement.AgreementToken)
}

// TestReceiptsOfFailures: the receipt in the body of an error is nobody's.
func TestReceiptsOfFailures(t *testing.T) {
	for status, receipt := range map[int]string{http.StatusCreated: "R-9", 299: "R-9", 300: "", http.StatusInternalServerError: ""} {
		_, err := clientOf(t, says(status, `{"receiptNumber":"R-9","status":[]}`)).Transactions.Pay(t.Context(), payment())
		lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
		require.True(t, ok, "%d: %v", status, err)
		assert.Equal(t, receipt, lost.Intent.ReceiptNumber, status)
	}
}

// TestCustomerNumbersFold: the number in another case is the customer's, unless there are
// two.
func TestCustomerNumbersFold(t *testing.T) {
	for body, id := range map[string]string{
		`{"data":[{"customerId":"1","customerNumber":"n-1"}]}`:                                            "1",
		`{"data":[{"customerId":"1","customerNumber":"n-1"},{"customerId":"2","customerNumber":"N-1"}]}`:  "2",
		`{"data":[{"customerId":"1","customerNumber":"n-1"},{"customerId":"2","customerNumber":"N-1 "}]}`: "",
	} {
		customer, err := clientOf(t, says(http.StatusOK, body)).Customers.GetByNumber(t.Context(), "N-1")
		if id == "" {
			require.ErrorIs(t, err, quickstream.ErrNotFound)
			continue
		}
		require.NoError(t, err, body)
		assert.Equal(t, id, customer.CustomerID)
	}
}
