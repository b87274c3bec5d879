package conform

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// activeAgreement makes a customer with an agreement that its payer confirms. It returns its token, or "".
func (s *session) activeAgreement() (token string) {
	customer := ""
	judge(func() answer {
		n, a := s.make(kindCustomer, "/customers", object{
			"customerNumber": s.reference(len(s.Made)), "customerName": "Conform Probe", "emailAddress": "conform@example.com", "phoneNumber": "+61255501234",
		})
		customer = s.Made[n].Handle
		return a
	})
	if customer == "" {
		return ""
	}
	judge(func() answer {
		body := s.agreement()
		body["payeeReference"] = s.reference(len(s.Made))
		n, a := s.make(kindAgreement, "/customers/"+url.PathEscape(customer)+"/payto-agreements", body)
		token = s.Made[n].Handle
		return a
	})
	return token
}

// payTo pays against an agreement when its payer has confirmed, and waits for the approval.
func (s *session) payTo() result {
	token := s.activeAgreement()
	if token == "" {
		return open("no agreement was accepted")
	}
	n, ok := 0, false
	for range 5 {
		s.pause(3 * time.Second)
		if n, ok = s.transact("", kindPayment, s.transaction("PAYMENT", "1.07", "payToData", object{
			"agreementToken": token, "endToEndId": s.digest("endToEndId", len(s.Made)),
		})); ok {
			break
		}
	}
	switch {
	case !ok:
		return open("no payment against an agreement was accepted")
	case isApproved(s.answers[n].body):
		return is("0s")
	}
	return s.watch(&onset{
		name: "PayToApprovedAfter", number: n, listed: []time.Duration{0, time.Minute, 15 * time.Minute, 119 * time.Hour},
		ages: seconds(1, 5, 12, 58, 62, 898, 902, 86410, 428398, 428402),
		seen: func() (seen, known bool) {
			tx := s.transactionOf(s.Made[n].Handle).body
			if tx.get("receiptNumber").empty() || tx.get("summaryCode").text == "1" { // what is declined is not approved later
				return false, false
			}
			return isApproved(tx), true
		},
	})
}

func isPending(tx value) bool { return strings.EqualFold(tx.get("status").text, "Pending") }

// isApproved reports an approval in a known form. The summary code alone is one only without a
// status: it may be that of approvals while a payment is pending.
func isApproved(tx value) bool {
	word, code := strings.ToLower(tx.get("status").text), tx.get("summaryCode").text
	return code == "0" && word == "" || slices.Contains([]string{"", "0"}, code) && slices.Contains([]string{"approved", "approved*", "settled"}, word)
}

// isStrange reports a transaction whose status is a word that is not known: nothing follows from it.
func isStrange(tx value) bool {
	known := []string{"", "approved", "approved*", "pending", "declined", "voided", "suspended", "settled", "refused", "reversed"}
	return !slices.Contains(known, strings.ToLower(tx.get("status").text))
}
