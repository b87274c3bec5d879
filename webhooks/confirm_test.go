package webhooks_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks"
)

func TestConfirmDelivers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		event   string
		answer  string
		request string
		status  string
	}{
		"present":                {"payto.agreement.confirmed", agreementData, "/rest/v1/payto-agreements/AGR0001", "ACTIVE"},
		"suspended meanwhile":    {"payto.agreement.confirmed", withStatus("SUSPENDED"), "/rest/v1/payto-agreements/AGR0001", "SUSPENDED"},
		"cancelled meanwhile":    {"payto.agreement.confirmed", withStatus("CANCELLED"), "/rest/v1/payto-agreements/AGR0001", "CANCELLED"},
		"status unheard of":      {"payto.agreement.confirmed", withStatus("FROZEN"), "/rest/v1/payto-agreements/AGR0001", "FROZEN"},
		"declined":               {"payto.agreement.declined", withStatus("CANCELLED"), "/rest/v1/payto-agreements/AGR0001", "CANCELLED"},
		"expired":                {"payto.agreement.expired", withStatus("CANCELLED"), "/rest/v1/payto-agreements/AGR0001", "CANCELLED"},
		"recalled":               {"payto.agreement.recalled", withStatus("CANCELLED"), "/rest/v1/payto-agreements/AGR0001", "CANCELLED"},
		"kind not known by name": {"payto.agreement.added_later", agreementData, "/rest/v1/payto-agreements/AGR0001", "ACTIVE"},
		"declined, says sender":  {"payto.agreement.declined", agreementData, "/rest/v1/payto-agreements/AGR0001", "ACTIVE"},
		"approved":               {"payto.payment.approved", transactionData, "/rest/v1/transactions/1000000001", "Approved"},
		"declined, says the API": {"payto.payment.approved", declined, "/rest/v1/transactions/1000000001", "Declined"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, service := newAPI(t, 200, test.answer)
			f := new(calls)
			h := webhooks.NewHandler(newVerifier(t), webhooks.ConfirmWith(client, f.handle))
			claimed := agreementData
			if strings.Contains(test.event, "payment") {
				claimed = transactionData
			}
			// What the sender says beside the identifier is not true.
			claimed = strings.Replace(claimed, "{", `{"comment":"claimed","payeeReference2":"claimed",`, 1)
			if w := post(h, signed(t, `{"id":"1","timestamp":"2024-02-08T00:12:50+1100","eventType":"`+test.event+`","x":"claimed","data":`+claimed+`}`)); w.Code != 200 {
				t.Fatalf("answered %d", w.Code)
			}
			if got := service.seen(); got != "GET "+test.request {
				t.Errorf("asked %s", got)
			}
			n := f.received[0]
			if n.ID != "1" || string(n.EventType) != test.event || n.Timestamp.IsZero() || dataOf(t, n) != test.answer {
				t.Errorf("delivered %v with %s", n, dataOf(t, n))
			}
			if strings.Contains(string(n.Raw()), "claimed") {
				t.Errorf("raw holds what the sender claimed: %s", n.Raw())
			}
			checkStatus(t, n, test.status)
			// What is stored and read again is what was confirmed.
			checkStatus(t, parse(t, string(n.Raw())), test.status)
		})
	}
}

func withStatus(status string) string { return strings.Replace(agreementData, "ACTIVE", status, 1) }

const declined = `{"receiptNumber":"1000000001","status":"Declined","summaryCode":"1"}`

func checkStatus(t *testing.T, n *webhooks.Notification, want string) {
	t.Helper()
	var got string
	if strings.Contains(string(n.EventType), "agreement") {
		got = string(eventOf[*webhooks.AgreementEvent](t, n).Agreement.Status)
	} else {
		got = string(eventOf[*webhooks.PaymentEvent](t, n).Transaction.Status)
	}
	if got != want {
		t.Errorf("delivered the status %s, want %s", got, want)
	}
}

// Whatever the sender says, nothing is delivered that the API does not say.
func TestConfirmRefuses(t *testing.T) {
	t.Parallel()
	const notFound = `{"developerMessage":"canary"}`
	for name, test := range map[string]struct {
		body   string
		status int
		answer string
		want   []error
		isNot  error
		asked  bool
	}{
		"unknown agreement":     {confirmedBody, 404, notFound, []error{webhooks.ErrUnconfirmed, quickstream.ErrNotFound}, nil, true},
		"unknown transaction":   {approvedBody, 404, notFound, []error{webhooks.ErrUnconfirmed, quickstream.ErrNotFound}, nil, true},
		"identifier refused":    {confirmedBody, 422, notFound, []error{webhooks.ErrUnconfirmed, quickstream.ErrInvalid}, nil, true},
		"still pending":         {confirmedBody, 200, withStatus("PENDING"), []error{webhooks.ErrUnconfirmed}, nil, true},
		"still created":         {confirmedBody, 200, withStatus("CREATED"), []error{webhooks.ErrUnconfirmed}, nil, true},
		"no status":             {confirmedBody, 200, withStatus(""), []error{webhooks.ErrUnconfirmed}, nil, true},
		"another agreement":     {confirmedBody, 200, strings.Replace(agreementData, "AGR0001", "AGR0002", 1), nil, webhooks.ErrUnconfirmed, true},
		"payment still pending": {approvedBody, 200, `{"receiptNumber":"1000000001","status":"Pending","summaryCode":"0"}`, []error{webhooks.ErrUnconfirmed}, nil, true},
		"payment erred":         {approvedBody, 200, `{"receiptNumber":"1000000001","status":"Approved","summaryCode":"2"}`, []error{webhooks.ErrUnconfirmed}, nil, true},
		"another payment":       {approvedBody, 200, strings.Replace(transactionData, "1000000001", "1000000002", 1), nil, webhooks.ErrUnconfirmed, true},
		"wrong key":             {confirmedBody, 401, notFound, []error{quickstream.ErrUnauthorized}, webhooks.ErrUnconfirmed, true},
		"service down":          {confirmedBody, 503, `{"developerMessage":"canary","traceCode":"T"}`, nil, webhooks.ErrUnconfirmed, true},
		"nonsense":              {confirmedBody, 200, `[]`, nil, webhooks.ErrUnconfirmed, true},
		"no token":              {strings.Replace(confirmedBody, "agreementToken", "token", 1), 200, agreementData, []error{webhooks.ErrUnconfirmed}, nil, false},
		"token that is a path":  {strings.Replace(confirmedBody, "AGR0001", "../customers", 1), 200, agreementData, []error{webhooks.ErrUnconfirmed}, nil, false},
		"wrong kind of data":    {strings.Replace(approvedBody, transactionData, agreementData, 1), 200, transactionData, []error{webhooks.ErrUnconfirmed}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, service := newAPI(t, test.status, test.answer)
			f := new(calls)
			var failure webhooks.Failure
			h := webhooks.NewHandler(newVerifier(t), webhooks.ConfirmWith(client, f.handle),
				webhooks.WithFailureReport(func(_ context.Context, f webhooks.Failure) { failure = f }))
			if w := post(h, signed(t, test.body)); w.Code != http.StatusInternalServerError || f.count() != 0 {
				t.Errorf("answered %d after %d calls", w.Code, f.count())
			}
			if (service.seen() != "") != test.asked {
				t.Errorf("asked %q", service.seen())
			}
			for _, want := range test.want {
				if !errors.Is(failure.Err, want) {
					t.Errorf("%v is not %v", failure.Err, want)
				}
			}
			if failure.Err == nil || test.isNot != nil && errors.Is(failure.Err, test.isNot) {
				t.Errorf("reported %v", failure.Err)
			}
			for _, value := range []string{"canary", "AGR0001", "1000000001"} {
				if strings.Contains(failure.Err.Error(), value) {
					t.Errorf("%v shows a value", failure.Err)
				}
			}
		})
	}
}

// There is nothing to ask the API for: the event is delivered, its claims are not.
func TestConfirmOfAnUnknownEvent(t *testing.T) {
	t.Parallel()
	client, service := newAPI(t, 200, agreementData)
	f := new(calls)
	h := webhooks.NewHandler(newVerifier(t), webhooks.ConfirmWith(client, f.handle))
	const body = `{"id":"1","eventType":"payid.created","data":{"payId":"claimed"}}`
	if w := post(h, signed(t, body)); w.Code != http.StatusOK {
		t.Fatal(w.Code)
	}
	n := f.received[0]
	if n.Digest() != parse(t, body).Digest() {
		t.Error("confirming changed the digest")
	}
	if n.EventType != "payid.created" || eventOf[*webhooks.UnknownEvent](t, n).Data() != nil || strings.Contains(string(n.Raw()), "claimed") || service.seen() != "" {
		t.Errorf("delivered %v with %s after asking %q", n, n.Raw(), service.seen())
	}
}

// An event that the API does not confirm yet is delivered once it does.
func TestConfirmAfterALag(t *testing.T) {
	t.Parallel()
	client, service := newAPI(t, 0, "")
	answers := []struct {
		status int
		body   string
	}{{404, "{}"}, {200, withStatus("PENDING")}, {200, agreementData}, {200, agreementData}}
	asked := 0
	service.handler = func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(answers[asked].status)
		_, _ = w.Write([]byte(answers[asked].body))
		asked++
	}
	f := new(calls)
	h := webhooks.NewHandler(newVerifier(t), webhooks.Deduplicate(new(webhooks.MemoryStore), webhooks.ConfirmWith(client, f.handle)))
	for i, want := range []int{500, 500, 200, 200} {
		if w := post(h, signed(t, confirmedBody)); w.Code != want {
			t.Errorf("delivery %d: %d, want %d", i+1, w.Code, want)
		}
	}
	if f.count() != 1 || asked != 3 {
		t.Errorf("%d calls after asking %d times", f.count(), asked)
	}
}

// An older event after a newer one delivers the present state, not the older one.
func TestConfirmOutOfOrder(t *testing.T) {
	t.Parallel()
	client, _ := newAPI(t, 200, withStatus("CANCELLED"))
	f := new(calls)
	h := webhooks.NewHandler(newVerifier(t), webhooks.Deduplicate(new(webhooks.MemoryStore), webhooks.ConfirmWith(client, f.handle)))
	recalled := strings.NewReplacer("54-0001", "54-0003", "agreement.confirmed", "agreement.recalled").Replace(confirmedBody)
	for _, body := range []string{recalled, confirmedBody} {
		if w := post(h, signed(t, body)); w.Code != http.StatusOK {
			t.Fatal(w.Code)
		}
	}
	for _, n := range f.received {
		checkStatus(t, n, "CANCELLED")
	}
	if f.count() != 2 {
		t.Errorf("%d calls", f.count())
	}
}

// The order in which confirming and de-duplicating are put together changes the
// cost and not the result, even when the state changes in between.
func TestConfirmOutsideDeduplicate(t *testing.T) {
	t.Parallel()
	client, service := newAPI(t, 0, "")
	answers := []string{agreementData, withStatus("SUSPENDED")}
	service.handler = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(answers[0]))
		answers = answers[1:]
	}
	f := new(calls)
	handle := webhooks.ConfirmWith(client, webhooks.Deduplicate(new(webhooks.MemoryStore), f.handle))
	for range 2 {
		if err := handle(t.Context(), parse(t, confirmedBody)); err != nil {
			t.Error(err)
		}
	}
	if f.count() != 1 {
		t.Errorf("%d calls", f.count())
	}
}
