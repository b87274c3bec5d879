package conform

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
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
	if !s.missing(reads()...) {
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
		body := s.verification()
		body["customerReferenceNumber"] = s.listReference(name)
		s.specimen(name+strconv.Itoa(i), kindHarmless, body)
	}
}

// specimen makes a transaction that is read later, if this process has not made it.
func (s *session) specimen(name, kind string, body object) (reply, answer) {
	if n, made := s.Specimens[name]; made && s.answers[n].receipt() != "" {
		return accepts, s.answers[n]
	}
	return s.transact(name, kind, body)
}

// echoReference has both cases and a blank at its end.
func (s *session) echoReference() string {
	half := s.digest("echo", 0)
	return "Qs" + strings.ToLower(half[:10]) + half[10:20] + " "
}

func (s *session) makeEcho() {
	body := s.transaction("PAYMENT", "1.23", "creditCard", card(cardApproved))
	body["customerReferenceNumber"] = s.echoReference()
	body["metadata"] = object{"conform": metadataProbe}
	if v, _ := s.specimen("echo", kindPayment, body); v != refuses {
		return
	}
	delete(body, "metadata")
	r := open("no card payment was accepted")
	if v, _ := s.specimen("echo", kindPayment, body); v == accepts {
		r = is("refused")
	}
	s.answered("Metadata", row("Metadata").how, r)
}

func (s *session) makeRefund() {
	v, a := s.specimen("bank", kindPayment, s.transaction("PAYMENT", "1.05", "bankAccount", bank(s.bsb(bankAccepted))))
	if v != accepts {
		return
	}
	if v, _ = s.specimen("refund", kindHarmless, s.followUp("REFUND", a.receipt(), "1.05")); v == accepts {
		s.Made[s.Specimens["bank"]].Undone = true
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
	v, a := s.specimen("preauth", kindPreauth, s.transaction("PREAUTH", "1.10", "creditCard", card(cardApproved)))
	if v != accepts {
		return
	}
	body := s.followUp("PREAUTH", a.receipt(), "0.37")
	body["authorisationType"] = "INCREMENTAL"
	s.specimen("topUp", kindHarmless, body)
}

// makeOnceOff makes payments with agreements whose payer does not answer: with a long end-to-end id
// and, if that is refused, with shorter ones.
func (s *session) makeOnceOff() {
	if n, made := s.Specimens["onceOff"]; made && s.answers[n].receipt() != "" || s.ours() == "" {
		return
	}
	pay := func(length int) reply {
		v, _ := s.specimen("onceOff", kindPayment, s.transaction("PAYMENT", "1.09", "payToData", object{
			"endToEndId": s.endToEndID(length), "remittanceInformation1": "conform",
			"payToAgreement": object{
				"supplierBusinessCode": s.business, "paymentDetails": object{"purpose": "OTHR", "description": "Conform probe"},
				"payerDetails": s.ownPayer(payerSilent),
			},
		}))
		if v == accepts {
			s.Notes["endToEnd"] = strconv.Itoa(length)
		}
		return v
	}
	p := row("EndToEndIDLength")
	switch v := pay(201); {
	case v != refuses:
		s.note(p, v.choose("0", ""))
	case pay(36) == accepts:
		s.note(p, other("between 36 and 200 characters"))
	case pay(35) == accepts:
		s.note(p, is("35"))
	default:
		s.note(p, open("PayTo payments with new agreements are refused"))
	}
}

// endToEndID ends with both cases and a blank, as the reference does.
func (s *session) endToEndID(length int) string {
	return (s.digest("end", 0) + strings.Repeat("x", 175))[:length-4] + "aXy "
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
		return 0, open("no customer was accepted")
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
		v, _ := s.specimen("payTo", kindPayment, s.transaction("PAYMENT", "1.07", "payToData", object{"agreementToken": token, "endToEndId": s.digest("active", 0)}))
		if v == accepts {
			return s.Specimens["payTo"], result{}
		}
	}
	return 0, open("no payment against an agreement was accepted")
}

// softCards are declined with codes that the service may retry.
func softCards() []struct{ code, number string } {
	return []struct{ code, number string }{
		{"01", "4111111117444490"}, {"05", "4111111115444492"}, {"51", "4111111111444496"}, {"91", "4111111114444493"},
	}
}

// read is a transaction as reads show it when all has been made. It is false if no answer shows it.
func (s *session) read(name string) (tx shape.Value, ok bool) {
	n, made := s.Specimens[name]
	if tx, ok = s.seen[n]; ok || !made {
		return tx, ok
	}
	receipt := s.find(n)
	if receipt == "" {
		return tx, false
	}
	a := s.get("/transactions/"+url.PathEscape(receipt), nil)
	if !a.accepted() || a.broken || a.receipt() != receipt {
		return tx, false
	}
	if t, ok := timeOf(a.body.Get("transactionTime")); ok && s.Made[n].Kind == kindHarmless {
		s.observe(n, t)
	}
	s.seen[n] = a.body
	return a.body, true
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
