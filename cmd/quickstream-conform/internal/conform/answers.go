package conform

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

func (s *session) nothingFound() result {
	a := judged(func() answer {
		return s.page("/transactions/for-settlement-date", url.Values{"settlementDate": {"1990-01-02"}})
	})
	switch {
	case a.status == http.StatusNotFound:
		return is("404")
	case a.refused():
		return other("status " + strconv.Itoa(a.status))
	case a.accepted() && len(a.body.get("data").items()) == 0:
		return is("empty")
	default:
		return open(unusable)
	}
}

// errorForm is the form of the refusal of a payment without its members.
func (s *session) errorForm() result {
	a := judged(func() answer {
		return s.send(http.MethodPost, "/transactions", object{"transactionType": "PAYMENT"}, "")
	})
	if !a.refused() {
		return open(unusable)
	}
	return formOfError(a)
}

func formOfError(a answer) result {
	list := a.body.get("errors")
	words := a.body.get("customerMessage").text()+a.body.get("developerMessage").text() != ""
	named := func(v value) bool {
		items := v.items()
		return len(items) > 0 && items[0].get("fieldName").text() != ""
	}
	switch {
	case len(a.raw) == 0:
		return is("empty")
	case a.broken && strings.Contains(a.header.Get("Content-Type"), "html"):
		return is("html")
	case words && named(list):
		return is("object")
	case words && len(list.members()) > 0:
		return is("map")
	case named(a.body):
		return is("list")
	case words && len(list.items()) == 0:
		return open("an error without fields looks the same in several forms")
	case a.broken:
		return other("no JSON, " + a.header.Get("Content-Type"))
	default:
		return other("members " + a.body.names())
	}
}
