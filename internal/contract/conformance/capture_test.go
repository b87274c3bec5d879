package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/quickstream-go/quickstream"
)

const (
	baseURL        = "https://quickstream.invalid/rest/v1"
	secretKey      = "made-up-secret"
	publishableKey = "made-up-publishable"
)

var loadDocument = sync.OnceValues(Load)

func document(t testing.TB) *Document {
	t.Helper()
	doc, err := loadDocument()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// answer is what an operation is answered with.
type answer struct {
	status      int
	contentType string
	body        []byte
}

// samples are the hand-written exchanges beside the document.
type samples struct {
	Exchanges []struct {
		Operation   string            `yaml:"operation"`
		Query       map[string]string `yaml:"query"`
		Status      int               `yaml:"status"`
		Body        map[string]any    `yaml:"body"`
		Response    map[string]any    `yaml:"response"`
		ContentType string            `yaml:"contentType"`
		Text        string            `yaml:"text"`
	} `yaml:"exchanges"`
	Error map[string]any `yaml:"error"`
}

func readSamples(t testing.TB) samples {
	t.Helper()
	text, err := os.ReadFile("testdata/samples.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var s samples
	if err := yaml.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// answers are the documented successes of every operation, each with every
// documented member: the samples of one status laid over one another. Booleans
// are true, so that a member which arrives can be told from one that is missing.
func (s samples) answers(t testing.TB, doc *Document) map[string][]answer {
	t.Helper()
	out := map[string][]answer{}
	for _, op := range doc.Operations {
		for _, status := range op.Statuses() {
			if status >= http.StatusMultipleChoices {
				continue
			}
			a := answer{status: status}
			var whole any
			for _, e := range s.Exchanges {
				if e.Operation == op.ID && e.Status == status {
					a.contentType, a.body = e.ContentType, []byte(e.Text)
					if e.Response != nil {
						whole = overlay(whole, e.Response)
					}
				}
			}
			if whole != nil {
				a.contentType, a.body = "application/json", marshal(t, whole)
			}
			out[op.ID] = append(out[op.ID], a)
		}
	}
	return out
}

func overlay(under, over any) any {
	switch over := over.(type) {
	case map[string]any:
		out := map[string]any{}
		below, _ := under.(map[string]any)
		for name, value := range below {
			out[name] = value
		}
		for name, value := range over {
			out[name] = overlay(out[name], value)
		}
		return out
	case []any:
		out := make([]any, len(over))
		for i := range over {
			out[i] = overlay(nil, over[i])
		}
		return out
	case bool:
		return true
	default:
		return over
	}
}

func marshal(t testing.TB, value any) []byte {
	t.Helper()
	body, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// capture stands for the service: it keeps every request and answers with the
// answer that is next for its operation.
type capture struct {
	doc     *Document
	answers map[string]answer
	sent    []request
	given   []byte // the last answer's body
}

// request is one request as it was sent.
type request struct {
	*http.Request
	op   *Operation
	body []byte
}

// RoundTrip implements http.RoundTripper.
func (c *capture) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	op, err := c.doc.Match(r)
	if err != nil {
		return nil, err
	}
	c.sent = append(c.sent, request{r, op, body})
	a, ok := c.answers[op.ID]
	if !ok {
		return nil, errors.New("no answer for " + op.ID)
	}
	if a.contentType == "application/json" {
		a.body = echoed(op, r.URL.Path, body, a.body)
	}
	c.given = a.body
	return &http.Response{
		StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {a.contentType}}, ContentLength: int64(len(a.body)),
		Body: io.NopCloser(bytes.NewReader(a.body)),
	}, nil
}

// echoed makes a sample the answer to a request: it is about what the request names in
// its path and its body.
func echoed(op *Operation, path string, request, sample []byte) []byte {
	var answer, asked map[string]any
	if json.Unmarshal(sample, &answer) != nil {
		return sample
	}
	if _, isError := answer["requestUrl"]; isError {
		answer["requestMethod"], answer["requestUrl"] = op.Method, "https://api.invalid"+path
	}
	values := strings.Split(path, "/")
	names := strings.Split(op.Path, "/")
	for i, name := range names {
		value := values[len(values)-len(names)+i]
		for _, member := range []string{strings.Trim(name, "{}"), "paymentFileId", "paymentBatchId", "paymentScheduleId"} {
			if _, there := answer[member]; there && strings.HasPrefix(name, "{") {
				answer[member] = value
			}
		}
		if name == "{customerId}" {
			ofCustomer(answer, value)
		}
	}
	_ = json.Unmarshal(request, &asked) // there may be none
	echo(answer, asked)
	for name, kind := range map[string]string{"creditCard": "CREDIT_CARD", "bankAccount": "DIRECT_DEBIT", "nzBankAccount": "DIRECT_DEBIT_NZ"} {
		if _, there := answer["accountType"]; there && asked[name] != nil {
			answer["accountType"] = kind
		}
	}
	for _, kind := range []string{"creditCard", "bankAccount", "nzBankAccount"} {
		for _, name := range []string{"accountToken", "customerId"} {
			if account, ok := answer[kind].(map[string]any); ok && asked[name] != nil {
				account[name] = asked[name]
			}
		}
	}
	if _, there := answer["authorisationType"]; there && asked["transactionType"] != nil && asked["authorisationType"] == nil {
		answer["authorisationType"] = "NONE" // it is no top-up, extension or re-authorisation
	}
	if original := asked["originalReceiptNumber"]; original != nil && original == answer["receiptNumber"] {
		answer["receiptNumber"] = "1000000002" // what follows a transaction has a receipt of its own
	}
	if payee, ok := answer["payeeDetails"].(map[string]any); ok && asked != nil {
		echo(payee, map[string]any{"supplierBusinessCode": asked["supplierBusinessCode"]})
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return sample
	}
	return body
}

// ofCustomer makes an agreement, and the items of a list, those of a customer.
func ofCustomer(answer map[string]any, customerID string) {
	if payer, ok := answer["payerDetails"].(map[string]any); ok {
		payer["customerId"] = customerID
	}
	items, _ := answer["data"].([]any)
	for _, item := range items {
		if item, ok := item.(map[string]any); ok {
			ofCustomer(item, customerID)
			echo(item, map[string]any{"customerId": customerID})
		}
	}
}

// echo gives the members of an answer the values of a request's members of that name.
func echo(answer, asked map[string]any) {
	for name, value := range asked {
		if name == "payerReference" { // which an agreement names otherwise
			name = "paymentReference"
		}
		was := answer[name]
		inner, isObject := was.(map[string]any)
		if fields, ok := value.(map[string]any); isObject && ok {
			echo(inner, fields)
		} else if isObject { // an amount
			if text, ok := value.(string); ok {
				value = json.Number(text)
			}
			if value != 0.0 {
				inner["amount"] = value
			}
		} else if was != nil {
			answer[name] = value
		}
	}
}

// newRun returns a client, what to call it with, and the capture that answers it:
// each operation with the first of its documented successes, all of which are
// returned too.
func newRun(t testing.TB) (*run, *capture, map[string][]answer) {
	t.Helper()
	doc := document(t)
	all := readSamples(t).answers(t, doc)
	c := &capture{doc: doc, answers: map[string]answer{}}
	for operation, list := range all {
		c.answers[operation] = list[0]
	}
	client, err := quickstream.NewClient(quickstream.CustomURL(baseURL), quickstream.Keys{
		Secret: quickstream.NewSecretKey(secretKey), Publishable: quickstream.NewPublishableKey(publishableKey),
	}, quickstream.WithHTTPClient(&http.Client{Transport: c}), quickstream.WithMaxAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	r := &run{
		ctx: t.Context(), client: client, values: &values{constants: constants(t)},
		agreement: new(quickstream.Agreement), transaction: new(quickstream.Transaction),
	}
	if err := errors.Join(
		r.agreement.UnmarshalJSON(c.answers["GET /payto-agreements/{agreementToken}"].body),
		r.transaction.UnmarshalJSON(c.answers["GET /transactions/{receiptNumber}"].body),
	); err != nil {
		t.Fatal(err)
	}
	r.agreement.AgreementToken = id("agreementToken")
	r.agreement.Status = quickstream.AgreementStatusActive
	r.agreement.HasPendingBilateralAmendment = false
	r.agreement.PaymentDetails.AutomaticRenewal = false
	return r, c, all
}

// perform makes a call with fresh values.
func (r *run) perform(call clientCall) (any, error) {
	r.next, r.from = 0, map[string]string{}
	return call.do(r)
}

// exchange is a call of the client with the one request that it made.
type exchange struct {
	clientCall
	request
	answer answer
	result any
	from   map[string]string // values sent, and the fields that they are from
}

// everyCall makes every call of the client, once for each documented success.
func everyCall(t testing.TB) []exchange {
	t.Helper()
	r, c, all := newRun(t)
	var made []exchange
	for _, call := range clientCalls(t) {
		if len(all[call.operation]) == 0 {
			t.Errorf("%s: %s is not documented", call.method, call.operation)
		}
		for _, a := range all[call.operation] {
			c.sent, c.answers[call.operation] = nil, a
			result, err := r.perform(call)
			a.body = c.given
			if err != nil && (a.status != http.StatusAccepted || !errors.Is(err, quickstream.ErrReportNotReady)) {
				t.Errorf("%s %s: %v", call.method, call.form, err)
			}
			if len(c.sent) != 1 || c.sent[0].op.ID != call.operation {
				t.Errorf("%s %s: %d requests, want one of %s", call.method, call.form, len(c.sent), call.operation)
				continue
			}
			made = append(made, exchange{call, c.sent[0], a, result, r.from})
		}
	}
	if len(r.problems) > 0 {
		slices.Sort(r.problems)
		t.Errorf("fields without a value: %v", slices.Compact(r.problems))
	}
	return made
}
