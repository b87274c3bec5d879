package conform

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Bodies of requests, with public test numbers only.

const (
	cardApproved = "4111111111111111"
	payerActive  = "032007" // confirms, and cancels after a payment
)

func card(number string) object {
	return object{"cardNumber": number, "expiryDateMonth": "12", "expiryDateYear": "2039", "cardholderName": "Conform Probe", "cvn": "123"}
}

func bank(bsb string) object {
	return object{"accountName": "Conform Probe", "bsb": bsb, "accountNumber": "999994"}
}

// transaction is a request of a type with an amount, by mail order, without a payer's address.
func (s *session) transaction(kind, amount, source string, details any) object {
	body := object{"transactionType": kind, "supplierBusinessCode": s.business, "currency": s.cfg.currency(), "eci": "MAIL", source: details}
	if amount != "" {
		body["principalAmount"] = json.Number(amount)
	}
	if source != "bankAccount" && source != "payToData" {
		body["storedCredentialData"] = object{"entryMode": "MANUAL"}
	}
	if source == "payToData" {
		delete(body, "eci")
	}
	return body
}

// verification is a transaction that takes no money.
func (s *session) verification() object {
	return s.transaction("ACCOUNT_VERIFICATION", "", "creditCard", card(cardApproved))
}

// followUp is a refund of an earlier payment.
func (s *session) followUp(receipt, amount string) object {
	return object{
		"transactionType": "REFUND", "originalReceiptNumber": receipt, "currency": s.cfg.currency(), "principalAmount": json.Number(amount),
	}
}

// agreement is a request for an agreement of at most a few dollars.
func (s *session) agreement() object {
	return object{
		"supplierBusinessCode": s.business,
		"paymentDetails": object{
			"purpose": "OTHR", "description": "Conform probe", "startDate": sydney(time.Now()).Format(time.DateOnly), "automaticRenewal": true,
		},
		"paymentTerms": object{
			"frequency": "MNTH", "agreementType": "VARI", "currency": "AUD", "paymentAmount": "1.00", "maximumPaymentAmount": "5.00",
		},
		"payerDetails": object{"payerType": "PERS", "payerId": "CONFORM", "payerName": "Kim Conform", "bsb": payerActive, "accountNumber": "111111"},
	}
}

// cents reads an amount of some dollars.
func cents(dollars string) (n int64, ok bool) {
	f, err := strconv.ParseFloat(dollars, 64)
	return int64(math.Round(f * 100)), err == nil
}
