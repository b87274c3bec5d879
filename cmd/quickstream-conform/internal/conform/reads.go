package conform

import (
	"strings"
	"time"
)

const notMade = "the transaction was not accepted"

// metadataProbe is long, of both cases and ends with digits, so that each change shows.
const metadataProbe = "Conform-Probe-0123456789"

// makeSpecimens makes what is read when reads find it: each takes at most a few dollars.
func (s *session) makeSpecimens() {
	body := s.transaction("PAYMENT", "1.23", "creditCard", card(cardApproved))
	body["customerReferenceNumber"] = s.echoReference()
	s.transact("echo", kindPayment, body)
	for _, bsb := range []string{"032-999", "032999"} { // in the form that the service takes
		body = s.transaction("PAYMENT", "1.05", "bankAccount", bank(bsb))
		body["metadata"] = object{"conform": metadataProbe}
		if n, ok := s.transact("bank", kindPayment, body); ok {
			_, s.Made[n].Undone = s.transact("refund", kindHarmless, s.followUp(s.Made[n].Handle, "1.05"))
			break
		}
	}
	s.readFrom = time.Now()
	s.planReads()
}

// planReads has the transactions read as soon as reads find them.
func (s *session) planReads() {
	if s.lag >= 0 && !s.readFrom.IsZero() {
		s.at(s.readFrom.Add(s.lag+time.Second), true, func() { s.each(reading) })
	}
}

// echoReference has both cases. Each process has its own.
func (s *session) echoReference() string { return "Qs" + strings.ToLower(s.echo[:10]) + s.echo[10:20] }

// status is the form of the status of an account verification.
func (s *session) status() result {
	tx, ok := s.read("lag")
	if !ok {
		return open(unusable)
	}
	return statusForm(tx.get("status"))
}

func statusForm(v value) result {
	switch {
	case v.kind == "":
		return is("absent")
	case v.text == "Approved":
		return is("listed")
	case v.text == "APPROVED":
		return is("otherCase")
	case v.text == "Settled":
		return is("unlisted")
	case v.kind == "text" && len(v.text) < 20:
		return other("the word " + v.text)
	default:
		return other(v.described())
	}
}

// metadata compares a payment with its refund, which was made without any.
func (s *session) metadata() result {
	tx, ok := s.read("bank")
	if !ok {
		return open(notMade)
	}
	refund, made := s.read("refund")
	switch shown := tx.get("metadata", "conform"); {
	case tx.get("metadata").empty():
		return is("dropped")
	case shown.text != metadataProbe:
		return other("the value is changed")
	case !made:
		return open("no refund was accepted")
	case refund.get("metadata", "conform").text == metadataProbe:
		return is("inherited")
	default:
		return is("echoed")
	}
}

// search looks up a payment by forms of its reference.
func (s *session) search() result {
	receipt := s.receipt("echo")
	if receipt == "" {
		return open(notMade)
	}
	sent := s.echoReference()
	found := map[string]bool{}
	for _, query := range []string{sent, strings.ToLower(sent), strings.ToUpper(sent), sent[:len(sent)-4]} {
		v := s.finds(query, receipt)
		if v == unclear {
			return open(unusable)
		}
		found[query] = v == accepts
	}
	switch anyCase, prefix := found[strings.ToLower(sent)] && found[strings.ToUpper(sent)], found[sent[:len(sent)-4]]; {
	case !found[sent]:
		return other("the reference as sent is not found")
	case anyCase && prefix:
		return is("prefix")
	case anyCase:
		return is("anyCase")
	case !prefix:
		return is("exact")
	default:
		return other("no listed search explains the look-ups")
	}
}
