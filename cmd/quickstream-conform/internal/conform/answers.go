package conform

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

func (s *session) nothingFound() result {
	return twice(func() result {
		a := s.get("/transactions/for-settlement-date", url.Values{"settlementDate": {"1990-01-02"}})
		switch data := a.body.get("data"); {
		case !a.usable():
			return result{}
		case a.status == http.StatusOK && data.kind == "null":
			return other("null in place of the list")
		case a.status == http.StatusOK && data.kind == "array" && len(data.items) == 0:
			return is("empty")
		case a.status == http.StatusNotFound:
			return is("404")
		default:
			return other("status " + strconv.Itoa(a.status) + ", data " + data.described())
		}
	})
}

// errorForm is the form of the refusal of a payment without its members.
func (s *session) errorForm() result {
	return twice(func() result {
		a := s.send(http.MethodPost, "/transactions", object{"transactionType": "PAYMENT"}, "")
		if !a.refused() {
			return result{}
		}
		return formOfError(a)
	})
}

func formOfError(a answer) result {
	list := a.body.get("errors")
	words := !a.body.get("customerMessage").empty() || !a.body.get("developerMessage").empty()
	first := func(v value) value {
		if v.kind == "array" && len(v.items) > 0 {
			return v.items[0]
		}
		return value{}
	}
	switch {
	case len(a.raw) == 0:
		return is("empty")
	case a.broken && strings.Contains(a.header.Get("Content-Type"), "html"):
		return is("html")
	case words && !first(list).get("fieldName").empty():
		return is("object")
	case words && list.kind == "object" && len(list.members) > 0:
		return is("map")
	case !first(a.body).get("fieldName").empty():
		return is("list")
	case words && len(list.items) == 0:
		return open("an error without fields looks the same in several forms")
	case a.broken:
		return other("no JSON, " + a.header.Get("Content-Type"))
	default:
		return other(a.body.described() + " with " + a.body.names())
	}
}

// transactionAnswers says which members the answer to a write has.
func (s *session) transactionAnswers() result {
	n, ok := s.transact("", kindHarmless, s.verification())
	if !ok {
		return open("no verification was accepted")
	}
	return content(s.answers[n].body)
}

func content(tx value) result {
	switch {
	case tx.has("responseCode") && tx.has("summaryCode"):
		return is("full")
	case !tx.has("responseCode") && !tx.has("summaryCode") && !tx.has("status"):
		return is("receipt")
	default:
		return other("members " + tx.names())
	}
}

func (s *session) keyMismatch() result {
	for range 2 {
		key := s.freshKey()
		body, another := s.verification(), s.verification()
		another["comment"] = "another"
		first := s.send(http.MethodPost, "/transactions", body, key)
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
			return one(strconv.Itoa(a.status), "422", "409")
		}
	}
	return open(unusable)
}
