package main

import (
	"bytes"
	"cmp"
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

// row is a request or a webhook delivery on the page of activity.
type row struct {
	ID, State, Class, Title string
	Type, Order, Amount     string
	Outcome                 string
	Notes                   []string
	Time                    time.Time
	Detail                  string // address of its detail
}

// activityView is what the page of activity shows.
type activityView struct {
	Find   string
	Now    time.Time
	Rows   []row
	Ledger []sandbox.Entry
}

func (p *pages) activity(r *http.Request) any {
	find := r.URL.Query().Get("find")
	v := activityView{Find: find, Now: p.box.Now()}
	for _, r := range p.box.Requests() {
		if contains(find, r.Operation, r.Method+" "+unescaped(r.Path), r.IdempotencyKey, r.Fault, string(r.Body), string(r.Answer)) {
			v.Rows = append(v.Rows, p.requestRow(r))
		}
	}
	for _, d := range p.box.Deliveries() {
		if contains(find, d.ID, d.EventType, d.State, string(d.Body)) {
			v.Rows = append(v.Rows, p.deliveryRow(d))
		}
	}
	slices.SortStableFunc(v.Rows, func(a, b row) int { return b.Time.Compare(a.Time) })
	v.Rows = v.Rows[:min(len(v.Rows), rowsShown)]
	for _, e := range slices.Backward(p.box.Ledger()) {
		if len(v.Ledger) < rowsShown && contains(find, e.ReceiptNumber, e.OriginalReceiptNumber, e.Type, e.Outcome, e.CustomerReferenceNumber, e.PaymentReferenceNumber, e.AgreementToken, e.IdempotencyKey) {
			v.Ledger = append(v.Ledger, e)
		}
	}
	return v
}

// contains reports whether one of the texts contains a part, in any case.
func contains(part string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(part)) })
}

func (p *pages) requestRow(r sandbox.Request) row {
	h := row{
		ID: "request-" + strconv.Itoa(r.Number), Title: cmp.Or(r.Operation, r.Method+" "+p.veiled(unescaped(r.Path))), Time: r.Time,
		State: "no answer", Class: "s" + strconv.Itoa(r.Status/100), Detail: controlPath + "/detail?request=" + strconv.Itoa(r.Number),
	}
	if r.Status != 0 {
		h.State = strconv.Itoa(r.Status)
	}
	if r.Operation == paymentOperation {
		p.describe(&h, r)
	}
	if r.Committed && (r.Status == 0 || r.Status >= http.StatusMultipleChoices) {
		h.Notes = append(h.Notes, "processed, although the answer does not say so")
	}
	if r.Replayed {
		h.Notes = append(h.Notes, "repeated the answer to this idempotency key")
	}
	if r.Fault != "" {
		h.Notes = append(h.Notes, "fault: "+r.Fault)
	}
	return h
}

// describe adds the details of a request for a transaction and of its answer. It leaves out what it cannot read.
func (p *pages) describe(h *row, r sandbox.Request) {
	var sent, answered struct {
		Type     string      `json:"transactionType"`
		Order    string      `json:"customerReferenceNumber"`
		Original string      `json:"originalReceiptNumber"`
		Amount   json.Number `json:"principalAmount"`
		Currency string      `json:"currency"`
		Status   string      `json:"status"`
		Receipt  string      `json:"receiptNumber"`
	}
	_, _ = json.Unmarshal(r.Body, &sent), json.Unmarshal(r.Answer, &answered)
	h.Type, h.Order = p.veiled(sent.Type), p.veiled(sent.Order)
	if h.Order == "" && sent.Original != "" {
		h.Order = p.veiled("of " + sent.Original)
	}
	if amount, err := sent.Amount.Float64(); err == nil {
		h.Amount = p.veiled(fmt.Sprintf("%.2f %s", amount, sent.Currency))
	}
	if answered.Receipt != "" {
		h.Outcome = p.veiled(answered.Status)
	}
}

func (p *pages) deliveryRow(d sandbox.Delivery) row {
	h := row{ID: "delivery-" + d.ID, Title: d.EventType, Type: "webhook", State: d.State, Class: d.State, Detail: controlPath + "/detail?delivery=" + d.ID, Time: p.box.Now()}
	if d.State == "done" {
		h.State = "delivered"
	}
	if len(d.Attempts) == 0 {
		return h
	}
	last := d.Attempts[len(d.Attempts)-1]
	h.Time = d.Attempts[0].Time
	if last.Status != 0 {
		h.Notes = append(h.Notes, "answered "+strconv.Itoa(last.Status))
	} else {
		h.Notes = append(h.Notes, p.veiled(last.Error[strings.LastIndex(last.Error, ": ")+1:]))
	}
	if n := len(d.Attempts); n > 1 {
		h.Notes = append(h.Notes, fmt.Sprintf("%d attempts", n))
	}
	if last.SignatureError != "" {
		h.Notes = append(h.Notes, "signature not valid: "+last.SignatureError)
	}
	return h
}

// detail returns the request or the delivery that the page is asked for.
func (p *pages) detail(r *http.Request) any {
	var found struct {
		Request  *sandbox.Request
		Delivery *sandbox.Delivery
	}
	request, delivery := r.URL.Query().Get("request"), r.URL.Query().Get("delivery")
	for _, r := range p.box.Requests() {
		if strconv.Itoa(r.Number) == request {
			found.Request = &r
		}
	}
	for _, d := range p.box.Deliveries() {
		if d.ID == delivery {
			found.Delivery = &d
		}
	}
	return found
}

// functions returns the functions of the templates.
func (p *pages) functions() template.FuncMap {
	return template.FuncMap{
		"money":  func(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) },
		"when":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"short":  func(t time.Time) string { return t.UTC().Format("2 Jan 15:04:05") },
		"veiled": p.veiled,
		"body":   p.body,
		"path":   unescaped,
		"lower":  strings.ToLower,
	}
}

// unescaped decodes the escapes of a path, which could hide a number from masked.
func unescaped(path string) string {
	if text, err := url.PathUnescape(path); err == nil {
		return text
	}
	return path
}

// longNumber has the form of a card number, also in an address.
var longNumber = regexp.MustCompile(`[0-9](?:(?:[ -]|%20)?[0-9]){11,18}`)

// masked returns a text from outside without API keys. It masks every number that may be a card number
// as the service masks it.
func (p *pages) masked(text string) string {
	keys := p.box.Keys()
	text = strings.NewReplacer(keys.Secret, "...", keys.Publishable, "...").Replace(text)
	return longNumber.ReplaceAllStringFunc(text, func(number string) string { return number[:6] + "..." + number[len(number)-3:] })
}

// veiled returns a masked text, cut if it is long.
func (p *pages) veiled(text string) string {
	text = p.masked(text)
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:50]) + "..."
	}
	return text
}

// body returns a masked body, indented if it is JSON.
func (p *pages) body(raw []byte) string {
	var indented bytes.Buffer
	if json.Indent(&indented, raw, "", "  ") == nil {
		raw = indented.Bytes()
	}
	return p.masked(strings.ToValidUTF8(string(raw), "?"))
}
