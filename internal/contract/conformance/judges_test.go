//go:build !race

// Not with the race detector: 18,000 requests one after the other have no races to find.

package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// TestSandboxJudgesAsTheDocument makes every request of the samples, and edits every member of
// each, one at a time, and has document and sandbox judge the request. What the document allows
// the sandbox may refuse only for what it knows and the document cannot: stateful tells those
// reasons. What the document forbids it has to refuse, with a finding that names the member. All
// that it answers and posts has to be documented, and each operation has to succeed.
func TestSandboxJudgesAsTheDocument(t *testing.T) {
	doc := document(t)
	j := judgements{recorder: &recorder{doc: doc, answered: map[string]bool{}}}
	for _, e := range readSamples(t).Exchanges {
		op, known := doc.Operation(e.Operation)
		if !known || strings.HasPrefix(op.ID, "WEBHOOK") {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			switch p := newJudged(t, op, j.recorder, string(marshal(t, e.Body))); {
			case e.Body != nil:
				for _, trial := range trials(t, op, e.Body) {
					status, messages := p.send(trial.body)
					j.compare(op, trial, op.ValidateRequestBody("application/json", trial.body), status, messages)
				}
			case e.Query != nil:
				for _, trial := range queries(op, e.Query) {
					r := rawRequest(t.Context(), t, p.box, op.Method, p.path()+"?"+string(trial.body), nil, "Accept", "text/plain")
					status, answered := roundTrip(t, p.recorder, r)
					if trial.path == "status" && bytes.Contains(answered, []byte(`"data":[]`)) {
						status = http.StatusNotFound // a status that agreements cannot have finds none
					}
					j.compare(op, trial, op.ValidateRequest(r), status, p.messages(status, answered))
				}
			case e.Text != "":
				p.call(op.Method, p.path(), nil, "Accept", "*/*")
			case op.ID != "POST /payment-files": // which path does
				p.call(op.Method, p.path(), nil)
			}
		})
	}
	for _, op := range doc.Operations {
		if _, excepted := foundNothing[op.ID]; j.answered[op.ID] == excepted {
			t.Errorf("%s: succeeded is %t; one that never does is listed in foundNothing, and no other", op.ID, j.answered[op.ID])
		}
	}
	j.report(t)
}

// foundNothing are operations whose sample names what a new facility has nothing of. What they list
// is answered by others.
var foundNothing = map[string]bool{
	"GET /transactions/for-account-token": true, "GET /transactions/for-reference-number": true, "GET /transactions/for-settlement-date": true,
}

// queries are the query of a sample as it is, and without each parameter, with it twice, with
// its name misspelt, and with other values.
func queries(op *Operation, sample map[string]string) []trial {
	query := url.Values{}
	for name, value := range sample {
		query.Set(name, value)
	}
	out := []trial{{"", "as it is", []byte(query.Encode())}}
	for _, m := range op.Parameters {
		if m.In != "query" {
			continue
		}
		edit := func(what, name string, values ...string) {
			edited := maps.Clone(query)
			delete(edited, m.Name)
			edited[name] = values
			out = append(out, trial{m.Name, m.Name + " " + what, []byte(edited.Encode())})
		}
		edit("left out", m.Name)
		edit("twice", m.Name, sample[m.Name], sample[m.Name])
		edit("misspelt", m.Name+"X", sample[m.Name])
		for _, value := range append(oddTexts(), m.Values...) {
			edit("as "+value, m.Name, value)
		}
	}
	return out
}

// judgements are what document and sandbox have said about requests, and what the sandbox has
// answered. Problems are reported at the end, because a bubble that fails is the last.
type judgements struct {
	*recorder
	allowed, forbidden int
}

// compare notes where the sandbox's answer differs from what the document says.
func (j *judgements) compare(op *Operation, tr trial, forbidden error, status int, messages []string) {
	problem := func(what string) {
		j.problem(fmt.Sprintf("%s, %s: %s: %d %v\n%s\n%v", op.ID, tr.edit, what, status, messages, tr.body, forbidden))
	}
	reasons := slices.DeleteFunc(slices.Clone(messages), isStateful)
	refused := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	switch {
	case forbidden == nil && refused && (len(reasons) > 0 || len(messages) == 0):
		problem("the document allows it, the sandbox does not")
	case forbidden == nil:
		j.allowed++
	case !refused && (namesMembers(op) || status != http.StatusNotFound):
		problem("the document forbids it, the sandbox does not")
	case namesMembers(op) && !slices.ContainsFunc(messages, tr.isNamed):
		problem("the sandbox does not name it")
	default:
		j.forbidden++
	}
}

// namesMembers reports whether an operation says which members it refuses.
func namesMembers(op *Operation) bool {
	return slices.Contains(op.Statuses(), http.StatusUnprocessableEntity)
}

func (j *judgements) report(t *testing.T) {
	for _, problem := range j.problems {
		t.Error(problem)
	}
	t.Logf("%d requests are allowed by both, %d are forbidden by both", j.allowed, j.forbidden)
}

// stateful are the reasons that the document cannot know, because they are about
// what happened before, what day it is, or what is behind a handle. The sandbox
// takes no card numbers but test numbers, and no names of columns but its own.
var stateful = []string{
	"is not a valid token or has expired", "is not a transaction", "is not a customer", "is not an account", "is not an agreement",
	"is not the code of a business of this facility", "is not one of the vendor's public test card numbers", "the card has expired",
	"needs a single-use token that was authenticated", "must be that of the original transaction", "belongs to another customer",
	"is required for card payments", "is above", "must be the agreement's", "is not a registered PayID",
	"must be the full original amount", "of a PayTo payment", "is only for transactions of a card", "is too large", "names a column twice or one that", "must be the public IP address of the customer",
}

func isStateful(message string) bool {
	return slices.ContainsFunc(stateful, func(reason string) bool { return strings.Contains(message, reason) })
}

// trial is a request that differs from a sample in one member.
type trial struct {
	path string // of the member; empty for the sample as it is
	edit string
	body []byte // or query
}

// isNamed reports whether a message is about the member or one in it, or about another
// member that is refused because of it.
func (tr trial) isNamed(message string) bool {
	field, text, _ := strings.Cut(message, " ")
	parent, name := "", tr.path
	if i := strings.LastIndexByte(name, '.') + 1; i > 0 {
		parent, name = name[:i], name[i:]
	}
	return field == tr.path || field == tr.path+"X" || strings.HasPrefix(field, tr.path+".") ||
		strings.Contains(text, name) || dependents[name] != "" && field == parent+dependents[name]
}

// dependents are the members that are refused if they do not fit the value of another one.
var dependents = map[string]string{
	"agreementCreationType": "paymentDetails.additionalInformation",
	"agreementType":         "lastPaymentAmount",
	"authorisationType":     "originalReceiptNumber",
	"eci":                   "ipAddress",
	"frequency":             "pointInTime",
	"statusCode":            "reasonCode",
}

// trials are the sample as it is, without each of its members, with other values of
// each, and with each member that only other forms of the request have.
func trials(t *testing.T, op *Operation, body map[string]any) []trial {
	t.Helper()
	whole := marshal(t, body)
	out := []trial{{"", "as it is", whole}}
	variant, _ := op.RequestVariant(whole)
	documented := map[string][]string{}
	for _, m := range variant.Members {
		documented[m.Path] = m.Values
		if n := len(m.Values); n > 0 && m.Values[0] == "01" {
			documented[m.Path] = append(m.Values, fmt.Sprintf("%02d", n+1))
		}
		if n := m.MaxLength; n > 0 {
			documented[m.Path] = append(m.Values, strings.Repeat("x", n), strings.Repeat("x", n+1), strings.Repeat("1", n), strings.Repeat("é", n))
		}
	}
	edited := paths("", body)
	for _, v := range op.RequestVariants() {
		for _, m := range v.Members {
			if _, there := body[m.Path]; !there && !strings.ContainsAny(m.Path, ".[") && !slices.Contains(edited, m.Path) {
				edited = append(edited, m.Path)
			}
		}
	}
	for _, path := range edited {
		edit := func(what string, change func(parent map[string]any, name string)) {
			var keys []any
			for name := range strings.SplitSeq(path, ".") {
				keys = append(keys, name)
			}
			out = append(out, trial{path, path + " " + what, changed(t, body, keys, change)})
		}
		if _, inner := body[strings.Split(path, ".")[0]]; !inner {
			edit("added", func(parent map[string]any, name string) { parent[name] = true })
			continue
		}
		edit("left out", remove)
		edit("misspelt", misspell)
		for _, value := range append(odd(), texts(documented[path])...) {
			edit(fmt.Sprintf("as %.40v", value), func(parent map[string]any, name string) { parent[name] = value })
		}
	}
	return out
}

// paths are the members of a body and of the objects in it.
func paths(prefix string, body map[string]any) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(body)) {
		out = append(out, prefix+name)
		if inner, ok := body[name].(map[string]any); ok {
			out = append(out, paths(prefix+name+".", inner)...)
		}
	}
	return out
}

// odd are values of every type, and texts of every form that a member has. What
// null means is nowhere stated.
func odd() []any {
	out := []any{
		true,
		[]any{},
		map[string]any{},
		json.Number("-1"), json.Number("0"), json.Number("1.5"), json.Number("32"), json.Number("7201"), json.Number("0.001"), json.Number("1000000000000000000"),
	}
	return append(out, texts(oddTexts())...)
}

func oddTexts() []string {
	return []string{
		"", "x", "é", "a\nb", "0", "01", "09", "036", "1234", "12345", "032002", "032-002", "1234567", "999999999", "1234567890",
		"999999999999999", "1234567890123456",
		"1.5", "1.50", "1.505", "-1.50", "0.00", "2028-02-29", "2026-02-30", "20280229", "0400 000 000", "192.0.2.1",
		strings.Repeat("x", 36), strings.Repeat("x", 101), strings.Repeat("x", 300),
	}
}

func texts(values []string) []any {
	var out []any
	for _, value := range values {
		out = append(out, value)
	}
	return out
}

// judged is a facility in which the samples of an operation are true: what they
// name exists, and nothing stands in their way.
type judged struct {
	*testing.T
	*recorder
	box       *sandbox.Sandbox
	op        *Operation
	customer  string
	account   string
	sample    string
	customers int // made so far, as are files
	files     int
}

func newJudged(t *testing.T, op *Operation, r *recorder, sample string) *judged {
	t.Helper()
	p := &judged{T: t, op: op, recorder: r, sample: sample, box: sandbox.New(
		sandbox.WithBusiness("BUSINESSONE", "The Shop"),
		sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
			a.RefundBeforeCutOff, a.TermsEnforced = true, false
		}),
	)}
	t.Cleanup(p.box.Close)
	p.inner = p.box.HTTPClient().Transport
	if err := p.box.Subscribe(sandbox.Subscription{Handler: r, Secret: "made-up", Scheme: signature.AssumedHMAC{}}); err != nil {
		t.Fatal(err)
	}
	p.customer = p.made("POST", "/customers", object{"customerNumber": "C-0", "customerName": "Sam Sample"}, "customerId")
	p.account = p.made("POST", "/customers/"+p.customer+"/accounts", object{"creditCard": p.card(visa)}, "accountToken")
	return p
}

func (p *judged) card(number string) object {
	return object{"cardNumber": number, "expiryDateMonth": "01", "expiryDateYear": "2031"}
}

// send sends a body to the operation, with what it names made again, and returns
// the status and the messages of the answer.
func (p *judged) send(body []byte) (status int, messages []string) {
	p.Helper()
	text := string(body)
	for name, make := range map[string]func() string{
		"123456789": func() string { return p.customer },
		"A-1":       func() string { return p.account },
		"T-1":       func() string { return p.token(strings.Contains(text, `"threeDS2":true`), true) },
		"1000001":   p.original,
		"C-100":     func() string { return p.agreement(true) },
	} {
		if strings.Contains(text, `"`+name+`"`) {
			text = strings.ReplaceAll(text, `"`+name+`"`, `"`+make()+`"`)
		}
	}
	if p.op.ID == "POST /customers" { // a number can be taken once
		p.customers++
		text = strings.ReplaceAll(text, `"C-1"`, fmt.Sprintf(`"C-1-%d"`, p.customers))
	}
	status, answered := p.call(p.op.Method, p.path(), []byte(text))
	return status, p.messages(status, answered)
}

// path is that of the operation, with what it names made again.
func (p *judged) path() string {
	path := strings.NewReplacer("{customerId}", p.customer, "{accountToken}", p.account, "{supplierBusinessCode}", "BUSINESSONE", "{firstSixDigits}", "424242").Replace(p.op.Path)
	switch {
	case strings.Contains(path, "{singleUseTokenId}"):
		path = strings.ReplaceAll(path, "{singleUseTokenId}", p.token(true, false))
	case strings.Contains(path, "{agreementToken}"):
		pending := strings.Contains(p.sample, `"RECALL_PAYTO_AGREEMENT"`)
		token := p.agreement(!pending)
		if path = strings.ReplaceAll(path, "{agreementToken}", token); strings.Contains(p.sample, `"RECALL_BILATERAL_AMENDMENT"`) {
			p.made("PATCH", path, object{"updateType": "BILATERAL_AMENDMENT", "bilateralAmendment": object{
				"paymentDetails": object{"automaticRenewal": true}, "paymentTerms": object{"frequency": "MNTH", "agreementType": "VARI", "currency": "AUD"},
			}}, "")
		}
	case strings.Contains(path, "{receiptNumber}"):
		path = strings.ReplaceAll(path, "{receiptNumber}", p.original())
	case strings.Contains(path, "{paymentScheduleId}"):
		path = strings.ReplaceAll(path, "{paymentScheduleId}", p.schedule())
	case strings.Contains(path, "{id}"):
		path = strings.ReplaceAll(path, "{id}", p.file(strings.HasPrefix(path, "/payment-batches/")))
	}
	return path
}

// messages are those of an answer.
func (p *judged) messages(status int, answered []byte) (messages []string) {
	p.Helper()
	var problem struct {
		Errors []struct {
			FieldName string   `json:"fieldName"`
			Messages  []string `json:"messages"`
		} `json:"errors"`
	}
	if status >= http.StatusBadRequest {
		if err := json.Unmarshal(answered, &problem); err != nil {
			p.Errorf("%s: %v", answered, err)
		}
	}
	for _, field := range problem.Errors {
		for _, message := range field.Messages {
			messages = append(messages, field.FieldName+" "+message)
		}
	}
	return messages
}

// token makes a single-use token, for 3D Secure if it is wanted, and may authenticate its card.
func (p *judged) token(threeDS, authenticated bool) string {
	request := p.card(visa)
	maps.Copy(request, object{
		"supplierBusinessCode": "BUSINESSONE", "accountType": "CREDIT_CARD", "threeDS2": threeDS, "browserProfile": object{
			"browserJavaEnabled": true, "browserLanguage": "en-AU", "browserScreenHeight": "1080", "browserScreenWidth": "1920",
			"browserColorDepth": "24", "browserTZ": "-600",
		},
	})
	token := p.made("POST", "/single-use-tokens", request, "singleUseTokenId")
	if threeDS && authenticated {
		category := "01"
		if strings.HasSuffix(p.op.Path, "/accounts") {
			category = "02"
		}
		p.made("POST", "/single-use-tokens/"+token+"/three-ds2-authentication", object{
			"messageCategory": category, "threeDSRequestorAuthenticationInd": "04", "billAddrCity": "Perth",
		}, "")
	}
	return token
}

// original makes the transaction that the sample follows.
func (p *judged) original() string {
	number, preauth := visa, !strings.Contains(p.sample, `"REFUND"`) && strings.HasSuffix(p.op.Path, "/transactions")
	if strings.Contains(p.sample, `"EXTENSION"`) {
		number = mastercard
	}
	request := object{
		"transactionType": "PAYMENT", "supplierBusinessCode": "BUSINESSONE", "principalAmount": json.Number("1000.00"), "currency": "AUD",
		"eci": "PHONE", "creditCard": p.card(number), "storedCredentialData": object{"entryMode": "MANUAL"},
	}
	if preauth {
		request["transactionType"] = "PREAUTH"
	}
	receipt := p.made("POST", "/transactions", request, "receiptNumber")
	if strings.Contains(p.sample, `"REAUTHORISATION"`) {
		<-time.After(6 * 24 * time.Hour) // until it has expired
	}
	return receipt
}

func (p *judged) schedule() string {
	id, err := p.box.CreateSchedule(sandbox.Schedule{
		CustomerID: p.customer, AccountToken: p.account, SupplierBusinessCode: "BUSINESSONE", Amount: 1000, Payments: 3,
	})
	if err != nil {
		p.Fatal(err)
	}
	<-time.After(10 * 24 * time.Hour)
	return id
}

// file uploads a payment file and returns its identifier, or that of its batch.
func (p *judged) file(batch bool) string {
	client, err := quickstream.NewClient(quickstream.CustomURL(p.box.URL()), quickstream.Keys{Secret: quickstream.NewSecretKey(p.box.Keys().Secret)},
		quickstream.WithHTTPClient(&http.Client{Transport: p.recorder}))
	if err != nil {
		p.Fatal(err)
	}
	p.files++
	content := "H,SANDBOX,2000-01-01,2\nA,BUSINESSONE,AUD,10.50,C-1,F-1," + p.account + "\nT,1,10.50\n"
	file, err := client.PaymentFiles.Upload(p.Context(), quickstream.UploadPaymentFileParams{
		FileName: fmt.Sprintf("payments%d.mts", p.files), Format: quickstream.PaymentFileFormatMTSTokens, Content: strings.NewReader(content), Size: int64(len(content)),
	})
	if err != nil {
		p.Fatal(err)
	}
	<-time.After(time.Hour) // in the bubble: it is processed
	if !batch {
		return file.PaymentFileID
	}
	first, err := client.PaymentFiles.Batches(file.PaymentFileID).First(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	return first.PaymentBatchID
}

func (p *judged) agreement(confirmed bool) string {
	token := p.made("POST", "/customers/"+p.customer+"/payto-agreements", object{
		"supplierBusinessCode": "BUSINESSONE",
		"paymentDetails":       object{"purpose": "UTIL", "automaticRenewal": true},
		"paymentTerms":         object{"frequency": "MNTH", "agreementType": "VARI", "currency": "AUD"},
		"payerDetails":         object{"payerType": "PERS", "bsb": "650000", "accountNumber": "123465"},
	}, "agreementToken")
	if confirmed {
		if err := p.box.Payer(token, sandbox.ConfirmAgreement); err != nil {
			p.Fatal(err)
		}
	}
	return token
}

// made sends a request that succeeds and returns a member of its answer.
func (p *judged) made(method, path string, body object, member string) string {
	p.Helper()
	status, answered := p.call(method, path, marshal(p, body))
	var out map[string]any
	if status >= http.StatusMultipleChoices || member != "" && json.Unmarshal(answered, &out) != nil {
		p.Fatalf("%s %s: %d %s", method, path, status, answered)
	}
	text, _ := out[member].(string)
	return text
}

func (p *judged) call(method, path string, body []byte, header ...string) (status int, answered []byte) {
	p.Helper()
	return roundTrip(p, p.recorder, rawRequest(p.Context(), p, p.box, method, path, body, header...))
}
