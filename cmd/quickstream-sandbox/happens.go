package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

const (
	rowsShown        = 50 // of each list, the newest first
	paymentOperation = "POST /transactions"
)

// happening is a request or a delivery, as one row of a page.
type happening struct {
	ID, Title, Class, State string
	Order, Amount, Outcome  string
	Notes                   []string
	Time                    time.Time
	Detail                  string // address of its detail
}

// Version changes when the row does.
func (h happening) Version() string { return h.State + strings.Join(h.Notes, " ") + h.Outcome }

// happensView is what the page shows.
type happensView struct {
	Find   string
	Now    time.Time
	Ahead  int64 // milliseconds
	Rows   []happening
	Ledger []sandbox.Entry
	Start  string // a command to begin with
}

func (p *pages) happens(r *http.Request) any {
	find := r.URL.Query().Get("find")
	v := happensView{Find: find, Now: p.box.Now(), Ahead: time.Until(p.box.Now()).Round(time.Millisecond).Milliseconds(), Start: firstPayment}
	for _, r := range p.box.Requests() {
		if contains(find, r.Operation, r.Method+" "+unescaped(r.Path), r.IdempotencyKey, r.Fault, string(r.Body), string(r.Answer)) {
			v.Rows = append(v.Rows, p.ofRequest(r))
		}
	}
	for _, d := range p.box.Deliveries() {
		if contains(find, d.ID, d.EventType, d.State, string(d.Body)) {
			v.Rows = append(v.Rows, p.ofDelivery(d))
		}
	}
	slices.SortStableFunc(v.Rows, func(a, b happening) int { return b.Time.Compare(a.Time) })
	v.Rows = v.Rows[:min(len(v.Rows), rowsShown)]
	for _, e := range slices.Backward(p.box.Ledger()) {
		if len(v.Ledger) < rowsShown && contains(find, e.Receipt, e.OriginalReceipt, e.Type, e.Outcome, e.CustomerReferenceNumber, e.PaymentReferenceNumber, e.AgreementToken, e.IdempotencyKey) {
			v.Ledger = append(v.Ledger, e)
		}
	}
	return v
}

// firstPayment makes a payment with the variables that the start prints.
const firstPayment = `curl -u "$QUICKSTREAM_SECRET_KEY:" -H 'Content-Type: application/json' -d '{"transactionType":"PAYMENT","supplierBusinessCode":"SANDBOX01",` +
	`"principalAmount":10.50,"currency":"AUD","eci":"MAIL","customerReferenceNumber":"ORDER-1","storedCredentialData":{"entryMode":"MANUAL"},` +
	`"creditCard":{"cardNumber":"4242424242424242","expiryDateMonth":"12","expiryDateYear":"2099"}}' $QUICKSTREAM_ENVIRONMENT/transactions`

// payByCard makes such a payment with a test card.
func (p *pages) payByCard(ctx context.Context, number string) error {
	return p.pay(ctx, "CLICK-"+rand.Text()[:8], object{
		"eci": "MAIL", "storedCredentialData": object{"entryMode": "MANUAL"},
		"creditCard": object{"cardNumber": number, "expiryDateMonth": "12", "expiryDateYear": "2099"},
	})
}

func (p *pages) ofRequest(r sandbox.Request) happening {
	h := happening{
		ID: "request-" + strconv.Itoa(r.Number), Title: cmp.Or(r.Operation, r.Method+" "+p.veiled(unescaped(r.Path))), Time: r.Time,
		State: "no answer", Class: "s" + strconv.Itoa(r.Status/100), Detail: controlPath + "/detail?request=" + strconv.Itoa(r.Number),
	}
	if r.Status != 0 {
		h.State = strconv.Itoa(r.Status)
	}
	var sent, answered struct {
		Order           string `json:"customerReferenceNumber"`
		PrincipalAmount any    `json:"principalAmount"`
		Currency        string `json:"currency"`
		Status          string `json:"status"`
		Receipt         string `json:"receiptNumber"`
	}
	if r.Operation == paymentOperation && json.Unmarshal(r.Body, &sent) == nil {
		h.Order = p.veiled(sent.Order)
		if sent.PrincipalAmount != nil {
			h.Amount = p.veiled(fmt.Sprintf("%v %s", sent.PrincipalAmount, sent.Currency))
		}
		if json.Unmarshal(r.Answer, &answered) == nil && answered.Receipt != "" {
			h.Outcome = p.veiled(answered.Status)
		}
	}
	if r.Committed && (r.Status == 0 || r.Status >= http.StatusMultipleChoices) {
		h.Notes = append(h.Notes, "carried out all the same")
	}
	if r.Replayed {
		h.Notes = append(h.Notes, "replayed")
	}
	if r.Fault != "" {
		h.Notes = append(h.Notes, r.Fault)
	}
	return h
}

func (p *pages) ofDelivery(d sandbox.Delivery) happening {
	h := happening{ID: "delivery-" + d.ID, Title: d.EventType, State: d.State, Class: d.State, Detail: controlPath + "/detail?delivery=" + d.ID, Time: p.box.Now()}
	if len(d.Attempts) == 0 {
		return h
	}
	last := d.Attempts[len(d.Attempts)-1]
	h.Time = d.Attempts[0].Time
	h.Notes = append(h.Notes, fmt.Sprintf("attempts: %d", len(d.Attempts)))
	if last.Status != 0 {
		h.Notes = append(h.Notes, "answered "+strconv.Itoa(last.Status))
	} else {
		h.Notes = append(h.Notes, p.veiled(last.Error))
	}
	if last.SignatureError != "" {
		h.Notes = append(h.Notes, "signature not valid: "+last.SignatureError)
	}
	return h
}

// detail is the request or the delivery that a page was asked for.
func (p *pages) detail(r *http.Request) any {
	var found struct {
		Request  *sandbox.Request
		Delivery *sandbox.Delivery
	}
	number, _ := strconv.Atoi(r.URL.Query().Get("request"))
	for _, request := range p.box.Requests() {
		if request.Number == number {
			found.Request = &request
		}
	}
	if d, err := p.find(r.URL.Query().Get("delivery")); err == nil {
		found.Delivery = &d
	}
	return found
}

// functions are those of the templates.
func (p *pages) functions() template.FuncMap {
	return template.FuncMap{
		"money":  func(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) },
		"when":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"veiled": p.veiled,
		"body":   p.body,
		"path":   unescaped,
		"lower":  strings.ToLower,
	}
}

// unescaped is a path in which nothing hides in an escape.
func unescaped(path string) string {
	if text, err := url.PathUnescape(path); err == nil {
		return text
	}
	return path
}

// longNumber has the form of a card number, also in an address.
var longNumber = regexp.MustCompile(`[0-9](?:(?:[ -]|%20)?[0-9]){11,18}`)

// masked is a text from outside without keys, and with numbers that may be those of cards masked as
// the service masks them, wherever they stand.
func (p *pages) masked(text string) string {
	keys := p.box.Keys()
	text = strings.NewReplacer(keys.Secret, "...", keys.Publishable, "...").Replace(text)
	return longNumber.ReplaceAllStringFunc(text, func(number string) string { return number[:6] + "..." + number[len(number)-3:] })
}

// veiled is a masked text that is not long.
func (p *pages) veiled(text string) string {
	text = p.masked(text)
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:50]) + "..."
	}
	return text
}

// body is a masked body, indented if it is JSON.
func (p *pages) body(raw []byte) string {
	var indented bytes.Buffer
	if json.Indent(&indented, raw, "", "  ") == nil {
		raw = indented.Bytes()
	}
	return p.masked(strings.ToValidUTF8(string(raw), "?"))
}
