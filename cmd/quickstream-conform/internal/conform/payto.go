package conform

import (
	"crypto/rand"
	"net/url"
	"slices"
	"strings"
	"time"
)

// activeAgreement makes a customer with an agreement that its payer confirms. It returns its token, or "".
func (s *session) activeAgreement() (token string) {
	customer := s.create(kindCustomer, "/customers", object{
		"customerName": "Conform Probe", "emailAddress": "conform@example.com", "phoneNumber": "+61255501234",
	})
	if customer == nil {
		return ""
	}
	if t := s.create(kindAgreement, "/customers/"+url.PathEscape(customer.Handle)+"/payto-agreements", s.agreement()); t != nil {
		token = t.Handle
	}
	return token
}

// payTo pays against an agreement when its payer has confirmed, and waits for the approval.
func (s *session) payTo() result {
	token := s.activeAgreement()
	if token == "" {
		return open("no agreement was accepted")
	}
	var t *thing
	for range 5 {
		s.pause(3 * time.Second)
		if t = s.transact(kindPayment, s.transaction("PAYMENT", "1.07", "payToData", object{
			"agreementToken": token, "endToEndId": rand.Text(),
		})); t != nil {
			break
		}
	}
	switch {
	case t == nil:
		return open("no payment against an agreement was accepted")
	case isApproved(t.answer):
		return is("0s")
	}
	return s.watch(t, []string{"0s", "1m", "15m", "119h"}, []int{1, 5, 12, 58, 62, 898, 902, 428398, 428402}, func() (seen, known bool) {
		tx := s.transactionOf(t.Handle).body
		if tx.get("receiptNumber").text() == "" || tx.get("summaryCode").text() == "1" { // what is declined is not approved later
			return false, false
		}
		return isApproved(tx), true
	})
}

func isPending(tx value) bool { return strings.EqualFold(tx.get("status").text(), "Pending") }

// isApproved reports an approval in a known form. The summary code alone is one only without a
// status: it may be that of approvals while a payment is pending.
func isApproved(tx value) bool {
	word, code := strings.ToLower(tx.get("status").text()), tx.get("summaryCode").text()
	return code == "0" && word == "" || slices.Contains([]string{"", "0"}, code) && slices.Contains([]string{"approved", "approved*", "settled"}, word)
}

// isStrange reports a transaction whose status is a word that is not known: nothing follows from it.
func isStrange(tx value) bool {
	known := []string{"", "approved", "approved*", "pending", "declined", "voided", "suspended", "settled", "refused", "reversed"}
	return !slices.Contains(known, strings.ToLower(tx.get("status").text()))
}
