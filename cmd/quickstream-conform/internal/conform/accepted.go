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

// refusals returns the names with which a request is refused. It is not known if one try is unclear.
func refusals(names []string, try func(name string) reply) (refused []string, known bool) {
	for _, name := range names {
		switch try(name) {
		case refuses:
			refused = append(refused, name)
		case unclear:
			return nil, false
		default:
		}
	}
	return refused, true
}

// pair is the result of two requests, of which each may be accepted or refused.
func pair(first, second reply, both, onlyFirst, onlySecond, neither result) result {
	switch {
	case first == unclear || second == unclear:
		return open(unusable)
	case first == accepts && second == accepts:
		return both
	case first == accepts:
		return onlyFirst
	case second == accepts:
		return onlySecond
	default:
		return neither
	}
}

// stored tries a verification with a stored card; an empty usage is left out.
func (s *session) stored(eci, usage string) reply {
	credential := object{"entryMode": "STORED_CREDENTIAL"}
	if usage != "" {
		credential["usage"] = usage
	}
	body := s.verification()
	body["eci"], body["storedCredentialData"] = eci, credential
	v, _ := s.transact("", kindHarmless, body)
	return v
}

func (s *session) usageRequired() result {
	required, known := refusals([]string{"RECURRING", "INSTALMENT", "MAIL"}, func(eci string) reply { return s.stored(eci, "") })
	switch {
	case !known:
		return open(unusable)
	case len(required) == 0:
		return is("none")
	case s.stored(required[0], "RECURRING") != accepts:
		return open("stored cards are refused with a usage too")
	default:
		return one(strings.Join(required, ","), "RECURRING,INSTALMENT")
	}
}

func (s *session) usages() result {
	try := func(usage string) reply { return s.stored("RECURRING", usage) }
	if v := try("UNSCHEDULED_CIT"); v != refuses {
		return v.choose("none", "")
	}
	const public = "RECURRING,STANDING_ORDER,UNSCHEDULED_MIT"
	switch refused, known := refusals(strings.Split(public, ","), try); {
	case !known:
		return open(unusable)
	case len(refused) > 0:
		return other("refused: UNSCHEDULED_CIT, " + strings.Join(refused, ", "))
	default:
		return is(public)
	}
}

// token makes a single-use token, which takes no money, of the details of an account.
func (s *session) token(kind string, details object) (reply, string) {
	details["supplierBusinessCode"], details["accountType"] = s.business, kind
	v, a := judge(func() answer {
		return s.send(http.MethodPost, "/single-use-tokens", details, s.publishable).with("singleUseTokenId")
	})
	return v, a.body.Get("singleUseTokenId").Text
}

func (s *session) bsbForm() result {
	dash, _ := s.token("DIRECT_DEBIT", bank(bankAccepted))
	digits, _ := s.token("DIRECT_DEBIT", bank(strings.Replace(bankAccepted, "-", "", 1)))
	return pair(dash, digits, is("either"), is("dash"), is("digits"), open("tokens for bank accounts are refused in both forms"))
}

func (s *session) payerAddress() result {
	try := func(edit func(object)) reply {
		v, _ := judge(func() answer {
			_, token := s.token("CREDIT_CARD", card("4242424242424242"))
			body := s.transaction("ACCOUNT_VERIFICATION", "", "singleUseTokenId", token)
			edit(body)
			_, a := s.make(kindHarmless, http.MethodPost, "/transactions", body)
			return a
		})
		return v
	}
	absent := try(func(object) {})
	given := try(func(body object) { body["ipAddress"] = "203.0.113.10" })
	return pair(absent, given, is("internet"), is("only"), is("always"), open("verifications of tokens are refused with and without the address"))
}

// billingAddress asks which members are required, by leaving out one at a time.
func (s *session) billingAddress() result {
	whole := map[string]string{
		"billAddrLine1": "1 Test Street", "billAddrCity": "Sydney", "billAddrPostCode": "2000", "billAddrState": "NSW", "billAddrCountry": "036",
	}
	names := []string{"billAddrLine1", "billAddrCity", "billAddrPostCode", "billAddrState", "billAddrCountry"}
	details := card("4242424242424242")
	details["threeDS2"] = true
	details["browserProfile"] = object{
		"browserJavaEnabled": false, "browserLanguage": "en-AU", "browserScreenHeight": "900", "browserScreenWidth": "1440",
		"browserColorDepth": "24", "browserTZ": "-600",
	}
	_, token := s.token("CREDIT_CARD", details)
	disabled := false
	try := func(send func(name string) bool) reply {
		body := object{"messageCategory": "01", "threeDSRequestorAuthenticationInd": "01", "principalAmount": "1.00", "currency": "AUD"}
		for _, name := range slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !send(name) }) {
			body[name] = whole[name]
		}
		v, _ := judge(func() answer {
			a := s.send(http.MethodPost, "/single-use-tokens/"+url.PathEscape(token)+"/three-ds2-authentication", body).with("transStatus")
			disabled = disabled || a.status == http.StatusServiceUnavailable
			return a
		})
		return v
	}
	switch first := try(func(name string) bool { return name == names[0] }); {
	case first == accepts:
		return is("none")
	case disabled:
		return open("3D Secure is not enabled")
	case first == unclear:
		return open(unusable)
	}
	required, known := refusals(names, func(left string) reply { return try(func(name string) bool { return name != left }) })
	switch {
	case !known:
		return open(unusable)
	case try(func(string) bool { return true }) != accepts:
		return open("3D Secure with a whole billing address was not accepted")
	case len(required) == 0:
		return other("more than the first line, but no single member")
	default:
		return one(strings.Join(required, ","), strings.Join(names, ","))
	}
}

func (s *session) fileReports() result {
	if !s.cfg.Files {
		return needs("payment files cannot be undone; -files allows one that cannot be processed")
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if part, err := w.CreateFormFile("file", s.digest("file", len(s.Made))+".csv"); err == nil {
		_, _ = part.Write([]byte("this is no payment file"))
	}
	_ = w.WriteField("format", "CSV2")
	_ = w.Close()
	id := s.upload(w.FormDataContentType(), form.Bytes()).body.Get("paymentFileId").Text
	if id == "" {
		return open("the file was not accepted")
	}
	v, a := judge(func() answer {
		a := s.send(http.MethodGet, "/payment-files/"+url.PathEscape(id)+"/csv", nil, asText)
		a.broken = false
		return a
	})
	switch {
	case v == unclear:
		return open(unusable)
	case a.status == http.StatusOK:
		return is("ready")
	default:
		return statusOf(a, http.StatusAccepted, http.StatusNotFound)
	}
}

// statusOf is the status of an answer, if it is one of those that are assumed.
func statusOf(a answer, listed ...int) result {
	if slices.Contains(listed, a.status) {
		return is(strconv.Itoa(a.status))
	}
	return other("status " + strconv.Itoa(a.status))
}

// latestKey looks whether the key that is issued to the newest key is another one. The last key is
// handed to the caller, and kept nowhere.
func (s *session) latestKey() result {
	if s.cfg.NewKey == nil {
		return needs("asking may issue a key; -issue-key allows it")
	}
	var keys []string
	for range 2 {
		key := s.get("/api-keys/latest", nil).body.Get("key").Text
		if key == "" {
			return open("no key was returned")
		}
		keys = append(keys, key)
		if err := s.cfg.NewKey(key); err != nil {
			s.err = err
		}
		s.cfg.Keys.Secret = key
	}
	if keys[0] == keys[1] {
		return is("latest")
	}
	return is("new")
}
