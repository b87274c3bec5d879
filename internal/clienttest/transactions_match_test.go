package clienttest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

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
		"total alone":     surcharged("", "", "10.50"),
		"surcharge alone": surcharged("", "0.50", ""), "no principal": surcharged("", "0.50", "11.00"),
	}
	misfits := map[string]func(object){
		"type":   set("transactionType", "REFUND"),
		"amount": set("principalAmount", money("10.51")), "currency": set("principalAmount", object{"currency": "NZD", "amount": 10.5}),
		"currency of the total": func(t object) {
			t["principalAmount"], t["totalAmount"] = nil, object{"currency": "NZD", "amount": 10.5}
		},
		"intent": set("metadata", object{"intentId": "ANOTHER"}), "parts that do not add up": surcharged("11.00", "0.40", "11.00"),
		"less in total": surcharged("", "", "10.49"), "total with a surcharge not shown": surcharged("", "", "11.00"), "no principal, and parts that do not add up": surcharged("", "0.40", "11.00"),
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
		require.ErrorContains(t, err, "another transaction than the one that was sent: its ", "%s: it says in what", name)
		assert.Nil(t, tx, name)
		lost := err.(*quickstream.UnknownOutcomeError) //nolint:errorlint // is one
		assert.Equal(t, "R-1", lost.Intent.ReceiptNumber, "%s: it is looked at", name)
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

// gone is a service that carries out what it is sent, or not, and never answers.
func gone(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

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
		assert.Equal(t, asAsked, state.AsRequested, body)
	}
}
