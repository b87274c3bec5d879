package conform

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
)

// void voids a payment of this process. If the answer does not say that it is done, a read does: a
// payment that can still be voided was not.
func (s *session) void(n int) bool {
	path := "/transactions/" + url.PathEscape(s.find(n))
	a := s.send(http.MethodPost, path+"/void", nil, keyed(s.idempotencyKey("void", s.Requests)))
	if !a.accepted() {
		return false
	}
	if a.body.Get("voidable").Text != "false" && s.get(path, nil).body.Get("voidable").Text == "true" {
		return false
	}
	if s.Made[n].Changed.IsZero() {
		s.Made[n].Changed, s.Made[n].Undone = a.sent, true
	}
	return true
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
	again := s.get("/payto-agreements/"+url.PathEscape(token), nil).body.Get("status").Text
	return again == "CANCELLED" || again == "REJECTED"
}

// release undoes what only the reads needed.
func (s *session) release() {
	if n, made := s.Specimens["preauth"]; made && !s.Made[n].Undone && s.err == nil {
		s.Made[n].Undone = s.reverse(n, s.find(n))
	}
	s.cleanAgreements()
}

// latest is how long after it was sent a request without an answer may still be carried out.
const latest = 15 * time.Minute

// The ages at which what was made and is not found is looked for again. What is not found after
// the last was not made.
func cleanAges() []time.Duration {
	return []time.Duration{
		0, 5 * time.Second, 15 * time.Second, 5*time.Minute + 5*time.Second, latest + time.Minute, latest + 6*time.Minute, day + time.Minute,
		day + latest + time.Minute, 50 * time.Hour, 120 * time.Hour,
	}
}

// wouldBeFound reports whether look-ups would find by now what was made, with the lag of an onset or,
// if that is not known, the longest one.
func (s *session) wouldBeFound(n int, onset string, longest time.Duration) bool {
	if w := s.Onsets[onset]; w.Seen {
		longest = w.After
	}
	until := s.Made[n].Sent.Add(longest + timeout)
	if !s.Made[n].Refused && s.Made[n].Answered.IsZero() {
		until = until.Add(latest)
	}
	return s.cfg.Clock.Now().After(until)
}

// clean undoes what was made, again and again until nothing is left or the run may not wait longer.
// It returns what is left.
func (s *session) clean() (left []string) {
	ages := cleanAges()
	for i, age := range ages {
		begun := s.lastMade()
		if i+1 < len(ages) && !begun.Add(ages[i+1]).After(s.cfg.Clock.Now()) {
			continue // one look does for all ages that have passed
		}
		if begun.Add(age).After(s.until) && age > 0 {
			break
		}
		if s.wait(begun.Add(age)) {
			left = s.cleanOnce(age)
			s.keep()
		}
		if s.err != nil || len(left) == 0 {
			break
		}
	}
	if s.err != nil && left == nil {
		left = []string{"what the journal lists"}
	}
	return left
}

func (s *session) lastMade() (last time.Time) {
	for _, n := range s.open(kindPayment, kindPreauth, kindAgreement) {
		if at := s.Made[n].Sent; at.After(last) {
			last = at
		}
	}
	return last
}

// cleanOnce undoes what it finds. What is kept for a question is kept until an age of 120 hours.
func (s *session) cleanOnce(age time.Duration) (left []string) {
	left = s.cleanAgreements()
	for _, n := range s.open(kindPayment, kindPreauth) {
		receipt := s.find(n)
		switch {
		case s.Made[n].Keep && age < 120*time.Hour:
		case receipt == "" && s.wouldBeFound(n, untilLag, day) && s.err == nil && !s.doubts[n]:
			s.Made[n].Undone = true // nothing was made
			continue
		case receipt != "" && s.reverse(n, receipt):
			s.Made[n].Undone = true
			continue
		}
		left = append(left, s.Made[n].Kind+" with paymentReferenceNumber "+s.reference(n))
	}
	if len(left) == 0 && len(s.open(kindCustomer)) > 0 && s.disable() {
		for _, n := range s.open(kindCustomer) {
			s.Made[n].Undone = true
		}
	}
	return left
}

func (s *session) disable() bool {
	ids, done := s.customers()
	for _, id := range ids {
		done = s.putCustomer(id, object{"enabled": false}).accepted() && done
	}
	return done && s.err == nil
}

// cleanAgreements ends every agreement of the customers that this run made, and returns those that
// are left, by our references.
func (s *session) cleanAgreements() (left []string) {
	open := s.open(kindAgreement)
	if s.Specimens["onceOff"] == 0 && len(open) == 0 && len(s.open(kindCustomer)) == 0 {
		return nil
	}
	ids, whole := s.customers()
	ended, tokens := map[string]bool{}, map[string]string{} // by token, and the tokens by our references
	for _, id := range ids {
		for _, status := range []string{"PENDING", "ACTIVE"} {
			whole = s.readAll("/customers/"+url.PathEscape(id)+"/payto-agreements", url.Values{"status": {status}}, func(page []shape.Value) bool {
				for _, item := range page {
					token := item.Get("agreementToken").Text
					tokens[strings.ToUpper(item.Get("payeeReference").Text)] = token
					ended[token] = s.endAgreement(token, item.Get("status").Text)
				}
				return false
			}) && whole
		}
	}
	whole = whole && s.err == nil
	for _, n := range open {
		token := cmp.Or(tokens[s.reference(n)], s.answers[n].body.Get("agreementToken").Text)
		done, found := ended[token]
		delete(ended, token)
		// What is not found was not made, or is hidden until later.
		s.Made[n].Undone = whole && (done || !found && s.wouldBeFound(n, "AgreementLookupLag", 5*time.Minute))
		if !s.Made[n].Undone {
			left = append(left, "agreement with payeeReference "+s.reference(n))
		}
	}
	others := slices.Contains(slices.Collect(maps.Values(ended)), false) // such as those of a payment, without a reference
	if others || !whole && left == nil {
		var numbers []string
		for n, t := range s.Made {
			if t.Kind == kindCustomer {
				numbers = append(numbers, s.reference(n))
			}
		}
		left = append(left, "agreement of a customer with customerNumber "+strings.Join(numbers, " or "))
	}
	return left
}

// reverse voids, refunds or cancels a transaction. It returns whether nothing is left of it.
func (s *session) reverse(n int, receipt string) bool {
	path := "/transactions/" + url.PathEscape(receipt)
	tx := s.get(path, nil).body
	switch amount := s.Made[n].Amount; {
	case s.Made[n].Kind == kindPreauth:
		body := s.followUp("PREAUTH_CANCELLATION", receipt, amount)
		body["cancellationType"] = "FULL"
		v, _ := s.transact("", kindHarmless, body)
		return v != unclear // refused twice: it is cancelled, or was never approved
	case tx.Get("receiptNumber").Empty():
		return s.void(n) // what reads do not show yet can be voided
	case tx.Get("voidable").Text == "true":
		return s.void(n)
	case tx.Get("refundable").Text == "true":
		_, a := s.make(kindHarmless, http.MethodPost, "/transactions", s.followUp("REFUND", receipt, amount))
		return a.accepted()
	default:
		return !isPending(tx) && strangeStatus(tx) == ""
	}
}
