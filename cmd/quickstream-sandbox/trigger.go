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
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
)

// eventTypes are the event types that the contract and the vendor's public pages name.
func eventTypes() []string {
	return []string{
		"payto.agreement.confirmed", "payto.agreement.declined", "payto.agreement.expired", "payto.agreement.recalled", "payto.payment.approved",
	}
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

// raise makes an event happen, waits until it is posted, and returns the token of its agreement.
func (c *control) raise(ctx context.Context, eventType, token string) (_ string, err error) {
	if !slices.Contains(eventTypes(), eventType) {
		return "", fmt.Errorf("no event type %q: use one of %s", eventType, strings.Join(eventTypes(), ", "))
	}
	if token == "" {
		if token, err = c.newAgreement(ctx); err != nil {
			return "", err
		}
	}
	switch eventType {
	case "payto.agreement.confirmed":
		err = c.box.Payer(token, sandbox.ConfirmAgreement)
	case "payto.agreement.declined":
		err = c.box.Payer(token, sandbox.DeclineAgreement)
	case "payto.agreement.expired":
		err = c.box.Payer(token, sandbox.ExpireAgreement)
	case "payto.agreement.recalled":
		err = c.call(ctx, http.MethodPatch, "/payto-agreements/"+token, object{
			"updateType": "RECALL_PAYTO_AGREEMENT", "recallPayToAgreement": object{"statusCode": "CANCELLED"},
		}, nil)
	default:
		err = c.payByAgreement(ctx, token)
	}
	c.flush(ctx)
	return token, err
}

// newAgreement makes a customer with an agreement, as a merchant does.
func (c *control) newAgreement(ctx context.Context) (token string, err error) {
	var made struct{ CustomerID, AgreementToken string }
	name := "TRIGGER-" + rand.Text()[:8]
	if err = c.call(ctx, http.MethodPost, "/customers", object{"customerNumber": name, "customerName": "Kim Lee"}, &made); err != nil {
		return "", err
	}
	err = c.call(ctx, http.MethodPost, "/customers/"+made.CustomerID+"/payto-agreements", object{
		"supplierBusinessCode": sandbox.DefaultBusiness, "payeeReference": name,
		"paymentDetails": object{"purpose": "UTIL", "description": "Electricity", "automaticRenewal": true},
		"paymentTerms":   object{"frequency": "MNTH", "agreementType": "VARI", "currency": "AUD", "paymentAmount": "5.00"},
		"payerDetails":   object{"payerType": "PERS", "payerId": name, "payerName": "Kim Lee", "bsb": "650000", "accountNumber": "111111"},
	}, &made)
	return made.AgreementToken, err
}

// payByAgreement makes a payment that is approved at once. The payer confirms the agreement first, unless
// it is confirmed.
func (c *control) payByAgreement(ctx context.Context, token string) error {
	_ = c.box.Payer(token, sandbox.ConfirmAgreement)
	order := "TRIGGER-" + rand.Text()[:8]
	c.box.NextTransactionFor(order, sandbox.Approved())
	return c.pay(ctx, order, object{"payToData": object{"agreementToken": token}})
}

// pay makes a payment of $10.50 for an order. way has the members that depend on how it is paid.
func (c *control) pay(ctx context.Context, order string, way object) error {
	payment := object{
		"transactionType": "PAYMENT", "supplierBusinessCode": sandbox.DefaultBusiness, "principalAmount": json.Number("10.50"), "currency": "AUD",
		"customerReferenceNumber": order,
	}
	maps.Copy(payment, way)
	return c.call(ctx, http.MethodPost, "/transactions", payment, nil)
}

type object = map[string]any

// call sends a merchant's request to the service. It decodes the answer, unless into is nil.
func (c *control) call(ctx context.Context, method, path string, content object, into any) error {
	raw, err := json.Marshal(content)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, c.box.URL()+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	r.SetBasicAuth(c.box.Keys().Secret, "")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "quickstream-sandbox trigger")
	resp, err := c.box.HTTPClient().Do(r)
	if err != nil {
		return fmt.Errorf("%s %s: %w (is a fault switched on?)", method, path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: %w (is a fault switched on?)", method, path, err)
	case resp.StatusCode >= http.StatusMultipleChoices:
		return fmt.Errorf("%s %s: status %d: %s", method, path, resp.StatusCode, answer)
	case into == nil:
		return nil
	}
	return json.Unmarshal(answer, into)
}
