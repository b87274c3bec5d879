package conformance

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// samples sends the documented samples, which have every documented member. What
// they name does not exist, and most of them are refused; but never for a member
// or parameter that the sandbox does not know.
func (s *stage) samples(customer *quickstream.Customer) {
	agreement := s.agreement(customer).AgreementToken
	s.check(s.box.Payer(agreement, sandbox.ConfirmAgreement))
	ids := strings.NewReplacer("{customerId}", customer.CustomerID, "{agreementToken}", agreement, "{supplierBusinessCode}", shop)
	for _, e := range readSamples(s).Exchanges {
		op, ok := s.doc.Operation(e.Operation)
		if !ok || op.ID == "WEBHOOK "+op.Path || e.Body == nil && e.Query == nil {
			continue
		}
		path := ids.Replace(op.Path)
		if strings.Contains(path, "{singleUseTokenId}") {
			path = strings.ReplaceAll(path, "{singleUseTokenId}", s.token(cardDetails(visa), browser()).SingleUseTokenID)
		}
		for _, unknown := range []string{"", "nonsense"} {
			answered := s.sample(op.Method, op.Keys[0], path, unknown, e.Query, e.Body)
			if refused := strings.Contains(answered, "is not a member of this request") || strings.Contains(answered, "is not a parameter of this request"); refused && unknown == "" {
				s.Errorf("%s: the sandbox does not know all of %v %v: %s", op.ID, e.Query, e.Body, answered)
			} else if !refused && unknown != "" && e.Body != nil {
				s.Errorf("%s: the sandbox does not say that it does not know a member: %s", op.ID, answered)
			}
		}
	}
}

// sample sends one sample, with a member that nobody knows unless its name is
// empty, and returns the answer.
func (s *stage) sample(method, key, path, unknown string, query map[string]string, body map[string]any) string {
	s.Helper()
	values := url.Values{}
	for name, value := range query {
		values.Set(name, value)
	}
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	authorisation := basic(s.box.Keys().Secret)
	if key == "publishableKey" {
		authorisation = basic(s.box.Keys().Publishable)
	}
	if method == http.MethodGet {
		return string(s.refused(0, method, path, nil, "Authorization", authorisation))
	}
	sent := object{}
	for name, value := range body {
		sent[name] = value
	}
	if unknown != "" {
		sent[unknown] = true
	}
	return string(s.refused(0, method, path, sent, "Authorization", authorisation))
}
