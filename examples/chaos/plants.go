package main

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

	"github.com/quickstream-go/quickstream"
)

// What a client has to make of an answer with one member changed.
const (
	taken   = "taken"   // as it is without the change
	settles = "settled" // the outcome is known
	isOpen  = "open"    // the answer counts, and nobody knows the outcome
	refused = "refused" // a write is unknown, and a read or an item cannot be read
)

// plant is a member that decides, with what the contract makes of another value in its
// place and of its absence. Of another type, named twice or in another case it makes
// every answer worthless.
type plant struct {
	member        string
	value         string // the other value, as JSON; "" tries none
	other, absent string
}

// plants is the table of what is planted in the answers of each operation. What was
// sent and comes back has to agree; what is left out says nothing, unless it is who or
// what was asked for.
func plants() map[string][]plant {
	payment := []plant{
		{"transactionType", `"CAPTURE"`, refused, taken},
		{"status", `"Pending"`, isOpen, isOpen},
		{"summaryCode", `"2"`, isOpen, isOpen},
		{"responseCode", `"34"`, isOpen, taken},
		{"principalAmount", `{"amount":0.01,"currency":"AUD"}`, refused, taken},
		{"principalAmount.currency", `"NZD"`, refused, taken},
		{"metadata", `{"intentId":"ANOTHER"}`, refused, taken},
	}
	asked := []plant{ // answers to these may be about any amount
		{"transactionType", "", "", taken},
		{"status", `"Pending"`, isOpen, isOpen},
		{"summaryCode", `"2"`, isOpen, isOpen},
		{"responseCode", `"34"`, isOpen, taken},
		{"principalAmount.currency", "", "", taken},
		{"totalAmount", "", "", taken},
		{"metadata", "", "", taken},
	}
	return map[string][]plant{
		"pay":       append(slices.Clone(payment), plant{"receiptNumber", `"ANOTHER"`, taken, refused}, plant{"paymentReferenceNumber", `"ANOTHER"`, refused, taken}),
		"refund":    append(slices.Clone(payment), plant{"receiptNumber", `"ANOTHER"`, taken, refused}, plant{"originalReceiptNumber", `"ANOTHER"`, refused, taken}),
		"void":      {{"receiptNumber", `"ANOTHER"`, refused, refused}, {"status", `"Approved"`, refused, refused}},
		"read":      append(slices.Clone(asked), plant{"receiptNumber", `"ANOTHER"`, refused, refused}),
		"list":      append(slices.Clone(asked), plant{"receiptNumber", `"ANOTHER"`, taken, refused}),
		"agree":     {{"agreementToken", `"ANOTHER"`, taken, refused}, {"status", "", "", taken}, {"payerDetails.customerId", `"ANOTHER"`, refused, taken}},
		"agreement": {{"agreementToken", `"ANOTHER"`, refused, refused}, {"status", "", "", taken}},
		"register":  {{"accountToken", "", "", taken}, {"customerId", `"ANOTHER"`, refused, taken}},
		"customer":  {{"customerId", `"ANOTHER"`, refused, refused}, {"customerNumber", "", "", taken}},
	}
}

// planted is one way of changing a member.
type planted struct {
	plant
	operation, how, want string
}

func everyPlant() (list []planted) {
	table := plants()
	for _, operation := range slices.Sorted(maps.Keys(table)) {
		for _, p := range table[operation] {
			if p.value != "" {
				list = append(list, planted{p, operation, "another value", p.other})
			}
			list = append(list, planted{p, operation, "absent", p.absent})
			for _, how := range []string{"another type", "twice", "another case"} {
				list = append(list, planted{p, operation, how, refused})
			}
		}
	}
	return list
}

// in changes an answer, and tells whether the member is there.
func (p planted) in(body []byte) ([]byte, bool) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var tree map[string]any
	if decoder.Decode(&tree) != nil {
		return body, false
	}
	at := tree
	switch data := tree["data"].(type) {
	case map[string]any:
		at = data
	case []any:
		if len(data) > 0 {
			at, _ = data[0].(map[string]any)
		}
	}
	path := strings.Split(p.member, ".")
	name := path[len(path)-1]
	for _, outer := range path[:len(path)-1] {
		at, _ = at[outer].(map[string]any)
	}
	was, there := at[name]
	if !there || was == nil {
		return body, false
	}
	old, err := json.Marshal(was)
	if err != nil {
		return body, false
	}
	const mark = "planted here"
	changed := ""
	switch p.how {
	case "another value":
		changed = fmt.Sprintf("%q:%s", name, p.value)
	case "absent":
		delete(at, name)
	case "another type":
		changed = fmt.Sprintf("%q:[true]", name)
	case "twice":
		changed = fmt.Sprintf("%q:%s,%q:%s", name, old, name, old)
	case "another case":
		changed = fmt.Sprintf("%q:%s", strings.ToUpper(name), old)
	}
	if changed != "" {
		at[name] = mark
	}
	text, err := json.Marshal(tree)
	return bytes.Replace(text, fmt.Appendf(nil, "%q:%q", name, mark), []byte(changed), 1), err == nil
}

// planting is a transport that plants in the answers to some requests.
type planting struct {
	inner   http.RoundTripper
	in      func(r *http.Request) bool // nil: nowhere
	planted planted
	found   bool
}

// RoundTrip implements http.RoundTripper.
func (t *planting) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.inner.RoundTrip(r)
	if err != nil || t.in == nil || !t.in(r) || answer.StatusCode >= http.StatusMultipleChoices {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close() // it was read to its end
	if err != nil {
		return nil, err
	}
	changed, found := t.planted.in(body)
	t.found = t.found || found
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(changed)), int64(len(changed))
	answer.Header.Del("Content-Length")
	return answer, nil
}

// plantings are what came of the planted answers in one world.
type plantings struct {
	tried int
	wrong []string
}

// perWorld is how many answers are planted in a world: all kinds come around.
const perWorld = 12

// plant makes each of some calls twice, once with a planted answer.
func (s *service) plant(ctx context.Context, c config, orders []*order) error {
	ground := &planting{inner: datedTransport{s}}
	client, err := s.connect(c, ground)
	if err != nil {
		return err
	}
	g := gardener{s: s, client: client, ctx: ctx}
	for _, o := range orders {
		if o.Status == statusPaid && o.Method == methodCard && len(o.Tries) == 1 {
			g.paid = o
		}
	}
	if g.paid == nil {
		return nil
	}
	unknown, every := s.unknown, everyPlant()
	for i := range perWorld {
		p := every[(s.seed*perWorld+uint64(i))%uint64(len(every))]
		ground.in = nil
		without := g.verdict(p.operation)
		ground.in, ground.planted, ground.found = inAnswerTo(p.operation), p, false
		got := g.verdict(p.operation)
		if !ground.found {
			continue // this world leaves the member out
		}
		s.plants.tried++
		want := p.want
		if want == taken {
			want = without
		}
		if got != want {
			s.plants.wrong = append(s.plants.wrong, fmt.Sprintf("%s, %s %s: %s, and not %s", p.operation, p.member, p.how, got, want))
		}
	}
	s.unknown = unknown // these were no part of the story
	return nil
}

// inAnswerTo tells which requests an operation is.
func inAnswerTo(operation string) func(r *http.Request) bool {
	method, end := http.MethodGet, ""
	switch operation {
	case "pay", "refund":
		method, end = http.MethodPost, "/transactions"
	case "void":
		method, end = http.MethodPost, "/void"
	case "agree":
		method, end = http.MethodPost, "/payto-agreements"
	case "register":
		method, end = http.MethodPost, "/accounts"
	}
	return func(r *http.Request) bool { return r.Method == method && strings.HasSuffix(r.URL.Path, end) }
}

// gardener makes the calls whose answers are planted in.
type gardener struct {
	s      *service
	client *quickstream.Client
	ctx    context.Context
	paid   *order
	n      int
}

// verdict makes a call, and says what the client made of its answer.
func (g *gardener) verdict(operation string) string {
	var tx *quickstream.Transaction
	var err error
	transactions := g.client.Transactions
	switch operation {
	case "pay":
		tx, err = g.pay()
	case "refund":
		tx, err = transactions.Refund(g.ctx, quickstream.RefundParams{OriginalReceiptNumber: g.paid.Receipt, PrincipalAmount: decimal.New(2, -2), Currency: quickstream.CurrencyAUD})
	case "void":
		if tx, err = g.pay(); err == nil {
			tx, err = transactions.Void(g.ctx, tx.ReceiptNumber)
		}
	case "read":
		tx, err = transactions.Get(g.ctx, g.paid.Receipt)
	case "list":
		tx, err = transactions.ByReference(g.paid.Tries[0].Intent.Reference).First(g.ctx)
	case "agree":
		_, err = g.client.PayTo.Create(g.ctx, g.s.customer, g.s.agreementParams())
	case "register":
		_, err = g.client.Accounts.Register(g.ctx, g.s.customer, quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromReceipt(g.paid.Receipt)})
	case "agreement":
		_, err = g.client.PayTo.Get(g.ctx, g.s.agreement)
	case "customer":
		_, err = g.client.Customers.Get(g.ctx, g.s.customer)
	}
	_, unreadable := errors.AsType[*quickstream.DecodeError](err)
	switch {
	case unreadable, errors.Is(err, quickstream.ErrOutcomeUnknown):
		return refused
	case err != nil:
		return err.Error()
	case tx == nil:
		return settles
	}
	if _, err := tx.Outcome(); err != nil {
		return isOpen
	}
	return settles
}

func (g *gardener) pay() (*quickstream.Transaction, error) {
	g.n++
	return g.client.Transactions.Pay(g.ctx, payment(&order{
		ID: "PLANT", Reference: fmt.Sprintf("PLANT-%d-%d", g.s.seed, g.n), Amount: decimal.New(1250, -2), Method: methodCard,
	}, g.s.agreement))
}
