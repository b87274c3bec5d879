package conform

import (
	"net/http"
	"net/url"
	"strings"
)

// newAgreement makes an agreement of the customer. The BSB of its payer decides what the payer does.
func (s *session) newAgreement(bsb string, edit func(object)) (int, answer) {
	body := s.agreement(bsb)
	body["payeeReference"] = s.reference(len(s.Made))
	edit(body)
	return s.make(kindAgreement, http.MethodPost, "/customers/"+url.PathEscape(s.customer)+"/payto-agreements", body)
}

// tryAgreement recalls the agreement immediately.
func (s *session) tryAgreement(edit func(object)) answer {
	n, a := s.newAgreement(payerSilent, edit)
	if token := s.Made[n].Handle; token != "" && s.endAgreement(token, "PENDING") {
		s.Made[n].Undone = true
	}
	return a
}

func (s *session) agreementTexts() result { return textsOf(s.agreed.body) }

func textsOf(a value) result {
	description, name := a.get("paymentDetails", "description").text, a.get("payerDetails", "payerName").text
	sent := description == "Conform  probe"
	switch {
	case sent && name == "Kim  Conform":
		return is("sent")
	case description == "Conform probe" && name == "Kim Conform":
		return is("folded")
	case sent && strings.HasSuffix(name, "KIM  CONFORM"):
		return is("bankNames")
	default:
		return other("description " + pattern(description) + ", name " + pattern(name))
	}
}

// agreementWith reports whether an agreement is accepted after a change.
func (s *session) agreementWith(edit func(object)) reply {
	v, _ := judge(func() answer { return s.tryAgreement(edit) })
	return v
}

func (s *session) onePayerRoute() result {
	if s.cfg.PayID == "" {
		return open("invalid PayIDs have a daily limit; -payid names a valid one")
	}
	return s.agreementWith(func(a object) {
		with(a, "payerDetails", "payIdType", "EMAL")
		with(a, "payerDetails", "payId", s.cfg.PayID)
	}).choose("false", "true")
}

func (s *session) agreementCodes() result {
	parts := map[string]string{"purpose": "paymentDetails", "frequency": "paymentTerms", "agreementType": "paymentTerms", "payerType": "payerDetails"}
	codes := []string{"purpose", "frequency", "agreementType", "payerType"}
	required, known := refusals(codes, func(code string) reply {
		return s.agreementWith(func(a object) { without(a, parts[code], code) })
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
