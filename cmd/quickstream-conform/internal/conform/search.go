package conform

import (
	"net/http"
	"net/url"
	"slices"
)

// find returns the receipt of a payment: that of its answer or, without one, of a search. It is
// absent if all was read and nothing may be it.
func (s *session) find(t *thing) (receipt string, absent bool) {
	if t.Handle == "" {
		absent = s.byReference(t.Reference, func(item value) bool {
			if t.mayBe(item) {
				t.Handle = item.get("receiptNumber").text()
			}
			return t.Handle != ""
		})
	}
	return t.Handle, absent
}

// mayBe judges whether a transaction that was found is the payment that was made, and not what follows
// it or another.
func (t *thing) mayBe(item value) bool {
	shown, priced := cents(item.get("totalAmount", "amount").text())
	surcharge, _ := cents(item.get("surchargeAmount", "amount").text())
	made, _ := cents(t.Amount)
	return item.get("transactionType").text() == "PAYMENT" && item.get("originalReceiptNumber").text() == "" && !(priced && made != shown-surcharge)
}

// finds reports whether a look-up by reference has a receipt, and whether it has seen all of the list.
func (s *session) finds(reference, receipt string) (found, whole bool) {
	whole = s.byReference(reference, func(item value) bool {
		found = found || item.get("receiptNumber").text() == receipt
		return found
	})
	return found, whole
}

func (s *session) byReference(reference string, enough func(item value) bool) (whole bool) {
	return s.readAll("/transactions/for-reference-number", url.Values{"referenceNumber": {reference}}, enough)
}

// readAll reads a list until an item is enough, and reports whether it has seen all of it. The order of
// several pages may have changed meanwhile, so they are never all of it.
func (s *session) readAll(path string, query url.Values, enough func(item value) bool) (whole bool) {
	filled := 0
	for n := range maxPages {
		a := s.page(path, query)
		if n == 0 && a.status == http.StatusNotFound {
			return true // there is no such list
		}
		items := a.body.get("data").items()
		next, err := nextPage(a)
		if !a.accepted() || err != nil || slices.ContainsFunc(items, enough) {
			return false
		}
		if len(items) > 0 {
			filled++
		}
		if next == nil {
			return filled <= 1
		}
		query = next
	}
	return false
}

// nextPage is the query of the next link of a page, or nil. The path of the link is not taken, so that no
// form of it leads elsewhere.
func nextPage(a answer) (url.Values, error) {
	for _, link := range a.body.get("links").items() {
		if link.get("rel").text() == "next" {
			at, err := url.Parse(link.get("href").text())
			if err != nil {
				return nil, err
			}
			return at.Query(), nil
		}
	}
	return nil, nil
}

// page reads a page. A list of errors under the same name is none.
func (s *session) page(path string, query url.Values) answer {
	a := s.get(path, query)
	data, isList := a.body.get("data").any.([]any)
	errors := slices.ContainsFunc(data, func(item any) bool { return value{item}.get("fieldName").any != nil })
	a.broken = a.broken || a.accepted() && (!isList || errors)
	return a
}
