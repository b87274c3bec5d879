package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// service is a small service with a ledger of its own. Each request is one step: it is carried
// out, and its answer may be used at a later step only.
type service struct {
	script
	ledger []*entry
	posts  []post
	keys   map[string]*entry
	order  func() int // numbers what happens
}

// script is the faults of the service.
type script struct {
	lose    map[int]bool   // the answers to these writes are lost, after they were carried out
	refuse  map[int]answer // these writes are carried out, and something in front of it refuses them
	decline map[int]bool
	fail    map[int]bool // these writes do not reach it
	limit   map[int]bool // these writes are refused with 429 and not carried out
	hidden  bool         // look-ups do not show what was written
	settled bool         // nothing can be voided any more
	forgets bool         // no key is kept
}

type answer struct {
	status int
	body   string
}

// entry is a transaction.
type entry struct {
	receipt, kind, order, original, reference, key string
	amount                                         decimal.Decimal
	status                                         string
	hidden                                         bool
	body                                           map[string]any
}

func (e *entry) approved() bool { return e.status == "Approved" }

// post is a write that came in.
type post struct {
	key string
	at  int
}

func newService(order func() int) *service { return &service{keys: map[string]*entry{}, order: order} }

// copied returns the service with a ledger of its own.
func (s *service) copied() *service {
	c := *s
	c.ledger, c.keys, c.posts = nil, map[string]*entry{}, slices.Clone(s.posts)
	for _, e := range s.ledger {
		copied := *e
		copied.body = maps.Clone(e.body)
		c.ledger = append(c.ledger, &copied)
		if e.key != "" {
			c.keys[e.key] = &copied
		}
	}
	return &c
}

// show shows what was hidden, as a look-up does after a while.
func (s *service) show() {
	s.hidden = false
	for _, e := range s.ledger {
		e.hidden = false
	}
}

type turnKey struct{}

// turnOf returns the turn of the actor that acts, or nil outside of a schedule.
func turnOf(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}

var errLost = errors.New("the connection was reset")

// wire brings requests to the service of the schedule that runs.
type wire struct{ service func() *service }

// RoundTrip is a step.
func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	t := turnOf(r.Context())
	if strings.HasSuffix(r.URL.Path, "/businesses") {
		t = nil // which a process reads once, and which never changes
	}
	if t != nil {
		t.Yield()
	}
	status, body, err := w.service().handle(r)
	if t != nil {
		if r.Method == http.MethodGet {
			t.Reads("service")
		} else {
			t.Writes("service")
		}
		t.Says(fmt.Sprintf("%s %s: %d", r.Method, strings.TrimPrefix(r.URL.Path, "/rest/v1"), status))
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}, nil
}

const none = `{"status":404,"developerMessage":"there is no such thing","customerMessage":"not found"}`

func (s *service) handle(r *http.Request) (int, []byte, error) {
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/rest/v1/"), "/")
	if path[0] != "transactions" {
		return http.StatusNotFound, []byte(none), nil
	}
	if r.Method == http.MethodPost {
		return s.write(r, path[1:])
	}
	all := func(keep func(*entry) bool) []byte {
		found := []any{}
		for _, e := range s.ledger {
			if !e.hidden && keep(e) {
				found = append(found, e.shown())
			}
		}
		text, _ := json.Marshal(map[string]any{"data": found})
		return text
	}
	switch {
	case len(path) == 1:
		return http.StatusOK, all(func(*entry) bool { return false }), nil
	case path[1] == "for-reference-number":
		wanted := r.URL.Query().Get("referenceNumber")
		return http.StatusOK, all(func(e *entry) bool { return e.reference == wanted || e.receipt == wanted }), nil
	case path[1] == "for-settlement-date":
		date := r.URL.Query().Get("settlementDate")
		return http.StatusOK, all(func(e *entry) bool { return e.body["settlementDate"] == date }), nil
	case len(path) == 3 && path[2] == "refunds":
		return http.StatusOK, all(func(e *entry) bool { return e.kind == "REFUND" && e.original == path[1] }), nil
	}
	for _, e := range s.ledger {
		if e.receipt == path[1] && !e.hidden {
			text, _ := json.Marshal(e.shown())
			return http.StatusOK, text, nil
		}
	}
	return http.StatusNotFound, []byte(none), nil
}

// shown is an entry as the service answers it.
func (e *entry) shown() map[string]any {
	e.body["status"] = e.status
	e.body["summaryCode"] = map[string]string{"Approved": "0", "Declined": "1", "Voided": "0"}[e.status]
	return e.body
}

// write carries out a transaction or a void.
func (s *service) write(r *http.Request, path []string) (int, []byte, error) {
	number := len(s.posts)
	if s.fail[number] {
		s.posts = append(s.posts, post{"", s.order()})
		return 0, nil, errLost
	}
	key := ""
	for name, values := range r.Header { // in the letters in which it was sent
		if strings.EqualFold(name, "Idempotency-Key") {
			key = strings.Join(values, "")
		}
	}
	if s.limit[number] {
		s.posts = append(s.posts, post{"", s.order()})
		return http.StatusTooManyRequests, []byte(`{"status":429,"developerMessage":"slow down","customerMessage":"no"}`), nil
	}
	s.posts = append(s.posts, post{key, s.order()})
	e := s.keys[key]
	if key == "" || e == nil || s.forgets {
		var status int
		var words string
		if e, status, words = s.carryOut(r, path, number); e == nil {
			return status, []byte(fmt.Sprintf(`{"status":%d,"developerMessage":%q,"customerMessage":"no"}`, status, words)), nil
		}
		if e.key = key; key != "" {
			s.keys[key] = e
		}
	}
	if s.lose[number] {
		return 0, nil, errLost
	}
	if a, refused := s.refuse[number]; refused {
		return a.status, []byte(a.body), nil
	}
	text, _ := json.Marshal(e.shown())
	return http.StatusCreated, text, nil
}

// carryOut returns the transaction, or why there is none.
func (s *service) carryOut(r *http.Request, path []string, number int) (e *entry, status int, words string) {
	find := func(receipt string) *entry {
		i := slices.IndexFunc(s.ledger, func(e *entry) bool { return e.receipt == receipt })
		if i < 0 {
			return nil
		}
		return s.ledger[i]
	}
	if len(path) == 2 { // a void
		e = find(path[0])
		if e == nil || !e.approved() || s.settled || s.refunded(e).IsPositive() {
			return nil, http.StatusUnprocessableEntity, "it cannot be voided"
		}
		e.status = "Voided"
		return e, 0, ""
	}
	var body map[string]any
	read := json.NewDecoder(r.Body)
	read.UseNumber()
	if err := read.Decode(&body); err != nil {
		return nil, http.StatusBadRequest, "no JSON"
	}
	principal, _ := body["principalAmount"].(json.Number)
	amount, err := decimal.NewFromString(principal.String())
	if err != nil {
		return nil, http.StatusBadRequest, "no amount"
	}
	text := func(name string) string { s, _ := body[name].(string); return s }
	metadata, _ := body["metadata"].(map[string]any)
	e = &entry{
		receipt: fmt.Sprint(1000 + len(s.ledger)), kind: text("transactionType"), original: text("originalReceiptNumber"),
		reference: text("paymentReferenceNumber"), amount: amount,
		status: "Approved", hidden: s.hidden, body: body,
	}
	e.order, _ = metadata["quickstreamOrder"].(string)
	if original := find(e.original); e.kind == "REFUND" {
		if original == nil || !original.approved() {
			return nil, http.StatusUnprocessableEntity, "there is nothing to refund"
		}
		e.order = original.order // that refunds are not too high is for the engine to see to
	}
	if s.decline[number] {
		e.status = "Declined"
	}
	body["receiptNumber"], body["settlementDate"] = e.receipt, settlement
	body["principalAmount"] = map[string]any{"amount": json.Number(e.amount.String()), "currency": text("currency")}
	body["totalAmount"] = body["principalAmount"]
	body["voidable"], body["refundable"] = !s.settled, true
	s.ledger = append(s.ledger, e)
	return e, 0, ""
}

func (s *service) refunded(of *entry) (sum decimal.Decimal) {
	for _, e := range s.ledger {
		if e.kind == "REFUND" && e.original == of.receipt && e.approved() {
			sum = sum.Add(e.amount)
		}
	}
	return sum
}
