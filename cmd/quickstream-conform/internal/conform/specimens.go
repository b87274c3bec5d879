package conform

import (
	"strings"
	"time"
)

const notMade = "the transaction was not accepted"

// metadataProbe is long, of both cases and ends with digits, so that each change shows.
const metadataProbe = "Conform-Probe-0123456789"

// specimens makes what is read later, if it is asked for: each takes at most a few dollars.
func (s *session) specimens() {
	if !s.missing(reads()...) {
		return
	}
	s.has("verification")
	s.makeEcho()
	s.makeRefund()
	s.makePreauth()
	s.readFrom = time.Now()
}

// echoReference has both cases. Each process has its own.
func (s *session) echoReference() string {
	half := s.digest("echo", s.echo)
	return "Qs" + strings.ToLower(half[:10]) + half[10:20]
}

// makeEcho makes a card payment whose reference is read.
func (s *session) makeEcho() {
	s.echo = len(s.Made)
	body := s.transaction("PAYMENT", "1.23", "creditCard", card(cardApproved))
	body["customerReferenceNumber"] = s.echoReference()
	s.transact("echo", kindPayment, body)
}

func (s *session) makeRefund() {
	body := s.transaction("PAYMENT", "1.05", "bankAccount", bank(s.bsb(bankAccepted)))
	body["metadata"] = object{"conform": metadataProbe}
	v, a := s.transact("bank", kindPayment, body)
	if v != accepts {
		return
	}
	if v, _ = s.transact("refund", kindHarmless, s.followUp("REFUND", a.receipt(), "1.05")); v == accepts {
		s.Made[s.named["bank"]].Undone = true
	}
}

// bsb is a BSB in the form that the service takes.
func (s *session) bsb(dashed string) string {
	if s.value("BSBForm") == "digits" {
		return strings.Replace(dashed, "-", "", 1)
	}
	return dashed
}

func (s *session) makePreauth() {
	v, a := s.transact("preauth", kindPreauth, s.transaction("PREAUTH", "1.10", "creditCard", card(cardApproved)))
	if v != accepts {
		return
	}
	body := s.followUp("PREAUTH", a.receipt(), "0.37")
	body["authorisationType"] = "INCREMENTAL"
	s.transact("topUp", kindHarmless, body)
}

// status is the form of the status of an account verification.
func (s *session) status() result {
	tx, ok := s.read("verification")
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
		return other("the value is " + pattern(shown.text))
	case !made:
		return open("no refund was accepted")
	case refund.get("metadata", "conform").text == metadataProbe:
		return is("inherited")
	default:
		return is("echoed")
	}
}
