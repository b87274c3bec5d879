package conform

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/quickstream-go/quickstream/conform/internal/shape"
)

// row is one probe: the questions that it answers, and how.

type row struct {
	names []string
	calls int    // about how many requests it makes
	how   string // what it does, in the report and before the start
	// ask returns one result for each name; one without an answer yet is asked for again.
	ask func(*session) []result
}

// immediate are the probes that need nothing but an answer.

func immediate() []row {
	return []row{
		choice("BareKeys", "true", "false", "the key as credentials without a colon", "", (*session).bareKey),
		choice("IgnoreUnknownQuery", "true", "false", "an unknown parameter in a search for a customer that does not exist", "", (*session).unknownQuery),
		{[]string{"NothingFound"}, 1, "the transactions of a day in 1990", (*session).nothingFound},
		{[]string{"ErrorForm", "ErrorStatusAsString", "NullErrorList"}, 3, "a payment without its members, and a receipt that does not exist", (*session).errorForms},
		{[]string{"KeyForm", "TextMembers", "Location", "TransactionAnswers", "UnknownEnumValues"}, 2, "an account verification, with an idempotency key that is no UUID", (*session).firstVerification},
		{[]string{"KeyMismatch"}, 2, "the same idempotency key for another verification", (*session).keyMismatch},
		{[]string{"UsageRequired"}, 4, "verifications with STORED_CREDENTIAL without a usage", (*session).usageRequired},
		{[]string{"StoredCredentialUsages"}, 4, "verifications with usages that are not shown in public", (*session).usages},
		{[]string{"InternationalPhones", "OtherAnswers"}, 4, "a customer of its own, with a local phone number", (*session).newCustomer},
		{[]string{"NullInPut"}, 2, "null for the email address of that customer", (*session).nullInPut},
		{[]string{"DisabledCustomers"}, 6, "a verification and a registration while that customer is disabled", (*session).disabledCustomer},
		{[]string{"BSBForm"}, 4, "tokens for a bank account, with and without a dash in the BSB", (*session).bsbForm},
		{[]string{"PayerAddress"}, 6, "verifications of tokens by mail order, with and without the payer's address", (*session).payerAddress},
		{[]string{"BillingAddressMembers"}, 8, "3D Secure for tokens with parts of a billing address", (*session).billingAddress},
		{[]string{"AgreementTexts", "AgreementTerms"}, 2, "a PayTo agreement that is recalled", (*session).firstAgreement},
		terms("PastStartRefused", "an agreement that began two days ago", func(s *session, a object) { a["paymentDetails"].(object)["startDate"] = s.today(-2) }),
		terms("AdhocNumberRequired", "an agreement ADHO without a number of payments", func(_ *session, a object) { a["paymentTerms"].(object)["frequency"] = "ADHO" }),
		terms("PayerRouteRequired", "an agreement without an account or PayID", func(_ *session, a object) { without(a, "payerDetails", "bsb", "accountNumber") }),
		{[]string{"OnePayerRoute"}, 2, "an agreement with an account and a PayID, if one is given", (*session).onePayerRoute},
		{[]string{"AgreementCodesRequired"}, 8, "agreements without one of the four codes", (*session).agreementCodes},
		{[]string{"FileReports"}, 3, "a payment file that cannot be processed, if allowed", (*session).fileReports},
		{[]string{"LatestKey"}, 2, "newer API keys, if allowed", (*session).latestKey},
	}
}

// choice is a probe that the service accepts or refuses. needs names the note of an ordinary

// request, without which a refusal says nothing.

func choice(name, accepted, refused, how, needs string, try func(*session) answer) row {
	return row{[]string{name}, 2, how, func(s *session) []result {
		if needs != "" && s.Notes[needs] != string(accepts) {
			return []result{open("an ordinary " + needs + " was not accepted")}
		}
		v, _ := judge(func() answer { return try(s) })
		return []result{v.choose(accepted, refused)}
	}}
}

func (v reply) choose(accepted, refused string) result {
	switch v {
	case accepts:
		return is(accepted)
	case refuses:
		return is(refused)
	default:
		return open(unusable)
	}
}

// terms is a choice about an agreement, which is recalled if it was made.

func terms(name, how string, edit func(*session, object)) row {
	return choice(name, "false", "true", how, "agreement", func(s *session) answer { return s.tryAgreement(func(a object) { edit(s, a) }) })
}

func without(body object, part string, names ...string) {
	for _, name := range names {
		delete(body[part].(object), name) //nolint:forcetypeassert // the part is of this package
	}
}

func (s *session) bareKey() answer {
	return s.get("/", nil, func(r *http.Request) {
		r.Header.Set("Authorization", "Basic "+basic(s.cfg.Keys.Secret))
	})
}

func (s *session) unknownQuery() answer {
	return s.get("/customers", url.Values{"customerNumber": {s.digest("stranger", 0)}, "conformUnknown": {"1"}})
}

// nothingFound repeats a form that is not listed: something in between may have made it.

func (s *session) nothingFound() []result {
	var last result
	for range 3 {
		a := s.get("/transactions/for-settlement-date", url.Values{"settlementDate": {"1990-01-02"}})
		data := a.body.Get("data")
		switch r := other("status " + strconv.Itoa(a.status) + ", data " + described(data)); {
		case a.status == http.StatusOK && data.Kind == shape.Null:
			return []result{is("null")}
		case a.status == http.StatusOK && data.Kind == shape.Array && len(data.Items) == 0:
			return []result{is("empty")}
		case a.usable() && r == last && a.status == http.StatusNotFound:
			return []result{is("404")}
		case a.usable() && r == last:
			return []result{r}
		default:
			last = r
		}
	}
	return []result{open(unusable)}
}

// errorForms compares two refusals of the same request, because something in between may make one.

func (s *session) errorForms() []result {
	_, a := judge(func() answer { return s.send(http.MethodPost, "/transactions", object{"transactionType": "PAYMENT"}) })
	missing := s.get("/transactions/"+s.digest("nothing", 0), nil)
	form := errorForm(a)
	if !a.refused() || form.other != "" && a.broken && errorForm(missing) != form {
		form = open(unusable)
	}
	status, nulls := open("this form of errors does not show it"), open("this form of errors does not show it")
	if v := a.body.Get("status"); form.value == "object" || form.value == "map" {
		status = map[shape.Kind]result{shape.Text: is("true"), shape.Number: is("false")}[v.Kind]
		if status == (result{}) {
			status = other(described(v))
		}
	}
	if v := missing.body.Get("errors"); form.value == "object" && missing.status == http.StatusNotFound {
		switch {
		case v.Kind == shape.Null || v.Kind == shape.Absent:
			nulls = is("true")
		case v.Kind == shape.Array && len(v.Items) == 0:
			nulls = is("false")
		default:
			nulls = other(described(v))
		}
	}
	return []result{form, status, nulls}
}

func errorForm(a answer) result {
	list := a.body.Get("errors")
	words := !a.body.Get("customerMessage").Empty() || !a.body.Get("developerMessage").Empty()
	first := func(v shape.Value) shape.Value {
		if v.Kind == shape.Array && len(v.Items) > 0 {
			return v.Items[0]
		}
		return shape.Value{Kind: shape.Absent}
	}
	switch {
	case len(a.raw) == 0:
		return is("empty")
	case a.broken && strings.Contains(a.header.Get("Content-Type"), "html"):
		return is("html")
	case words && !first(list).Get("fieldName").Empty():
		return is("object")
	case words && list.Kind == shape.Object && len(list.Names) > 0:
		return is("map")
	case !first(a.body).Get("fieldName").Empty():
		return is("list")
	case first(a.body).Kind == shape.Text:
		return is("texts")
	case !first(a.body.Get("data")).Get("fieldName").Empty():
		return is("data")
	case a.broken:
		return other("no JSON, " + a.header.Get("Content-Type"))
	default:
		return other(described(a.body) + " with " + strings.Join(a.body.Names, ", "))
	}
}

// firstVerification shows the form of the answer to a write.

func (s *session) firstVerification() []result {
	verify := func(key string) func() answer {
		return func() answer {
			_, a := s.make(kindHarmless, http.MethodPost, "/transactions", s.verification(), keyed(key+s.digest("key", len(s.Made))))
			return a
		}
	}
	v, a := judge(verify("conform-"))
	form := v.choose("text", "")
	if v == refuses {
		form = open("account verifications are refused")
		if v, a = judge(func() answer {
			_, a := s.make(kindHarmless, http.MethodPost, "/transactions", s.verification())
			return a
		}); v == accepts {
			form = is("uuid")
		}
	}
	s.Notes["verification"] = string(v)
	if v != accepts {
		no := open("no verification was accepted")
		return []result{form, no, no, no, no}
	}
	return []result{form, textMembers(a.body), location(a), content(a.body), unknownValues(a.body)}
}

func textMembers(tx shape.Value) result {
	switch receipt := tx.Get("receiptNumber"); receipt.Kind {
	case shape.Text, shape.Number:
		return is(string(receipt.Kind))
	default:
		return other(described(receipt))
	}
}

func location(a answer) result {
	switch at := a.header.Get("Location"); {
	case at == "":
		return is("none")
	case strings.HasSuffix(at, "/transactions/"+a.receipt()):
		return is("created")
	default:
		return other("a header of another form")
	}
}

// content says which members the answer to a write has. Members that forms of amounts, dates and

// times leave out do not count.

func content(tx shape.Value) result {
	has := func(name string) bool { return tx.Get(name).Kind != shape.Absent }
	deciding := []string{"status", "transactionType", "responseCode", "summaryCode"}
	informing := []string{"responseDescription", "source", "refundable", "voidable", "supplierBusinessCode"}
	others := []string{"comment", "settlementDate", "transactionTime", "totalAmount", "creditCard", "metadata"}
	count := func(names []string) int {
		return len(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !has(name) }))
	}
	switch decides, informs, more := count(deciding[1:]), count(informing), count(others); {
	case decides == 3 && informs == len(informing) && more > 0:
		return is("full")
	case decides == 3 && informs+more == 0:
		return is("required")
	case count(deciding)+informs+more == 0:
		return is("receipt")
	default:
		return other("members " + strings.Join(tx.Names, ", "))
	}
}

// unknownValues has an answer if the members are there; otherwise it is asked again when the

// transaction is read.

func unknownValues(tx shape.Value) result {
	source, kind := tx.Get("source").Text, tx.Get("creditCard", "cardType").Text
	switch {
	case source == "":
		return result{}
	case source != "RESTAPI" || kind != "" && kind != "CREDIT" && kind != "DEBIT":
		return is("true")
	default:
		return is("false")
	}
}

func (s *session) keyMismatch() []result {
	if s.Notes["verification"] != string(accepts) {
		return []result{open("no verification was accepted")}
	}
	for attempt := range 2 {
		key := keyed(s.idempotencyKey("mismatch", attempt))
		one, another := s.verification(), s.verification()
		another["comment"] = "another"
		first := s.send(http.MethodPost, "/transactions", one, key)
		if first.receipt() == "" {
			continue
		}
		v, a := judge(func() answer { return s.send(http.MethodPost, "/transactions", another, key).with("receiptNumber") })
		switch {
		case v == accepts && a.receipt() == first.receipt():
			return []result{is("replay")}
		case v == accepts:
			return []result{open("keys are not honoured")}
		case v == refuses:
			return []result{refusal(a.status)}
		}
	}
	return []result{open(unusable)}
}

// refusal is the status of a refusal, if it is one of those that are assumed.

func refusal(status int) result {
	switch status {
	case http.StatusUnprocessableEntity:
		return is("422")
	case http.StatusConflict:
		return is("409")
	default:
		return other("status " + strconv.Itoa(status))
	}
}

// verified tries a verification with other members.

// stored is an edit for a verification with a stored card.

// bsbForm makes tokens, which take no money.

// token makes a single-use token of a card; for 3D Secure if so.

// billingAddress asks which members are required, by leaving out one at a time.

// latestKey looks whether the key that is issued to the newest key is another one. The last key is

// handed to the caller, and kept nowhere.
