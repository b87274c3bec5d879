package conform

import (
	"net/http"
	"net/url"
	"slices"
)

// find returns the receipt of a transaction: that of its answer or, without one, of a search. It is
// absent if all was read and nothing may be it.
func (s *session) find(n int) (receipt string, absent bool) {
	if s.Made[n].Handle == "" {
		absent = s.byReference(s.reference(n), func(item value) bool {
			if s.mayBe(n, item) {
				s.Made[n].Handle = item.get("receiptNumber").text
			}
			return s.Made[n].Handle != ""
		})
	}
	return s.Made[n].Handle, absent
}

// mayBe judges whether a transaction that was found is the payment that was made, and not what follows
// it or another.
func (s *session) mayBe(n int, item value) bool {
	shown, priced := cents(item.get("totalAmount"))
	surcharge, _ := cents(item.get("surchargeAmount"))
	made, _ := cents(value{kind: "text", text: s.Made[n].Amount})
	return item.get("transactionType").text == "PAYMENT" && item.get("originalReceiptNumber").empty() && !(priced && made != shown-surcharge)
}

// finds reports whether a look-up by reference has a receipt.
func (s *session) finds(reference, receipt string) reply {
	found := false
	whole := s.byReference(reference, func(item value) bool {
		found = found || item.get("receiptNumber").text == receipt
		return found
	})
	switch {
	case found:
		return accepts
	case whole:
		return refuses
	default:
		return unclear
	}
}

func (s *session) byReference(reference string, enough func(item value) bool) (whole bool) {
	return s.readAll("/transactions/for-reference-number", url.Values{"referenceNumber": {reference}}, enough)
}

// readAll reads a list until an item is enough, and reports whether it has seen all of it. The order of
// several pages may have changed meanwhile, so they are never all of it. It takes only the query of a next
// link, and the path that it knows, so that no form of the link leads elsewhere.
func (s *session) readAll(path string, query url.Values, enough func(item value) bool) (whole bool) {
	filled := 0
	for n := range maxPages {
		a := s.page(path, query)
		if n == 0 && a.status == http.StatusNotFound {
			return true // there is no such list
		}
		items := a.body.get("data").items
		if !a.accepted() || a.broken || slices.ContainsFunc(items, enough) {
			return false
		}
		if len(items) > 0 {
			filled++
		}
		next := ""
		for _, link := range a.body.get("links").items {
			if link.get("rel").text == "next" {
				next = link.get("href").text
			}
		}
		at, err := url.Parse(next)
		if next == "" || err != nil {
			return err == nil && filled <= 1
		}
		query = at.Query()
	}
	return false
}

// page reads a page, and once more if it is no page: a list of errors may have the same name.
func (s *session) page(path string, query url.Values) (a answer) {
	for range 2 {
		a = s.get(path, query)
		data := a.body.get("data")
		errors := slices.ContainsFunc(data.items, func(item value) bool { return item.has("fieldName") })
		if a.broken = a.broken || a.accepted() && (data.kind == "" || errors); !a.broken || !a.accepted() {
			break
		}
	}
	return a
}
