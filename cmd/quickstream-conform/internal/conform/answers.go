package conform

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
)

// twice is the first result that two of up to three tries have: something on the way may have made
// one of them.
func twice(try func() result) result {
	var seen []result
	for range 3 {
		r := try()
		if r != (result{}) && slices.Contains(seen, r) {
			return r
		}
		seen = append(seen, r)
	}
	return open(unusable)
}

func (s *session) nothingFound() result {
	return twice(func() result {
		a := s.get("/transactions/for-settlement-date", url.Values{"settlementDate": {"1990-01-02"}})
		switch data := a.body.Get("data"); {
		case !a.usable():
			return result{}
		case a.status == http.StatusOK && data.Kind == shape.Null:
			return is("null")
		case a.status == http.StatusOK && data.Kind == shape.Array && len(data.Items) == 0:
			return is("empty")
		case a.status == http.StatusNotFound:
			return is("404")
		default:
			return other("status " + strconv.Itoa(a.status) + ", data " + described(data))
		}
	})
}

// errorForms looks at two kinds of refusals.
func (s *session) errorForms() []result {
	var a answer
	form := twice(func() result {
		if a = s.send(http.MethodPost, "/transactions", object{"transactionType": "PAYMENT"}); !a.refused() {
			return result{}
		}
		return errorForm(a)
	})
	status, nulls := open("this form of errors does not show it"), open("this form of errors does not show it")
	if v := a.body.Get("status"); form.value == "object" || form.value == "map" {
		status = cmp.Or(map[shape.Kind]result{shape.Text: is("true"), shape.Number: is("false")}[v.Kind], other(described(v)))
	}
	if form.value == "object" {
		nulls = twice(func() result { return nullList(s.get("/transactions/"+s.digest("nothing", 0), nil)) })
	}
	return []result{form, status, nulls}
}

// nullList is the form of a list without errors, in a refusal with the service's own texts.
func nullList(a answer) result {
	v := a.body.Get("errors")
	switch {
	case a.status != http.StatusNotFound || !ownTexts(a):
		return result{}
	case v.Kind == shape.Null || v.Kind == shape.Absent:
		return is("true")
	case v.Kind == shape.Array && len(v.Items) == 0:
		return is("false")
	default:
		return other(described(v))
	}
}

func ownTexts(a answer) bool {
	return !a.body.Get("customerMessage").Empty() || !a.body.Get("developerMessage").Empty()
}

func errorForm(a answer) result {
	list := a.body.Get("errors")
	words := ownTexts(a)
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
	case words && len(list.Items) == 0:
		return open("an error without fields looks the same in several forms")
	case a.broken:
		return other("no JSON, " + a.header.Get("Content-Type"))
	default:
		return other(described(a.body) + " with " + strings.Join(a.body.Names, ", "))
	}
}

// firstVerification shows the form of the answer to a write.
func (s *session) firstVerification() []result {
	v, a := judge(func() answer { // each attempt with a key of its own
		_, a := s.make(kindHarmless, http.MethodPost, "/transactions", s.verification(), keyed("conform-"+s.digest("key", len(s.Made))))
		return a
	})
	form := v.choose("text", "")
	if v == refuses {
		form = open("account verifications are refused")
		if v, a = s.transact("", kindHarmless, s.verification()); v == accepts {
			form = is("uuid")
		}
	}
	s.Notes["verification"] = string(v)
	if v != accepts {
		return []result{form, open("no verification was accepted")}
	}
	return []result{form, textMembers(a.body), location(a), content(a.body), unknownValues(a.body)}
}

// textMembers compares the types of the receipt number and of the codes, if they are there: a code
// with a letter is a text in any form.
func textMembers(tx shape.Value) result {
	var forms []string
	kinds := map[shape.Kind]bool{}
	for _, name := range []string{"receiptNumber", "responseCode", "summaryCode"} {
		v := tx.Get(name)
		if name != "receiptNumber" && (v.Empty() || strings.Trim(v.Text, "0123456789") != "") {
			continue
		}
		kinds[v.Kind] = true
		forms = append(forms, name+" "+string(v.Kind))
	}
	switch receipt := tx.Get("receiptNumber"); {
	case receipt.Kind != shape.Text && receipt.Kind != shape.Number:
		return other(described(receipt))
	case len(kinds) > 1:
		return other(strings.Join(forms, ", "))
	default:
		return is(string(receipt.Kind))
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

func (s *session) keyMismatch() result {
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
			return is("replay")
		case v == accepts:
			return open("keys are not honoured")
		case v == refuses:
			return statusOf(a, http.StatusUnprocessableEntity, http.StatusConflict)
		}
	}
	return open(unusable)
}
