package conform

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// void voids a payment. If the answer does not say that it is done, a read does: a payment that can
// still be voided was not.
func (s *session) void(receipt string) bool {
	a := s.send(http.MethodPost, "/transactions/"+url.PathEscape(receipt)+"/void", nil, keyed(s.freshKey()))
	if !a.accepted() {
		return false
	}
	return a.body.get("voidable").text == "false" || s.transactionOf(receipt).body.get("voidable").text != "true"
}

// endAgreement recalls or cancels an agreement. Without a usable answer it looks whether that was done.
func (s *session) endAgreement(token, status string) bool {
	body := object{"updateType": "RECALL_PAYTO_AGREEMENT", "recallPayToAgreement": object{"statusCode": "CANCELLED"}}
	if status == "ACTIVE" || status == "SUSPENDED" {
		body = object{"updateType": "STATUS_AMENDMENT", "statusAmendment": object{"statusCode": "CANCELLED", "reasonCode": "MD17"}}
	}
	if a := s.send(http.MethodPatch, "/payto-agreements/"+url.PathEscape(token), body); a.accepted() && !a.broken {
		return true
	}
	again := s.get("/payto-agreements/"+url.PathEscape(token), nil).body.get("status").text
	return again == "CANCELLED" || again == "REJECTED"
}

// latest is how long after it was sent a request without an answer may still be carried out.
const latest = 15 * time.Minute

// wouldBeFound reports whether look-ups would find by now what was made, with the lag that was seen
// or, if that is not known, the longest one.
func (s *session) wouldBeFound(n int, name string, longest time.Duration) bool {
	lag, known := s.lag(name)
	if !known {
		lag = longest
	}
	until := s.Made[n].Sent.Add(lag + timeout)
	if !s.Made[n].Refused && s.Made[n].Answered.IsZero() {
		until = until.Add(latest)
	}
	return time.Now().After(until)
}

// clean undoes what was made, again and again until nothing is left or the run may not wait longer.
// It returns what is left.
func (s *session) clean() (left []string) {
	for pause := 10 * time.Second; ; pause = min(6*pause, 25*time.Hour) {
		left = s.undo(kindPayment, kindPreauth)
		s.keep()
		if s.err != nil || len(left) == 0 || !s.can(pause) || !s.pause(pause) {
			break
		}
	}
	if s.err != nil {
		return s.remaining()
	}
	return left
}

// undo ends all agreements and undoes what it finds of some kinds. What is kept for a question is kept
// until an age of 120 hours. It returns what is left.
func (s *session) undo(kinds ...string) (left []string) {
	ended := s.endAgreements()
	for _, n := range s.open(kinds...) {
		receipt, absent := s.find(n)
		switch {
		case s.Made[n].Keep && time.Since(s.Made[n].Sent) < 120*time.Hour:
		case receipt != "":
			s.Made[n].Undone = s.reverse(s.Made[n], receipt)
		case absent && s.wouldBeFound(n, "LookupLag", day) && s.err == nil:
			s.Made[n].Undone = true // nothing was made
		}
	}
	if left = s.remaining(); len(left) == 0 && !ended { // of a payment, without a reference
		for _, n := range s.open(kindCustomer) {
			left = append(left, "agreement of the customer with customerNumber "+s.reference(n))
		}
	}
	if s.cleaning && len(left) == 0 && len(s.open(kindCustomer)) > 0 && s.disable() {
		for _, n := range s.open(kindCustomer) {
			s.Made[n].Undone = true
		}
	}
	return left
}

// endAgreements ends every agreement of the customers that this run made. It reports whether it has
// seen all of them, and none is left.
func (s *session) endAgreements() bool {
	agreements := s.open(kindAgreement)
	if len(s.open(kindCustomer)) == 0 && len(agreements) == 0 {
		return true
	}
	ids, whole := s.customers()
	ended, failed := map[string]bool{}, false // by our reference
	for _, id := range ids {
		for _, status := range []string{"PENDING", "ACTIVE"} {
			whole = s.readAll("/customers/"+url.PathEscape(id)+"/payto-agreements", url.Values{"status": {status}}, func(page []value) bool {
				for _, item := range page {
					done := s.endAgreement(item.get("agreementToken").text, item.get("status").text)
					ended[strings.ToUpper(item.get("payeeReference").text)] = done
					failed = failed || !done
				}
				return false
			}) && whole
		}
	}
	whole = whole && s.err == nil
	for _, n := range agreements {
		done, found := ended[s.reference(n)]
		// What is not found was not made, was ended before, or is hidden until later.
		s.Made[n].Undone = done || whole && !found && s.wouldBeFound(n, "LookupLag", day)
	}
	return whole && !failed
}

// reverse voids, refunds or cancels a transaction. It returns whether nothing is left of it.
func (s *session) reverse(made thing, receipt string) bool {
	a := s.transactionOf(receipt)
	switch tx := a.body; {
	case made.Kind == kindPreauth:
		body := s.followUp("PREAUTH_CANCELLATION", receipt, made.Amount)
		body["cancellationType"] = "FULL"
		v, _ := s.transact("", kindHarmless, body)
		return v != unclear // refused twice: it is cancelled, or was never approved
	case tx.get("receiptNumber").empty() || tx.get("voidable").text == "true":
		return s.void(receipt) // what reads do not show yet can be voided
	case tx.get("refundable").text == "true":
		_, a := s.make(kindHarmless, http.MethodPost, "/transactions", s.followUp("REFUND", receipt, made.Amount))
		return a.accepted()
	default:
		return !isPending(tx) && !isStrange(tx)
	}
}
