package conform

import (
	"net/http"
	"strings"
)

// token makes a single-use token, which takes no money, of the details of an account.
func (s *session) token(kind string, details object) (reply, string) {
	details["supplierBusinessCode"], details["accountType"] = s.business, kind
	v, a := judge(func() answer {
		return s.send(http.MethodPost, "/single-use-tokens", details, s.publishable).with("singleUseTokenId")
	})
	return v, a.member("singleUseTokenId")
}

func (s *session) bsbForm() result {
	dash, _ := s.token("DIRECT_DEBIT", bank(bankAccepted))
	digits, _ := s.token("DIRECT_DEBIT", bank(strings.Replace(bankAccepted, "-", "", 1)))
	switch {
	case dash == unclear || digits == unclear:
		return open(unusable)
	case dash == accepts && digits == accepts:
		return is("either")
	case dash == accepts:
		return is("dash")
	case digits == accepts:
		return is("digits")
	default:
		return open("tokens for bank accounts are refused in both forms")
	}
}
