package conform

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
)

// find returns the receipt of a transaction: that of its answer or, in a later process, of a
// search. It is empty if the service does not find it. Unless all was read, that is in doubt.
func (s *session) find(n int) string {
	if receipt := s.answers[n].receipt(); receipt != "" {
		return receipt
	}
	references := map[string][]string{
		"": {s.reference(n), strings.ToLower(s.reference(n))}, "upper": {s.reference(n)}, "lower": {strings.ToLower(s.reference(n))},
	}[s.Notes["case"]]
	s.doubts[n] = false
	for _, reference := range references {
		receipt := ""
		whole := s.readAll("/transactions/for-reference-number", url.Values{"referenceNumber": {reference}}, func(page []shape.Value) bool {
			for _, item := range page {
				switch s.mayBe(n, item) {
				case accepts:
					receipt = cmp.Or(receipt, item.Get("receiptNumber").Text)
				case unclear:
					s.doubts[n] = s.doubts[n] || !s.Made[n].Refused
				default:
				}
			}
			return receipt != ""
		})
		if receipt != "" {
			body := shape.Value{Kind: shape.Object, Names: []string{"receiptNumber"}, Items: []shape.Value{{Kind: shape.Text, Text: receipt}}}
			s.answers[n] = answer{status: http.StatusOK, body: body}
			return receipt
		}
		s.doubts[n] = s.doubts[n] || !whole
	}
	return ""
}

// mayBe judges whether a transaction that was found is the one that was made, and not a follow-up or
// an older one with the same reference.
func (s *session) mayBe(n int, item shape.Value) reply {
	since := s.Begun.AddDate(0, 0, -3)
	shown, priced := cents(item.Get("totalAmount"))
	surcharge, _ := cents(item.Get("surchargeAmount"))
	made, _ := cents(shape.Value{Kind: shape.Text, Text: s.Made[n].Amount})
	day, dated := dateOf(item.Get("settlementDate"))
	t, timed := timeOf(item.Get("transactionTime"))
	switch {
	case priced && made != shown-surcharge, !item.Get("originalReceiptNumber").Empty(), dated && day.Before(since):
		return refuses
	case item.Get("voidable").Text == "true", dated:
		return accepts
	case timed && t.at.Before(since):
		return refuses
	case priced:
		return accepts
	default:
		return unclear
	}
}

// readAll reads a list until a page is enough, and reports whether it has seen all of it. A list in
// unstable order is read twice: the second reading shows what the first left out, unless a repeated
// request had a reading in between.
func (s *session) readAll(path string, query url.Values, enough func(page []shape.Value) bool) bool {
	whole, repeated := true, false
	steady := slices.Contains([]string{"newest", "oldest"}, s.value("ListOrder"))
	for range 2 {
		stop := false
		l := s.pagesUntil(path, query, func(page []shape.Value) bool {
			stop = enough(page)
			return stop
		})
		whole = whole && (l.whole || len(l.pages) == 0 && l.first.status == http.StatusNotFound)
		if stop || len(l.pages) < 2 || steady {
			return whole
		}
		repeated = repeated || l.repeated
	}
	return whole && !repeated
}

// finds reports whether a look-up by reference has a receipt.
func (s *session) finds(reference, receipt string) reply {
	found := false
	known := s.readAll("/transactions/for-reference-number", url.Values{"referenceNumber": {reference}}, func(page []shape.Value) bool {
		found = found || slices.ContainsFunc(page, func(item shape.Value) bool { return item.Get("receiptNumber").Text == receipt })
		return found
	})
	switch {
	case found:
		return accepts
	case known:
		return refuses
	default:
		return unclear
	}
}

// list is the pages of a list.
type list struct {
	first answer
	pages [][]shape.Value
	next  []string // the addresses of the pages after the first, as the service wrote them
	gone  bool     // a page was not there at first
	whole bool
	// repeated tells that an answer was not usable: the service may have answered more readings than
	// were seen.
	repeated bool
}

// pages reads a list.
func (s *session) pages(path string, query url.Values) list {
	return s.pagesUntil(path, query, func([]shape.Value) bool { return false })
}

// pagesUntil reads a list until a page is enough. It takes only the query of a next link, and the
// path that it knows, so that no form of the link leads elsewhere.
func (s *session) pagesUntil(path string, query url.Values, enough func(page []shape.Value) bool) (l list) {
	read := func() answer {
		asked := s.asked
		a := s.page(path, query)
		l.repeated = l.repeated || s.asked > asked+1
		return a
	}
	for len(l.pages) < maxPages {
		a := read()
		if len(l.pages) > 0 && a.status == http.StatusNotFound {
			l.gone = true
			a = read()
		}
		if len(l.pages) == 0 {
			l.first = a
		}
		if !a.accepted() || a.broken {
			return l
		}
		page := a.body.Get("data").Items
		l.pages = append(l.pages, page)
		if enough(page) {
			return l
		}
		next := nextOf(a.body)
		if next == "" {
			l.whole = true
			return l
		}
		at, err := url.Parse(next)
		if err != nil {
			return l
		}
		l.next = append(l.next, next)
		query = at.Query()
	}
	return l
}

// page reads a page, and once more if it is no page: a list of errors may have the same name.
func (s *session) page(path string, query url.Values) (a answer) {
	for range 2 {
		a = s.get(path, query)
		data := a.body.Get("data")
		errors := slices.ContainsFunc(data.Items, func(item shape.Value) bool { return item.Get("fieldName").Kind != shape.Absent })
		if a.broken = a.broken || a.accepted() && (data.Kind == shape.Absent || errors); !a.broken || !a.accepted() {
			break
		}
	}
	return a
}

func nextOf(page shape.Value) string {
	for _, link := range page.Get("links").Items {
		if link.Get("rel").Text == "next" {
			return link.Get("href").Text
		}
	}
	return ""
}
