package conform

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/quickstream-go/quickstream/conform/internal/shape"
)

// nothingFound repeats a form that is not listed: something in between may have made it.
func (s *session) nothingFound() result {
	var last result
	for range 3 {
		a := s.get("/transactions/for-settlement-date", url.Values{"settlementDate": {"1990-01-02"}})
		data := a.body.Get("data")
		switch r := other("status " + strconv.Itoa(a.status) + ", data " + described(data)); {
		case a.status == http.StatusOK && data.Kind == shape.Null:
			return is("null")
		case a.status == http.StatusOK && data.Kind == shape.Array && len(data.Items) == 0:
			return is("empty")
		case a.usable() && r == last && a.status == http.StatusNotFound:
			return is("404")
		case a.usable() && r == last:
			return r
		default:
			last = r
		}
	}
	return open(unusable)
}

// errorForms compares two refusals of the same request, because something in between may make one.
func (s *session) errorForms() []result {
	_, a := judge(func() answer { return s.send(http.MethodPost, "/transactions", object{"transactionType": "PAYMENT"}) })
	missing := s.get("/transactions/"+s.digest("nothing", 0), nil)
	form := errorForm(a)
	if !a.refused() || form.other != "" && a.broken && errorForm(missing) != form {
		form = open(unusable)
	}
	status := open("this form of errors does not show it")
	nulls := status
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
