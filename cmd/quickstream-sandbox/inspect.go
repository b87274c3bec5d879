package main

import (
	"bytes"
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

// filter says which rows a page shows.
type filter struct {
	Find string // part of what is recorded
	Show string // of requests: all, done, refused, failed, unanswered or faults
}

// shows are the values of Show.
func (filter) Shows() []string {
	return []string{"all", "done", "refused", "failed", "unanswered", "faults"}
}

func filterOf(r *http.Request) filter {
	q := r.URL.Query()
	return filter{q.Get("find"), q.Get("show")}
}

func (f filter) request(r sandbox.Request) bool {
	switch {
	case f.Show == "done" && !r.Committed,
		f.Show == "refused" && r.Status/100 != 4,
		f.Show == "failed" && r.Status/100 != 5,
		f.Show == "unanswered" && r.Status != 0,
		f.Show == "faults" && r.Fault == "":
		return false
	}
	return contains(f.Find, r.Operation, r.Method+" "+unescaped(r.Path), r.IdempotencyKey, r.Fault, string(r.Body), string(r.Answer))
}

func (f filter) transaction(e sandbox.Entry) bool {
	return contains(f.Find, e.Receipt, e.OriginalReceipt, e.Type, e.Outcome, e.CustomerReferenceNumber, e.PaymentReferenceNumber, e.AgreementToken, e.IdempotencyKey)
}

func (f filter) delivery(d sandbox.Delivery) bool {
	return contains(f.Find, d.ID, d.EventType, string(d.State), string(d.Body))
}

// kept are the elements of a list that a filter shows.
func kept[S ~[]T, T any](list S, shows func(T) bool) S {
	return slices.DeleteFunc(list, func(e T) bool { return !shows(e) })
}

// inspected is the request or the delivery that a page was asked for.
func (p *pages) inspected(r *http.Request) any {
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
		"last": func(list []sandbox.Attempt) *sandbox.Attempt {
			if len(list) == 0 {
				return nil
			}
			return &list[len(list)-1]
		},
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

// masked is a text from outside without keys, and with numbers that may be those of cards
// masked as the service masks them, wherever they stand.
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
