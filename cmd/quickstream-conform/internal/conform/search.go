package conform

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// find returns the receipt of a transaction: that of its answer or, without one, of a search. It is
// absent if all was read and nothing may be it.
func (s *session) find(n int) (receipt string, absent bool) {
	if s.Made[n].Handle != "" {
		return s.Made[n].Handle, false
	}
	absent = true
	for _, reference := range []string{s.reference(n), strings.ToLower(s.reference(n))} {
		absent = s.readAll("/transactions/for-reference-number", url.Values{"referenceNumber": {reference}}, func(page []value) bool {
			for _, item := range page {
				switch s.mayBe(n, item) {
				case accepts:
					receipt = cmp.Or(receipt, item.get("receiptNumber").text)
				case unclear:
					absent = absent && s.Made[n].Refused
				default:
				}
			}
			return receipt != ""
		}) && absent
		if receipt != "" {
			s.Made[n].Handle = receipt
			return receipt, false
		}
	}
	return "", absent
}

// mayBe judges whether a transaction that was found is the one that was made, and not a follow-up or
// an older one with the same reference.
func (s *session) mayBe(n int, item value) reply {
	shown, priced := cents(item.get("totalAmount"))
	surcharge, _ := cents(item.get("surchargeAmount"))
	made, _ := cents(value{kind: "text", text: s.Made[n].Amount})
	settled, dated := dateOf(item)
	switch {
	case item.get("transactionType").text != "PAYMENT":
		return refuses
	case priced && made != shown-surcharge, !item.get("originalReceiptNumber").empty(), dated && settled.Before(s.Begun.AddDate(0, 0, -3)):
		return refuses
	case item.get("voidable").text == "true", dated:
		return accepts
	default:
		return unclear
	}
}

// dateOf is the settlement date of a transaction.
func dateOf(tx value) (date time.Time, known bool) {
	for _, layout := range []string{time.DateOnly, "02 Jan 2006"} {
		if date, err := time.Parse(layout, tx.get("settlementDate").text); err == nil {
			return date, true
		}
	}
	return time.Time{}, false
}

// finds reports whether a look-up by reference has a receipt.
func (s *session) finds(reference, receipt string) reply {
	found := false
	whole := s.readAll("/transactions/for-reference-number", url.Values{"referenceNumber": {reference}}, func(page []value) bool {
		found = found || slices.ContainsFunc(page, func(item value) bool { return item.get("receiptNumber").text == receipt })
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

// readAll reads a list until a page is enough, and reports whether it has seen all of it. A list with
// several pages is read twice: if its order changes, the second reading shows what the first left out,
// unless a repeated request had a reading in between.
func (s *session) readAll(path string, query url.Values, enough func(page []value) bool) bool {
	all := true
	for range 2 {
		l := s.pages(path, query, enough)
		all = all && l.whole && (l.count < 2 || !l.repeated)
		if l.stopped || l.count < 2 {
			break
		}
	}
	return all
}

// list is what became of reading a list.
type list struct {
	count    int // of pages
	stopped  bool
	whole    bool
	repeated bool // an answer was not usable: the service may have answered more readings than were seen
}

// pages reads a list until a page is enough. It takes only the query of a next link, and the path
// that it knows, so that no form of the link leads elsewhere.
func (s *session) pages(path string, query url.Values, enough func(page []value) bool) (l list) {
	read := func() answer {
		asked := s.asked
		a := s.page(path, query)
		l.repeated = l.repeated || s.asked > asked+1
		return a
	}
	for l.count < maxPages {
		a := read()
		if l.count > 0 && a.status == http.StatusNotFound {
			a = read() // a page may be there again
		}
		if l.count == 0 && a.status == http.StatusNotFound {
			l.whole = true // there is no such list
			return l
		}
		if !a.accepted() || a.broken {
			return l
		}
		l.count++
		if l.stopped = enough(a.body.get("data").items); l.stopped {
			return l
		}
		next := ""
		for _, link := range a.body.get("links").items {
			if link.get("rel").text == "next" {
				next = link.get("href").text
			}
		}
		if next == "" {
			l.whole = true
			return l
		}
		at, err := url.Parse(next)
		if err != nil {
			return l
		}
		query = at.Query()
	}
	return l
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
