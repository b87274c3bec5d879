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

func (s *session) startPayTo() (int, result) {
	n, no := s.makeActive()
	if no != (result{}) {
		s.note(row("PayToSynchronous"), no)
		return n, no
	}
	if a := s.answers[n].body; !a.get("status").empty() || !a.get("summaryCode").empty() {
		return n, s.synchronous(a)
	}
	return n, result{}
}

// synchronous says what the first state of a payment shows: only an approval proves itself.
func (s *session) synchronous(tx value) result {
	p := row("PayToSynchronous")
	switch {
	case isPending(tx):
		s.note(p, is("false"))
	case isApproved(tx):
		s.note(p, is("true"))
		return open("payments are approved in the answer")
	default:
		s.note(p, open("the payment was neither approved nor pending"))
	}
	return result{}
}

func (s *session) approved(w window) (seen, known bool) {
	a := s.transactionOf(s.Made[w.number].Handle)
	if a.body.get("receiptNumber").empty() {
		return false, false
	}
	done := isApproved(a.body)
	if s.Findings["PayToSynchronous"].Name == "" {
		switch age := a.got.Sub(s.Made[w.number].Answered); {
		case !done || age < 30*time.Second:
			s.synchronous(a.body)
		default:
			s.note(row("PayToSynchronous"), open("the payment was found when it was approved"))
		}
	}
	if done && w.before < 0 && s.value("PayToSynchronous") != "false" {
		s.answered("PayToApprovedAfter", "a PayTo payment that is read until it is approved", open("the payment was found when it was approved"))
		return false, false
	}
	return done, a.body.get("summaryCode").text != "1" // what is declined is not approved later
}

// pending looks at the payment of makeOnceOff.
func (s *session) pending() result {
	tx := s.answers[s.named["onceOff"]].body
	if !isPending(tx) {
		tx, _ = s.read("onceOff")
	}
	if !isPending(tx) {
		return open("no PayTo payment was pending")
	}
	code := tx.get("summaryCode")
	if code.empty() {
		return other("no summary code")
	}
	return one(code.text, "0", "2")
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

// makeOnceOff makes a payment with an agreement whose payer does not answer.
func (s *session) makeOnceOff() {
	if !s.has("customer") {
		return
	}
	s.transact("onceOff", kindPayment, s.transaction("PAYMENT", "1.09", "payToData", object{
		"endToEndId": s.digest("end", len(s.Made)), "remittanceInformation1": "conform",
		"payToAgreement": object{
			"supplierBusinessCode": s.business, "paymentDetails": object{"purpose": "OTHR", "description": "Conform probe"},
			"payerDetails": s.ownPayer(payerSilent),
		},
	}))
}

// ownPayer names the customer of this process, so that its agreements are found again.
func (s *session) ownPayer(bsb string) object {
	p := payer(bsb)
	for n, t := range s.Made {
		if t.Kind == kindCustomer && t.Handle == s.customer {
			p["payerId"] = s.reference(n)
		}
	}
	return p
}
