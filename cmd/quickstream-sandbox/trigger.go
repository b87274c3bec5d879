package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
)

// event is a kind of event, and how what it tells about comes to pass.
type event struct {
	Name  string
	raise func(*control, context.Context, string) error
}

// events are the kinds that the contract and the vendor's public pages name, and the
// two that stand for those with other names.
func events() []event {
	payer := func(action sandbox.PayerAction) func(*control, context.Context, string) error {
		return func(c *control, _ context.Context, token string) error { return c.box.Payer(token, action) }
	}
	return []event{
		{"payto.agreement.confirmed", payer(sandbox.ConfirmAgreement)},
		{"payto.agreement.declined", payer(sandbox.DeclineAgreement)},
		{"payto.agreement.expired", payer(sandbox.ExpireAgreement)},
		{"payto.agreement.recalled", (*control).recall},
		{"payto.payment.approved", func(c *control, ctx context.Context, token string) error {
			return c.payByAgreement(ctx, token, sandbox.Approved())
		}},
		{"payto.payment.added_later", func(c *control, ctx context.Context, token string) error {
			return c.payByAgreement(ctx, token, sandbox.Declined("RJCT"))
		}},
		{"payto.agreement.added_later", func(c *control, _ context.Context, token string) error {
			_ = c.box.Payer(token, sandbox.ConfirmAgreement) // unless it is confirmed
			return c.box.Payer(token, sandbox.SuspendAgreement)
		}},
	}
}

func eventNames() string {
	var names []string
	for _, e := range events() {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}

// trigger takes {"agreementToken": "..."}, or nothing.
func (c *control) trigger(r *http.Request) (any, error) {
	var in struct {
		AgreementToken string `json:"agreementToken"`
	}
	if err := body(r, &in); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	token, err := c.raise(r.Context(), r.PathValue("eventType"), in.AgreementToken)
	return map[string]string{"agreementToken": token}, err
}

// raise makes an event happen, and returns the agreement that it is about. It was posted then.
func (c *control) raise(ctx context.Context, name, token string) (_ string, err error) {
	list := events()
	i := slices.IndexFunc(list, func(e event) bool { return e.Name == name })
	if i < 0 {
		return "", fmt.Errorf("no event type %q: use one of %s", name, eventNames())
	}
	if token == "" {
		if token, err = c.newAgreement(ctx); err != nil {
			return "", err
		}
	}
	err = list[i].raise(c, ctx, token)
	c.flush(ctx)
	return token, err
}

// newAgreement makes a customer with an agreement, as a merchant does.
func (c *control) newAgreement(ctx context.Context) (token string, err error) {
	name := "TRIGGER-" + rand.Text()[:8]
	answer, err := c.call(ctx, http.MethodPost, "/customers", object{"customerNumber": name, "customerName": "Kim Lee"})
	if err != nil {
		return "", err
	}
	customer := customerID.FindSubmatch(answer)
	if customer == nil {
		return "", errors.New("the sandbox did not tell the new customer's id")
	}
	_, err = c.call(ctx, http.MethodPost, "/customers/"+string(customer[1])+"/payto-agreements", object{
		"supplierBusinessCode": sandbox.DefaultBusiness, "payeeReference": name,
		"paymentDetails": object{"purpose": "UTIL", "description": "Electricity", "automaticRenewal": true},
		"paymentTerms":   object{"frequency": "MNTH", "agreementType": "VARI", "currency": "AUD", "paymentAmount": "5.00"},
		"payerDetails":   object{"payerType": "PERS", "payerId": name, "payerName": "Kim Lee", "bsb": "650000", "accountNumber": "111111"},
	})
	for _, a := range c.box.Agreements() {
		if a.PayeeReference == name {
			token = a.Token
		}
	}
	return token, err
}

func (c *control) recall(ctx context.Context, token string) error {
	_, err := c.call(ctx, http.MethodPatch, "/payto-agreements/"+token, object{
		"updateType": "RECALL_PAYTO_AGREEMENT", "recallPayToAgreement": object{"statusCode": "CANCELLED"},
	})
	return err
}

// payByAgreement makes a payment with an outcome. The payer confirms the agreement first, unless
// it is confirmed.
func (c *control) payByAgreement(ctx context.Context, token string, outcome sandbox.Outcome) error {
	_ = c.box.Payer(token, sandbox.ConfirmAgreement)
	order := "TRIGGER-" + rand.Text()[:8]
	c.box.NextTransactionFor(order, outcome)
	return c.pay(ctx, order, object{"payToData": object{"agreementToken": token}})
}

// pay makes a payment of $10.50 for an order, in the way that the further members say.
func (c *control) pay(ctx context.Context, order string, way object) error {
	payment := object{
		"transactionType": "PAYMENT", "supplierBusinessCode": sandbox.DefaultBusiness, "principalAmount": json.Number("10.50"), "currency": "AUD",
		"customerReferenceNumber": order,
	}
	maps.Copy(payment, way)
	_, err := c.call(ctx, http.MethodPost, "/transactions", payment)
	return err
}

type object = map[string]any

var customerID = regexp.MustCompile(`"customerId"\s*:\s*"?([^",}\s]+)`)

// call is a merchant's request to the service.
func (c *control) call(ctx context.Context, method, path string, content object) ([]byte, error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, c.box.URL()+path, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth(c.box.Keys().Secret, "")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "quickstream-sandbox trigger")
	resp, err := c.box.HTTPClient().Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w (is a fault in force?)", method, path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: status %d: %s", method, path, resp.StatusCode, answer)
	}
	return answer, err
}
