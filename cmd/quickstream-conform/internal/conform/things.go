package conform

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// make makes a thing. It writes the thing into the journal before it sends the request.
func (s *session) make(kind, path string, body object) (*thing, answer) {
	amount, _ := body["principalAmount"].(json.Number)
	t := &thing{Kind: kind, Reference: rand.Text(), Key: transport.NewKey(), Amount: amount.String(), Sent: time.Now()}
	s.Made = append(s.Made, t)
	reference, handle := members(kind)
	body = maps.Clone(body)
	body[reference] = t.Reference
	s.keep()
	a := s.send(http.MethodPost, path, body, t.Key).with(handle)
	t.Refused = a.refused() // a refused thing is looked up all the same
	if a.accepted() {
		t.Sent, t.Answered, t.Handle, t.answer = a.sent, a.got, a.member(handle), a.body
	}
	s.keep()
	return t, a
}

// create tries to make a thing until one is accepted, and returns nil if none is. Each try is a thing of its own.
func (s *session) create(kind, path string, body object) (t *thing) {
	if a := judged(func() (a answer) {
		t, a = s.make(kind, path, body)
		return a
	}); !a.accepted() {
		return nil
	}
	return t
}

func (s *session) transact(kind string, body object) *thing {
	return s.create(kind, "/transactions", body)
}

// Bodies of requests, with public test numbers only.

const (
	cardApproved = "4111111111111111"
	payerActive  = "032007" // confirms, and cancels after a payment
)

// card is the part of a request that names a card, by mail order.
func card(number string) object {
	return object{"eci": "MAIL", "storedCredentialData": object{"entryMode": "MANUAL"}, "creditCard": object{
		"cardNumber": number, "expiryDateMonth": "12", "expiryDateYear": "2039", "cardholderName": "Conform Probe", "cvn": "123",
	}}
}

// payment is a request for a payment from a source.
func (s *session) payment(amount string, source object) object {
	body := object{"transactionType": "PAYMENT", "supplierBusinessCode": s.business, "currency": s.currency, "principalAmount": json.Number(amount)}
	maps.Copy(body, source)
	return body
}

// verification is a transaction that takes no money.
func (s *session) verification() object {
	body := s.payment("", card(cardApproved))
	body["transactionType"] = "ACCOUNT_VERIFICATION"
	delete(body, "principalAmount")
	return body
}

// refundOf is a refund of an earlier payment.
func (s *session) refundOf(receipt, amount string) object {
	return object{
		"transactionType": "REFUND", "originalReceiptNumber": receipt, "currency": s.currency, "principalAmount": json.Number(amount),
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
