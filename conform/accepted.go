package conform

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func (s *session) verified(edit func(object)) reply {
	v, _ := judge(func() answer {
		body := s.verification()
		edit(body)
		_, a := s.make(kindHarmless, http.MethodPost, "/transactions", body)
		return a
	})
	return v
}

func stored(eci, usage string) func(object) {
	return func(body object) {
		credential := object{"entryMode": "STORED_CREDENTIAL"}
		if usage != "" {
			credential["usage"] = usage
		}
		body["eci"], body["storedCredentialData"] = eci, credential
	}
}

func (s *session) usageRequired() []result {
	if s.Notes["verification"] != string(accepts) {
		return []result{open("no verification was accepted")}
	}
	var required []string
	for _, eci := range []string{"RECURRING", "INSTALMENT", "MAIL"} {
		switch s.verified(stored(eci, "")) {
		case refuses:
			required = append(required, eci)
		case unclear:
			return []result{open(unusable)}
		default:
		}
	}
	if len(required) == 0 {
		return []result{is("none")}
	}
	if s.verified(stored(required[0], "RECURRING")) != accepts {
		return []result{open("stored cards are refused with a usage too")}
	}
	return []result{one(strings.Join(required, ","), "RECURRING,INSTALMENT")}
}

func (s *session) usages() []result {
	if s.Notes["verification"] != string(accepts) {
		return []result{open("no verification was accepted")}
	}
	switch s.verified(stored("RECURRING", "UNSCHEDULED_CIT")) {
	case accepts:
		return []result{is("none")}
	case unclear:
		return []result{open(unusable)}
	default:
	}
	var refused []string
	for _, usage := range []string{"RECURRING", "STANDING_ORDER", "UNSCHEDULED_MIT"} {
		switch s.verified(stored("RECURRING", usage)) {
		case refuses:
			refused = append(refused, usage)
		case unclear:
			return []result{open(unusable)}
		default:
		}
	}
	if len(refused) > 0 {
		return []result{other("refused: UNSCHEDULED_CIT, " + strings.Join(refused, ", "))}
	}
	return []result{is("RECURRING,STANDING_ORDER,UNSCHEDULED_MIT")}
}

func (s *session) bsbForm() []result {
	try := func(bsb string) reply {
		body := bank(bsb)
		body["supplierBusinessCode"], body["accountType"] = s.business, "DIRECT_DEBIT"
		v, _ := judge(func() answer {
			return s.send(http.MethodPost, "/single-use-tokens", body, s.publishable).with("singleUseTokenId")
		})
		return v
	}
	dash, digits := try(bankAccepted), try(strings.Replace(bankAccepted, "-", "", 1))
	switch {
	case dash == unclear || digits == unclear:
		return []result{open(unusable)}
	case dash == refuses && digits == refuses:
		return []result{open("tokens for bank accounts are refused in both forms")}
	case dash == refuses:
		return []result{is("digits")}
	case digits == refuses:
		return []result{is("dash")}
	default:
		return []result{is("either")}
	}
}

func (s *session) token(threeDS bool) string {
	body := card("4242424242424242")
	body["supplierBusinessCode"], body["accountType"] = s.business, "CREDIT_CARD"
	if threeDS {
		body["threeDS2"] = true
		body["browserProfile"] = object{
			"browserJavaEnabled": false, "browserLanguage": "en-AU", "browserScreenHeight": "900", "browserScreenWidth": "1440",
			"browserColorDepth": "24", "browserTZ": "-600",
		}
	}
	_, a := judge(func() answer {
		return s.send(http.MethodPost, "/single-use-tokens", body, s.publishable).with("singleUseTokenId")
	})
	return a.body.Get("singleUseTokenId").Text
}

func (s *session) payerAddress() []result {
	try := func(address string) reply {
		v, _ := judge(func() answer {
			body := s.transaction("ACCOUNT_VERIFICATION", "", "singleUseTokenId", s.token(false))
			if address != "" {
				body["ipAddress"] = address
			}
			_, a := s.make(kindHarmless, http.MethodPost, "/transactions", body)
			return a
		})
		return v
	}
	absent, given := try(""), try("203.0.113.10")
	switch {
	case absent == unclear || given == unclear:
		return []result{open(unusable)}
	case absent == accepts && given == accepts:
		return []result{is("internet")}
	case absent == accepts:
		return []result{is("only")}
	case given == accepts:
		return []result{is("always")}
	default:
		return []result{open("verifications of tokens are refused with and without the address")}
	}
}

func (s *session) billingAddress() []result {
	whole := map[string]string{
		"billAddrLine1": "1 Test Street", "billAddrCity": "Sydney", "billAddrPostCode": "2000", "billAddrState": "NSW", "billAddrCountry": "036",
	}
	names := []string{"billAddrLine1", "billAddrCity", "billAddrPostCode", "billAddrState", "billAddrCountry"}
	disabled, token := false, s.token(true)
	try := func(members ...string) reply {
		v, _ := judge(func() answer {
			body := object{"messageCategory": "01", "threeDSRequestorAuthenticationInd": "01", "principalAmount": "1.00", "currency": "AUD"}
			for _, name := range members {
				body[name] = whole[name]
			}
			a := s.send(http.MethodPost, "/single-use-tokens/"+url.PathEscape(token)+"/three-ds2-authentication", body).with("transStatus")
			disabled = disabled || a.status == http.StatusServiceUnavailable
			return a
		})
		return v
	}
	first := try(names[0])
	switch {
	case first == accepts:
		return []result{is("none")}
	case disabled:
		return []result{open("3D Secure is not enabled")}
	case first == unclear:
		return []result{open(unusable)}
	}
	var required []string
	for i, name := range names {
		switch try(slices.Delete(slices.Clone(names), i, i+1)...) {
		case refuses:
			required = append(required, name)
		case unclear:
			return []result{open(unusable)}
		default:
		}
	}
	if try(names...) != accepts {
		return []result{open("3D Secure with a whole billing address was not accepted")}
	}
	return []result{one(strings.Join(required, ","), strings.Join(names, ","))}
}

func (s *session) fileReports() []result {
	if !s.cfg.Files {
		return []result{needs("payment files cannot be undone; -files allows one that cannot be processed")}
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if part, err := w.CreateFormFile("file", s.digest("file", len(s.Made))+".csv"); err == nil {
		_, _ = part.Write([]byte("this is no payment file"))
	}
	_ = w.WriteField("format", "CSV2")
	_ = w.Close()
	a := s.upload(w.FormDataContentType(), form.Bytes())
	id := a.body.Get("paymentFileId").Text
	if id == "" {
		return []result{open("the file was not accepted")}
	}
	v, a := judge(func() answer {
		a := s.send(http.MethodGet, "/payment-files/"+url.PathEscape(id)+"/csv", nil, func(r *http.Request) { r.Header.Set("Accept", "text/plain") })
		a.broken = false
		return a
	})
	switch {
	case v == unclear:
		return []result{open(unusable)}
	case a.status == http.StatusAccepted:
		return []result{is("202")}
	case a.status == http.StatusNotFound:
		return []result{is("404")}
	case a.status == http.StatusOK:
		return []result{is("ready")}
	default:
		return []result{other("status " + strconv.Itoa(a.status))}
	}
}

func (s *session) latestKey() []result {
	if s.cfg.NewKey == nil {
		return []result{needs("asking may issue a key; -issue-key allows it")}
	}
	var keys []string
	for range 2 {
		key := s.get("/api-keys/latest", nil).body.Get("key").Text
		if key == "" {
			return []result{open("no key was returned")}
		}
		keys = append(keys, key)
		if err := s.cfg.NewKey(key); err != nil {
			s.err = err
		}
		s.cfg.Keys.Secret = key
	}
	if keys[0] == keys[1] {
		return []result{is("latest")}
	}
	return []result{is("new")}
}
