package conform

import (
	"net/http"
	"net/url"
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
