package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// What a merchant writes around net/http and encoding/json: the peer of every row.

type plainLink struct {
	Rel           string `json:"rel"`
	Href          string `json:"href"`
	RequestMethod string `json:"requestMethod"`
}

type plainAmount struct {
	Currency      string          `json:"currency"`
	Amount        decimal.Decimal `json:"amount"`
	DisplayAmount string          `json:"displayAmount"`
}

type plainDate struct{ time.Time }

// UnmarshalJSON reads a date.
func (d *plainDate) UnmarshalJSON(text []byte) (err error) {
	d.Time, err = time.Parse(`"2006-01-02"`, string(text))
	return err
}

type plainTime struct{ time.Time }

// UnmarshalJSON reads a point in time.
func (t *plainTime) UnmarshalJSON(text []byte) (err error) {
	t.Time, err = time.Parse(`"2006-01-02T15:04:05-0700"`, string(text))
	return err
}

type plainTransaction struct {
	Links                   []plainLink  `json:"links"`
	ReceiptNumber           string       `json:"receiptNumber"`
	TransactionType         string       `json:"transactionType"`
	Status                  string       `json:"status"`
	SummaryCode             string       `json:"summaryCode"`
	ResponseCode            string       `json:"responseCode"`
	ResponseDescription     string       `json:"responseDescription"`
	FraudGuardResult        *string      `json:"fraudGuardResult"`
	CustomerReferenceNumber string       `json:"customerReferenceNumber"`
	PaymentReferenceNumber  string       `json:"paymentReferenceNumber"`
	Comment                 string       `json:"comment"`
	Source                  string       `json:"source"`
	SettlementDate          plainDate    `json:"settlementDate"`
	TransactionTime         plainTime    `json:"transactionTime"`
	Refundable              bool         `json:"refundable"`
	Voidable                bool         `json:"voidable"`
	PrincipalAmount         *plainAmount `json:"principalAmount"`
	SurchargeAmount         *plainAmount `json:"surchargeAmount"`
	TotalAmount             *plainAmount `json:"totalAmount"`
	IPAddress               string       `json:"ipAddress"`
	DebtRepayment           bool         `json:"debtRepayment"`
	SupplierBusinessCode    string       `json:"supplierBusinessCode"`
	MerchantAccount         *struct {
		Links                   []plainLink `json:"links"`
		MerchantID              string      `json:"merchantId"`
		MerchantName            string      `json:"merchantName"`
		SettlementBSB           string      `json:"settlementBsb"`
		SettlementAccountNumber string      `json:"settlementAccountNumber"`
		DisplayName             string      `json:"displayName"`
		AcquiringInstitution    string      `json:"acquiringInstitution"`
		Currency                string      `json:"currency"`
	} `json:"merchantAccount"`
	CreditCard *struct {
		Links                   []plainLink `json:"links"`
		AccountType             string      `json:"accountType"`
		AccountToken            string      `json:"accountToken"`
		CustomerID              string      `json:"customerId"`
		DefaultAccount          bool        `json:"defaultAccount"`
		CardNumber              string      `json:"cardNumber"`
		ExpiryDateMonth         string      `json:"expiryDateMonth"`
		ExpiryDateYear          string      `json:"expiryDateYear"`
		CardScheme              string      `json:"cardScheme"`
		CardType                string      `json:"cardType"`
		CardholderName          string      `json:"cardholderName"`
		MaskedCardNumber4Digits string      `json:"maskedCardNumber4Digits"`
		SurchargePercentage     string      `json:"surchargePercentage"`
		PANType                 string      `json:"panType"`
	} `json:"creditCard"`
	Metadata map[string]string `json:"metadata"`
}

// same returns an error unless both decoders have read the same values, and not nothing. It encodes
// the library's model, decodes that with the merchant's decoder, and compares.
func same(ours *quickstream.Transaction, plain *plainTransaction) error {
	var again plainTransaction
	check(json.Unmarshal(must(json.Marshal(ours)), &again))
	a, b := must(json.Marshal(again)), must(json.Marshal(plain))
	if !bytes.Equal(a, b) || again.TransactionTime.IsZero() || ours.ReceiptNumber == "" {
		return fmt.Errorf("the decoders differ:\n%s\n%s", a, b)
	}
	return nil
}

// plainClient is the merchant's own client.
type plainClient struct {
	http   *http.Client
	decode func(io.Reader, any) error
}

// whole reads a body to its end before it is decoded.
func whole(unmarshal func([]byte, any) error) func(io.Reader, any) error {
	return func(r io.Reader, into any) error {
		body, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		return unmarshal(body, into)
	}
}

// drain reads a body and discards it.
func drain(body io.Reader, _ any) error {
	_, err := io.Copy(io.Discard, body)
	return err
}

func (c plainClient) get(ctx context.Context, url string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.SetBasicAuth(key, "")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return c.decode(resp.Body, into)
}

// all yields the transactions of all pages from an address on.
func (c plainClient) all(ctx context.Context, url string) iter.Seq2[*plainTransaction, error] {
	return func(yield func(*plainTransaction, error) bool) {
		for url != "" {
			var page struct {
				Links []plainLink         `json:"links"`
				Data  []*plainTransaction `json:"data"`
			}
			if err := c.get(ctx, url, &page); err != nil {
				yield(nil, err)
				return
			}
			for _, t := range page.Data {
				if !yield(t, nil) {
					return
				}
			}
			url = ""
			for _, l := range page.Links {
				if l.Rel == "next" {
					url = l.Href
				}
			}
		}
	}
}
