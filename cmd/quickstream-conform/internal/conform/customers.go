package conform

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
)

const probeEmail = "conform@example.com"

// newCustomer makes the customer of this run, first with a local phone number.
func (s *session) newCustomer() []result {
	try := func(phone string) (reply, answer) {
		return judge(func() answer {
			number := s.reference(len(s.Made))
			_, a := s.make(kindCustomer, http.MethodPost, "/customers", object{
				"customerNumber": number, "customerName": "Conform Probe", "emailAddress": probeEmail, "phoneNumber": phone,
			})
			return a
		})
	}
	v, a := try("0255501234")
	phones := v.choose("false", "true")
	if v == refuses {
		if v, a = try("+61255501234"); v != accepts {
			phones = open("customers are refused with an international phone number too")
		}
	}
	if v != accepts {
		return []result{phones, open("no customer could be made")}
	}
	s.customer = a.body.Get("customerId").Text
	return []result{phones, s.otherAnswers(a)}
}

// otherAnswers compares the answers to two writes.
func (s *session) otherAnswers(created answer) result {
	if created.status == http.StatusOK {
		return is("200")
	}
	return twice(func() result { // an answer without content may be a fault's
		if a := s.putCustomer(s.ours(), object{"customerName": "Conform Probe"}); a.accepted() {
			return writtenForm(a)
		}
		return result{}
	})
}

func writtenForm(a answer) result {
	switch {
	case a.status == http.StatusNoContent:
		return is("204")
	case len(a.raw) == 0:
		return is("empty")
	case !a.body.Get("customerId").Empty() && a.body.Get("customerName").Empty():
		return other("members " + strings.Join(a.body.Names, ", "))
	case !a.body.Get("customerId").Empty() && a.status == http.StatusOK:
		return is("full")
	case !a.body.Get("data", "customerId").Empty() && !a.body.Get("data", "customerName").Empty():
		return is("nested")
	default:
		return other("status " + strconv.Itoa(a.status) + ", " + described(a.body))
	}
}

func (s *session) putCustomer(id string, body object) answer {
	return s.send(http.MethodPut, "/customers/"+url.PathEscape(id), body)
}

// changeCustomer changes the customer of this run.
func (s *session) changeCustomer(body object) reply {
	v, _ := judge(func() answer { return s.putCustomer(s.ours(), body) })
	return v
}

// ours returns the customer of this run, and "" if there is none.
func (s *session) ours() string {
	if s.customer == "" {
		if ids, _ := s.customers(); len(ids) > 0 {
			s.customer = ids[0]
		}
	}
	return s.customer
}

// customers looks up every customer that this run may have made: an answer that was lost has made
// one too. They are not known if a look-up has no usable answer.
func (s *session) customers() (ids []string, known bool) {
	known = true
	for n, t := range s.Made {
		if t.Kind != kindCustomer {
			continue
		}
		v, a := judge(func() answer { return s.page("/customers", url.Values{"customerNumber": {s.reference(n)}}) })
		known = known && (v == accepts || v == refuses && a.status == http.StatusNotFound)
		for _, item := range a.body.Get("data").Items {
			ids = append(ids, item.Get("customerId").Text)
		}
	}
	return ids, known
}

func (s *session) nullInPut() result {
	if v := s.changeCustomer(object{"emailAddress": nil}); v != accepts {
		if v == refuses && s.changeCustomer(object{"emailAddress": probeEmail}) != accepts {
			return open("the customer cannot be changed")
		}
		return v.choose("", "refused")
	}
	a := s.get("/customers/"+url.PathEscape(s.ours()), nil)
	switch email := a.body.Get("emailAddress"); {
	case a.body.Get("customerId").Empty():
		return open(unusable)
	case email.Empty():
		return is("removes")
	case email.Text == probeEmail:
		return is("ignored")
	default:
		return other(described(email))
	}
}

// disabledCustomer tries what a disabled customer may do. The customer is enabled again, until all
// is over.
func (s *session) disabledCustomer() result {
	customer := url.PathEscape(s.ours())
	register := func() answer {
		return s.send(http.MethodPost, "/customers/"+customer+"/accounts", object{"creditCard": card(cardApproved)}, keyed(s.idempotencyKey("account", s.Requests)))
	}
	if v, _ := judge(register); v != accepts {
		return open("accounts cannot be registered")
	}
	var token string
	if items := s.get("/customers/"+customer+"/accounts", nil).body.Get("data").Items; len(items) > 0 {
		token = items[0].Get("accountToken").Text
	}
	pay := func() reply {
		v, _ := s.transact("", kindHarmless, s.transaction("ACCOUNT_VERIFICATION", "", "accountToken", token))
		return v
	}
	if token == "" || pay() != accepts {
		return open("verifications of registered accounts are refused")
	}
	if s.changeCustomer(object{"enabled": false}) != accepts {
		return open("the customer cannot be disabled")
	}
	status := s.get("/customers/"+customer, nil).body.Get("status").Text
	mayPay := pay()
	mayRegister, _ := judge(register)
	s.changeCustomer(object{"enabled": true})
	if status != "DISABLED" {
		return open("it is not sure that the customer was disabled")
	}
	return pair(mayPay, mayRegister, is("all"), is("pay"), is("register"), is("nothing"))
}

// newAgreement makes an agreement whose payer does nothing by themselves.
func (s *session) newAgreement(bsb string, edit func(object)) (int, answer) {
	body := s.agreement(bsb)
	body["payeeReference"] = s.reference(len(s.Made))
	edit(body)
	return s.make(kindAgreement, http.MethodPost, "/customers/"+url.PathEscape(s.ours())+"/payto-agreements", body)
}

// tryAgreement recalls the agreement immediately.
func (s *session) tryAgreement(edit func(object)) answer {
	n, a := s.newAgreement(payerSilent, edit)
	if token := a.body.Get("agreementToken").Text; token != "" && s.endAgreement(token, "PENDING") {
		s.Made[n].Undone = true
	}
	return a
}

func (s *session) firstAgreement() []result {
	v, a := judge(func() answer { return s.tryAgreement(func(object) {}) })
	s.Notes["agreement"] = string(v)
	if v != accepts {
		return []result{open("no agreement was accepted")}
	}
	if t, ok := timeOf(a.body.Get("respondByTime")); ok {
		s.Notes["respondBy"] = t.form
	}
	return []result{agreementTexts(a.body), s.agreementTerms(a.body)}
}

func agreementTexts(a shape.Value) result {
	description, name := a.Get("paymentDetails", "description").Text, a.Get("payerDetails", "payerName").Text
	sent := description == "Conform  probe"
	switch {
	case sent && name == "Kim  Conform":
		return is("sent")
	case description == "Conform probe" && name == "Kim Conform":
		return is("folded")
	case sent && strings.HasSuffix(name, "KIM  CONFORM"):
		return is("bankNames")
	default:
		return other("description " + shape.Pattern(description) + ", name " + shape.Pattern(name))
	}
}

// agreementTerms leaves open whether a time without an offset is peculiar to agreements.
func (s *session) agreementTerms(a shape.Value) result {
	details, terms := a.Get("paymentDetails"), a.Get("paymentTerms")
	var odd []string
	amount, _ := cents(terms.Get("paymentAmount"))
	switch {
	case details.Get("purpose").Text != "OTHR" || terms.Get("frequency").Text != "MNTH" || terms.Get("agreementType").Text != "VARI":
		odd = append(odd, "other codes")
	case terms.Get("paymentAmount").Empty():
		odd = append(odd, "nullAmount")
	case amount != 100:
		odd = append(odd, "another amount")
	}
	if !terms.Get("pointInTime").Empty() || !terms.Get("firstPaymentDue").Empty() {
		odd = append(odd, "filled")
	}
	r := is("sent")
	if len(odd) > 0 {
		r = one(strings.Join(odd, " and "), "nullAmount", "filled")
	}
	if s.Notes["respondBy"] == "none" && r.value != "" { // the form of all times decides what that means
		s.Notes["terms"] = r.value
		return result{}
	}
	return r
}

func (s *session) onePayerRoute() result {
	if s.cfg.PayID == "" {
		return needs("invalid PayIDs have a daily limit; -payid names a valid one")
	}
	v, _ := judge(func() answer {
		return s.tryAgreement(func(a object) {
			payer := a["payerDetails"].(object) //nolint:forcetypeassert // it is of this package
			payer["payIdType"], payer["payId"] = "EMAL", s.cfg.PayID
		})
	})
	return v.choose("false", "true")
}

func (s *session) agreementCodes() result {
	parts := map[string]string{"purpose": "paymentDetails", "frequency": "paymentTerms", "agreementType": "paymentTerms", "payerType": "payerDetails"}
	codes := []string{"purpose", "frequency", "agreementType", "payerType"}
	required, known := refusals(codes, func(code string) reply {
		v, _ := judge(func() answer { return s.tryAgreement(func(a object) { without(a, parts[code], code) }) })
		return v
	})
	switch {
	case !known:
		return open(unusable)
	case len(required) == 0:
		return is("false")
	case len(required) == len(codes):
		return is("true")
	default:
		return other("required: " + strings.Join(required, ", "))
	}
}

func without(body object, part string, names ...string) {
	for _, name := range names {
		delete(body[part].(object), name) //nolint:forcetypeassert // the part is of this package
	}
}
