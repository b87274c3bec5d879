package conform

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// repeated looks for a receipt that stands in a list twice, with two states.
func (s *session) repeated() []result {
	n := s.Specimens["echo"]
	tx, ok := s.read("echo")
	current := tx.Get("status").Text
	switch {
	case s.Made[n].Changed.IsZero() || s.find(n) == "":
		return []result{open("no payment was voided")}
	case !ok:
		return []result{open(unusable)}
	}
	if s.value("ListOrder") == "" && !strings.HasPrefix(s.Findings["ListOrder"].Open, onePageOrder) {
		return []result{open("the order of lists is not known")}
	}
	once := 0
	for range 4 { // in an unstable order, every other reading shows one state only
		var states []string
		l := s.pages("/transactions/for-reference-number", url.Values{"referenceNumber": {s.spelled(s.reference(n))}})
		for i, page := range l.pages {
			if i == 1 && s.value("Paging") == "shifting" && len(page) > 0 {
				page = page[1:] // the last of the first page, again
			}
			for _, item := range page {
				if item.Get("receiptNumber").Text == s.find(n) {
					states = append(states, item.Get("status").Text)
				}
			}
		}
		switch {
		case len(states) == 2 && states[0] != states[1]:
			if (states[1] == current) == (s.value("ListOrder") != "oldest") {
				return []result{is("olderFirst")}
			}
			return []result{is("newerFirst")}
		case len(states) == 1 && l.whole:
			once++
		case len(slices.Compact(slices.Sorted(slices.Values(states)))) > 2:
			return []result{other("more than twice")}
		}
		if once == 2 {
			return []result{is("none")}
		}
	}
	return []result{open("the payment was not found, or twice in the same state")}
}

// lists reads the shorter list and, if that is one page, the longer one.
func (s *session) lists() []result {
	for _, l := range []struct {
		name string
		n    int
	}{{"short", shortList}, {"long", longList}} {
		if l.name == "long" && s.answers[s.Specimens["long0"]].receipt() == "" {
			lag := s.Onsets[untilLag].After + time.Second
			if !s.can(lag + longList*2*time.Second) {
				return []result{open(fmt.Sprintf("all %d transactions were on one page", shortList))}
			}
			s.makeList("long", longList)
			s.wait(s.cfg.Clock.Now().Add(lag))
		}
		if !s.intact(l.name, l.n) {
			return []result{open("not all answers came when the list was made")}
		}
		first, second := s.listed(l.name), s.listed(l.name)
		if !first.whole || !second.whole {
			return []result{open("the list could not be read")}
		}
		index := s.indices(l.name, l.n)
		one, two := index(first), index(second)
		if one == nil || two == nil {
			return []result{open("the transactions of the list cannot be recognised")}
		}
		if len(first.next) == 0 && l.name == "short" {
			continue
		}
		order, pages := listOrder(one, two), paging(one, two, first.gone || second.gone, l.n)
		if first.repeated || second.repeated { // readings that were not seen came in between
			order, pages = open(unusable), open(unusable)
		}
		size := open(fmt.Sprintf("all %d transactions were on one page", l.n))
		if len(first.next) == 0 {
			return []result{size, open("the list has one page"), order, open("the list has one page")}
		}
		return []result{is(fmt.Sprint(len(first.pages[0]))), pages, order, s.nextLink(first.next[0])}
	}
	return []result{open(notMade)}
}

// intact reports that each transaction of a list was made by one request.
func (s *session) intact(name string, n int) bool {
	from, to := s.Specimens[name+"0"], s.Specimens[fmt.Sprintf("%s%d", name, n-1)]
	return to-from == n-1 && !slices.ContainsFunc(s.Made[from:to+1], func(t thing) bool { return t.Answered.IsZero() })
}

func (s *session) listed(name string) list {
	reference := s.listReference(name)
	read := func() list {
		return s.pages("/transactions/for-reference-number", url.Values{"referenceNumber": {s.spelled(reference)}})
	}
	l := read()
	empty := func() bool { return len(l.pages) == 0 || len(l.pages[0]) == 0 }
	switch {
	case s.Notes["case"] != "":
	case !empty():
		s.Notes["case"] = "upper"
	case l.whole || l.first.status == http.StatusNotFound: // and not refused by something in between
		s.Notes["case"] = "lower"
		l = read()
	}
	if empty() {
		delete(s.Notes, "case")
	}
	return l
}

// indices returns the order in which the transactions of a list were made, by page. An older one with
// the same reference is -1. It returns nil if there are others.
func (s *session) indices(name string, n int) func(list) [][]int {
	byReceipt := map[string]int{}
	for i := range n {
		if receipt := s.answers[s.Specimens[fmt.Sprintf("%s%d", name, i)]].receipt(); receipt != "" {
			byReceipt[receipt] = i
		}
	}
	older := ""
	return func(l list) (pages [][]int) {
		for _, page := range l.pages {
			indices := []int{}
			for _, item := range page {
				receipt := item.Get("receiptNumber").Text
				i, known := byReceipt[receipt]
				switch {
				case known:
					if t, ok := timeOf(item.Get("transactionTime")); ok {
						s.observe(s.Specimens[fmt.Sprintf("%s%d", name, i)], t)
					}
				case older == "" || older == receipt:
					older, i = receipt, -1
				default:
					return nil
				}
				indices = append(indices, i)
			}
			pages = append(pages, indices)
		}
		return pages
	}
}

// good reports a first page in which none is left out.
func good(pages [][]int, n int) bool {
	if len(pages) == 0 || len(pages[0]) == 0 {
		return false
	}
	if first := pages[0][0]; first != n-1 && (first > 0 || first != slices.Min(slices.Concat(pages...))) {
		return false
	}
	for i := 1; i < len(pages[0]); i++ {
		if d := pages[0][i] - pages[0][i-1]; d != 1 && d != -1 {
			return false
		}
	}
	return true
}

const onePageOrder = "newest first on one page"

func listOrder(one, two [][]int) result {
	flat := slices.Compact(slices.Concat(one...))
	backwards := func(a, b int) int { return b - a }
	switch {
	case len(flat) < 2:
		return open("the list has fewer than two transactions")
	case !slices.Equal(one[0], two[0]):
		return is("unstable")
	case slices.IsSorted(flat):
		return is("oldest")
	case slices.IsSortedFunc(flat, backwards) && len(one) == 1:
		return open(onePageOrder + "; the order between pages is not known")
	case slices.IsSortedFunc(flat, backwards):
		return is("newest")
	default:
		return other("neither newest nor oldest first")
	}
}

// paging looks at a reading whose first page leaves none out: an unstable order shows as other
// changes do.
func paging(one, two [][]int, gone bool, n int) result {
	pages := one
	if !good(one, n) {
		pages = two
	}
	if !good(pages, n) || len(pages) < 2 {
		return open("the order of the first page changes")
	}
	flat := slices.Concat(pages...)
	total := len(slices.Compact(slices.Sorted(slices.Values(flat))))
	last := pages[len(pages)-1]
	repeats := len(pages[1]) > 0 && pages[1][0] == pages[0][len(pages[0])-1]
	switch {
	case gone:
		return is("gone")
	case repeats && len(flat) == total+1:
		return is("shifting")
	case len(flat) != total:
		return other("transactions are repeated or missing")
	case len(last) == 0:
		return is("lastEmpty")
	case total%len(pages[0]) != 0:
		return open("the list does not fill its last page")
	default:
		return is("stable")
	}
}

func (s *session) nextLink(next string) result {
	u, err := url.Parse(next)
	switch {
	case err != nil:
		return other("no address")
	case strings.HasPrefix(next, "?"):
		return is("queryOnly")
	case strings.HasPrefix(next, "/"):
		return is("rootRelative")
	case u.Hostname() != s.base.Hostname():
		return other("another host")
	case u.Scheme != s.base.Scheme:
		return one(map[bool]string{true: "otherScheme", false: "another scheme"}[u.Scheme == "http" || u.Scheme == "https"], "otherScheme")
	case !strings.HasPrefix(u.Path, s.base.Path+"/"):
		return one(map[bool]string{true: "versionPrefix", false: "another path"}[strings.HasPrefix(u.Path, "/v1/")], "versionPrefix")
	case s.base.Port() != "":
		return open("the address has a port already")
	case u.Port() != "":
		return is("defaultPort")
	default:
		return is("absolute")
	}
}
