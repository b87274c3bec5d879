package conform

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// clean undoes everything that was made. It repeats that until nothing is left or the run may not wait
// longer, and returns what is left.
func (s *session) clean() (left []string) {
	for pause := 10 * time.Second; ; pause = min(6*pause, 25*time.Hour) {
		left = s.undo()
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

// undo ends all agreements, takes back all payments and disables the customers. It returns what is left.
func (s *session) undo() (left []string) {
	ended := s.endAgreements()
	for _, t := range s.open(kindPayment) {
		switch receipt, absent := s.find(t); {
		case receipt != "":
			t.Undone = s.reverse(t, receipt)
		case absent && s.wouldBeFound(t) && s.err == nil:
			t.Undone = true // nothing was made
		}
	}
	if left = s.remaining(); len(left) > 0 || !ended {
		return left
	}
	for _, t := range s.open(kindCustomer) { // a customer without an answer has no agreement
		t.Undone = t.Handle == "" || s.send(http.MethodPut, "/customers/"+url.PathEscape(t.Handle), object{"enabled": false}, "").accepted()
	}
	return nil
}

// latest is how long after its sending a request without an answer may still be carried out.
const latest = 15 * time.Minute

// wouldBeFound reports whether look-ups would find a thing by now if it was made. It uses the lag that
// was seen or, if that is not known, the longest one.
func (s *session) wouldBeFound(t *thing) bool {
	lag := s.lag
	if lag < 0 {
		lag = day
	}
	if !t.Refused && t.Answered.IsZero() {
		lag += latest
	}
	return time.Since(t.Sent) > lag+timeout
}

// endAgreements ends every agreement in the lists of the customers in the journal, also an agreement whose
// answer was lost. It reports whether none is left.
func (s *session) endAgreements() bool {
	ended, whole := map[string]bool{}, true // by our reference
	for _, t := range s.open(kindCustomer) {
		for _, status := range []string{"PENDING", "ACTIVE"} {
			if t.Handle == "" {
				continue
			}
			whole = s.readAll("/customers/"+url.PathEscape(t.Handle)+"/payto-agreements", url.Values{"status": {status}}, func(item value) bool {
				ended[strings.ToUpper(item.get("payeeReference").text())] = s.endAgreement(item.get("agreementToken").text(), item.get("status").text())
				return false
			}) && whole
		}
	}
	for _, t := range s.open(kindAgreement) {
		done, found := ended[t.Reference]
		// An agreement that is not found was not made, was ended before, or is not visible yet.
		t.Undone = done || whole && s.err == nil && !found && s.wouldBeFound(t)
	}
	return len(s.open(kindAgreement)) == 0
}

// endAgreement recalls or cancels an agreement. If that is not accepted, it reads whether the agreement has ended.
func (s *session) endAgreement(token, status string) bool {
	path := "/payto-agreements/" + url.PathEscape(token)
	body := object{"updateType": "RECALL_PAYTO_AGREEMENT", "recallPayToAgreement": object{"statusCode": "CANCELLED"}}
	if status == "ACTIVE" || status == "SUSPENDED" {
		body = object{"updateType": "STATUS_AMENDMENT", "statusAmendment": object{"statusCode": "CANCELLED", "reasonCode": "MD17"}}
	}
	if s.send(http.MethodPatch, path, body, "").accepted() {
		return true
	}
	return slices.Contains([]string{"CANCELLED", "REJECTED"}, s.get(path, nil).member("status"))
}

// find returns the receipt of a payment, from its answer or else from a search for its reference. No other payment has
// that reference, but follow-ups may show it. The payment is absent if the whole list was read and does not have it.
func (s *session) find(t *thing) (receipt string, absent bool) {
	if t.Handle == "" {
		absent = s.byReference(t.Reference, func(item value) bool {
			if item.get("transactionType").text() == "PAYMENT" && item.get("originalReceiptNumber").text() == "" {
				t.Handle = item.get("receiptNumber").text()
			}
			return t.Handle != ""
		})
	}
	return t.Handle, absent
}

// reverse voids or refunds a payment. It reports whether nothing is left to undo.
func (s *session) reverse(made *thing, receipt string) bool {
	switch tx := s.transactionOf(receipt).body; {
	case tx.get("receiptNumber").text() == "" || tx.get("voidable").text() == "true": // a payment that reads do not show yet can be voided
		a := s.send(http.MethodPost, "/transactions/"+url.PathEscape(receipt)+"/void", nil, transport.NewKey())
		// If the answer does not say that it is voided, read it: a payment that can still be voided was not.
		return a.accepted() && (a.member("voidable") == "false" || s.transactionOf(receipt).member("voidable") != "true")
	case tx.get("refundable").text() == "true":
		return s.transact(kindHarmless, s.refundOf(receipt, made.Amount)) != nil
	default: // nothing follows from a status that is pending, or a word that is not known
		final := []string{"", "approved", "approved*", "declined", "voided", "suspended", "settled", "refused", "reversed"}
		return slices.Contains(final, strings.ToLower(tx.get("status").text()))
	}
}
