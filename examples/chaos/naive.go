package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// naiveMerchant is the client that many shops have. It looks careful: it sends
// idempotency keys, has time limits and tries again. But every attempt has a key
// of its own, an answer that does not arrive counts as a failure, and what has
// failed is paid again.
type naiveMerchant struct {
	http  *http.Client
	box   *sandbox.Sandbox
	table *table
}

func newNaiveMerchant(s *service, t *table) *naiveMerchant {
	return &naiveMerchant{http: &http.Client{Transport: s.box.HTTPClient().Transport, Timeout: attemptTimeout}, box: s.box, table: t}
}

func (n *naiveMerchant) work(ctx context.Context, id string, _ time.Time) error {
	o, err := n.table.load(id)
	if err != nil {
		return err
	}
	o.Status, o.Due = statusUnpaid, time.Time{}
	for range 5 {
		receipt, summaryCode, err := n.attempt(ctx, o)
		if err != nil {
			continue // try again
		}
		if summaryCode == "0" {
			o.Status, o.Receipt = statusPaid, receipt
		}
		break
	}
	return n.table.save(o)
}

func (n *naiveMerchant) attempt(ctx context.Context, o *order) (receipt, summaryCode string, err error) {
	body, err := json.Marshal(map[string]any{
		"transactionType": "PAYMENT", "supplierBusinessCode": sandbox.DefaultBusiness, "principalAmount": json.Number(o.Amount.StringFixed(2)),
		"currency": "AUD", "eci": "INTERNET", "ipAddress": "203.0.113.10", "customerReferenceNumber": o.ID,
		"storedCredentialData": map[string]string{"entryMode": "MANUAL"},
		"creditCard": map[string]string{
			"cardholderName": "Ann Example", "cardNumber": "4242424242424242", "expiryDateMonth": "03", "expiryDateYear": "2035", "cvn": "123",
		},
	})
	if err != nil {
		return "", "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, n.box.URL()+"/transactions", bytes.NewReader(body))
	if err != nil {
		return "", "", err
	}
	r.SetBasicAuth(n.box.Keys().Secret, "")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", rand.Text())
	answer, err := n.http.Do(r)
	if err != nil {
		return "", "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		return "", "", fmt.Errorf("status %d", answer.StatusCode)
	}
	var tx struct{ ReceiptNumber, SummaryCode string }
	err = json.NewDecoder(answer.Body).Decode(&tx)
	return tx.ReceiptNumber, tx.SummaryCode, err
}
