package conform

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The lists of verifications that show pages: their numbers fill the last page for most sizes.
const (
	shortList = 6
	longList  = 20
)

// metadataProbe is long, of both cases and ends with digits, so that each change shows.
const metadataProbe = "Conform-Probe-0123456789"

// specimens makes what is read later: each takes at most a few dollars. What is already there in
// this process, or whose questions have answers, is not made again.
func (s *session) specimens() {
	if !s.missing(reads()) {
		return
	}
	if n, made := s.Specimens["short0"]; !made || s.answers[n].receipt() == "" {
		s.Notes["lists"] = strconv.Itoa(len(s.Made))
	}
	s.makeEcho()
	s.makeRefund()
	s.makePreauth()
	s.makeList("short", shortList)
	if lag := s.Onsets[untilLag]; !lag.Seen || lag.After > 20*time.Second { // to wait again would take long
		s.makeList("long", longList)
	}
	s.makeOnceOff()
	if n, made := s.Specimens["echo"]; made && s.answers[n].receipt() != "" && s.Made[n].Changed.IsZero() {
		// A form of times without seconds must show that the void was later.
		s.wait(s.Made[n].Answered.Add(75 * time.Second))
		s.void(n)
	}
	s.keep()
}

// listReference is what the transactions of a list share. Each process makes its own list.
func (s *session) listReference(name string) string { return s.digest(name+s.Notes["lists"], 0) }

func (s *session) makeList(name string, n int) {
	for i := range n {
		s.specimen(name+strconv.Itoa(i), kindHarmless, func(body object) { body["customerReferenceNumber"] = s.listReference(name) }, s.verification())
	}
}

// specimen makes a transaction until it is accepted, or refused twice.
func (s *session) specimen(name, kind string, edit func(object), body object) (reply, answer) {
	if n, made := s.Specimens[name]; made && s.answers[n].receipt() != "" {
		return accepts, s.answers[n]
	}
	edit(body)
	v, a := judge(func() answer {
		n, a := s.make(kind, http.MethodPost, "/transactions", maps.Clone(body))
		if a.receipt() != "" {
			s.Specimens[name] = n
		}
		return a
	})
	return v, a
}

// echoReference has both cases and a blank at its end.
func (s *session) echoReference() string {
	half := s.digest("echo", 0)
	return "Qs" + strings.ToLower(half[:10]) + half[10:20] + " "
}

func (s *session) makeEcho() {
	edit := func(body object) {
		body["customerReferenceNumber"] = s.echoReference()
		body["metadata"] = object{"conform": metadataProbe}
	}
	const how = "metadata on a card payment that is voided"
	v, _ := s.specimen("echo", kindPayment, edit, s.transaction("PAYMENT", "1.23", "creditCard", card(cardApproved)))
	if v == refuses {
		v, _ = s.specimen("echo", kindPayment, func(body object) { body["customerReferenceNumber"] = s.echoReference() },
			s.transaction("PAYMENT", "1.23", "creditCard", card(cardApproved)))
		if v == accepts {
			s.answered("Metadata", how, is("refused"))
		} else {
			s.answered("Metadata", how, open("no card payment was accepted"))
		}
	}
}

func (s *session) makeRefund() {
	bsb := bankAccepted
	if s.value("BSBForm") == "digits" {
		bsb = strings.Replace(bsb, "-", "", 1)
	}
	v, a := s.specimen("bank", kindPayment, func(object) {}, s.transaction("PAYMENT", "1.05", "bankAccount", bank(bsb)))
	if v != accepts {
		return
	}
	if v, _ = s.specimen("refund", kindHarmless, func(object) {}, s.followUp("REFUND", a.receipt(), "1.05")); v == accepts {
		s.Made[s.Specimens["bank"]].Undone = true
	}
}

func (s *session) makePreauth() {
	v, a := s.specimen("preauth", kindPreauth, func(object) {}, s.transaction("PREAUTH", "1.10", "creditCard", card(cardApproved)))
	if v != accepts {
		return
	}
	s.specimen("topUp", kindHarmless, func(body object) { body["authorisationType"] = "INCREMENTAL" }, s.followUp("PREAUTH", a.receipt(), "0.37"))
}

const endToEndHow = "PayTo payments with end-to-end ids of 201, 36 and 35 characters"

// makeOnceOff makes payments with agreements whose payer does not answer: with a long end-to-end id
// and, if that is refused, with shorter ones.
func (s *session) makeOnceOff() {
	if n, made := s.Specimens["onceOff"]; made && s.answers[n].receipt() != "" || s.ours() == "" {
		return
	}
	long := s.digest("end", 0) + strings.Repeat("x", 175)
	pay := func(id string) reply {
		v, _ := s.specimen("onceOff", kindPayment, func(object) {}, s.transaction("PAYMENT", "1.09", "payToData", object{
			"endToEndId": id, "remittanceInformation1": "conform",
			"payToAgreement": object{
				"supplierBusinessCode": s.business, "paymentDetails": object{"purpose": "OTHR", "description": "Conform probe"},
				"payerDetails": s.ownPayer(payerSilent),
			},
		}))
		return v
	}
	// The last characters are of both cases with a blank, as those of the reference.
	end := func(n int) string { return long[:n-4] + "aXy " }
	switch pay(end(201)) {
	case accepts:
		s.answered("EndToEndIDLength", endToEndHow, is("0"))
		s.Notes["endToEnd"] = "201"
		return
	case unclear:
		s.answered("EndToEndIDLength", endToEndHow, open(unusable))
		return
	default:
	}
	r := open("PayTo payments with new agreements are refused")
	if pay(end(36)) == accepts {
		s.Notes["endToEnd"] = "36"
		r = other("between 36 and 200 characters")
	} else if pay(end(35)) == accepts {
		s.Notes["endToEnd"] = "35"
		r = is("35")
	}
	s.answered("EndToEndIDLength", endToEndHow, r)
}

func (s *session) endToEndID() string {
	n, err := strconv.Atoi(s.Notes["endToEnd"])
	if err != nil {
		return ""
	}
	return (s.digest("end", 0) + strings.Repeat("x", 175))[:n-4] + "aXy "
}

// ownPayer names the customer of this run, so that its agreements are found again.
func (s *session) ownPayer(bsb string) object {
	p := payer(bsb)
	for n, t := range s.Made {
		if t.Kind == kindCustomer && !t.Answered.IsZero() {
			p["payerId"] = s.reference(n)
		}
	}
	return p
}

// makeActive makes an agreement that its payer confirms, and a payment.
func (s *session) makeActive() (int, result) {
	if s.ours() == "" {
		return 0, open("no customer could be made")
	}
	v, a := judge(func() answer {
		_, a := s.newAgreement(payerActive, func(object) {})
		return a
	})
	token := a.body.Get("agreementToken").Text
	if v != accepts || token == "" {
		return 0, open("no agreement was accepted")
	}
	for range 5 { // until the payer has confirmed
		s.wait(s.cfg.Clock.Now().Add(3 * time.Second))
		v, _ := s.specimen("payTo", kindPayment, func(object) {}, s.transaction("PAYMENT", "1.07", "payToData", object{"agreementToken": token, "endToEndId": s.digest("active", 0)}))
		if v == accepts {
			return s.Specimens["payTo"], result{}
		}
	}
	return 0, open("no payment against an agreement was accepted")
}

// softDeclines makes payments that are declined, with codes that the service may retry.
func (s *session) softDeclines() {
	for _, decline := range softCards() {
		if _, made := s.Specimens["soft"+decline.code]; !made {
			s.specimen("soft"+decline.code, kindPayment, func(object) {}, s.transaction("PAYMENT", "1.01", "creditCard", card(decline.number)))
		}
	}
	s.keep()
}

func softCards() []struct{ code, number string } {
	return []struct{ code, number string }{
		{"01", "4111111117444490"}, {"05", "4111111115444492"}, {"51", "4111111111444496"}, {"91", "4111111114444493"},
	}
}

// read is a transaction as reads show it when all has been made.
func (s *session) read(name string) answer {
	n, made := s.Specimens[name]
	if a, known := s.seen[n]; known || !made {
		return a
	}
	receipt := s.find(n)
	if receipt == "" {
		return answer{}
	}
	a := s.get("/transactions/"+url.PathEscape(receipt), nil)
	if t, ok := timeOf(a.body.Get("transactionTime")); ok && s.Made[n].Kind == kindHarmless {
		s.observe(n, t)
	}
	if a.accepted() && !a.broken {
		s.seen[n] = a
	}
	return a
}

// observe compares the time of a transaction that has not changed with ours.
func (s *session) observe(n int, t stamp) {
	made := s.Made[n]
	low, high := t.at.Sub(made.Answered), t.at.Add(t.grain).Sub(made.Sent)
	if shift := mislabelled(t.at); t.form == "Z" && low > 5*time.Hour {
		low, high = low-shift, high-shift
	}
	s.Times.narrow(low, high)
}

// missing reports whether one of the rows has no answer.
func (s *session) missing(rows []row) bool {
	return slices.ContainsFunc(rows, func(r row) bool {
		return slices.ContainsFunc(r.names, func(name string) bool { return s.Findings[name].Name == "" })
	})
}
