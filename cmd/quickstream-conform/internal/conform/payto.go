package conform

import (
	"slices"
	"strings"
	"time"
)

// makeActive makes an agreement that its payer confirms, and a payment, which is kept until its
// state is known.
func (s *session) makeActive() (int, result) {
	if !s.has("agreement") {
		return 0, open("no agreement was accepted")
	}
	n := 0
	v, _ := judge(func() (a answer) {
		n, a = s.newAgreement(payerActive, func(object) {})
		return a
	})
	if v != accepts {
		return 0, open("no agreement was accepted")
	}
	for range 5 { // until the payer has confirmed
		s.pause(3 * time.Second)
		v, _ := s.transact("payTo", kindPayment, s.transaction("PAYMENT", "1.07", "payToData", object{
			"agreementToken": s.Made[n].Handle, "endToEndId": s.digest("active", n),
		}))
		if v == accepts {
			return s.named["payTo"], result{}
		}
	}
	return 0, open("no payment against an agreement was accepted")
}

// startPayTo pays, and notes an approval in the answer.
func (s *session) startPayTo() (int, result) {
	n, no := s.makeActive()
	if no == (result{}) && isApproved(s.answers[n].body) {
		no = is("0s")
	}
	return n, no
}

func (s *session) approved(w window) (seen, known bool) {
	a := s.transactionOf(s.Made[w.number].Handle)
	if a.body.get("receiptNumber").empty() {
		return false, false
	}
	done := isApproved(a.body)
	if done && w.before < 0 && a.got.Sub(s.Made[w.number].Answered) > 30*time.Second {
		s.answered("PayToApprovedAfter", "a PayTo payment that is read until it is approved", open("the payment was found when it was approved"))
		return false, false
	}
	return done, a.body.get("summaryCode").text != "1" // what is declined is not approved later
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
