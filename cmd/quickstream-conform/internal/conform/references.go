package conform

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
)

func (s *session) reused() []result {
	l := s.pages("/transactions/for-reference-number", url.Values{"referenceNumber": {"conform-" + strings.ToLower(s.digest("unused", 0)[:12])}})
	switch {
	case len(l.pages) == 0 && l.first.status != http.StatusNotFound:
		return []result{open(unusable)}
	case len(l.pages) == 0 || len(l.pages[0]) == 0:
		return []result{is("none")}
	}
	code := l.pages[0][0].Get("summaryCode").Text
	if value := map[string]string{"0": "approved", "1": "declined"}[code]; value != "" {
		return []result{is(value)}
	}
	return []result{other("a transaction with summary code " + shape.Pattern(code))}
}

// spelled is one of our own references, which are in capitals, as it can be looked up.
func (s *session) spelled(reference string) string {
	if s.Notes["case"] == "lower" {
		return strings.ToLower(reference)
	}
	return reference
}

func (s *session) holds(reference, receipt string) reply {
	return s.finds(s.spelled(reference), receipt)
}

func (s *session) refundReferences() []result {
	_, made := s.Specimens["refund"]
	if !made {
		return []result{open("no refund was accepted")}
	}
	return []result{s.ownReference("refund", "bank")}
}

// ownReference finds under which reference a follow-up is found.
func (s *session) ownReference(name, original string) result {
	n, of := s.Specimens[name], s.Specimens[original]
	receipt, first := s.answers[n].receipt(), s.find(of)
	if receipt == "" || first == "" || s.holds(s.reference(of), first) != accepts {
		return open("the transaction or its original is not found")
	}
	switch own, original := s.holds(s.reference(n), receipt), s.holds(s.reference(of), receipt); {
	case own == unclear || original == unclear:
		return open(unusable)
	case own == accepts && original == accepts:
		return other("both")
	case own == accepts:
		return is("own")
	case original == accepts:
		return is("original")
	default:
		return is("none")
	}
}

// references finds the forms of references by elimination: each observation excludes what would
// have shown something else.
func (s *session) references() []result {
	n, made := s.Specimens["echo"]
	receipt := s.find(n)
	if !made || receipt == "" {
		return []result{open(notMade)}
	}
	echo := s.echoForm(n)
	tx, ok := s.read("echo")
	if !ok {
		return []result{echo, open(unusable)}
	}
	read := tx.Get("customerReferenceNumber")
	sent := s.echoReference()
	queries := []string{sent, strings.TrimSpace(sent), strings.ToLower(sent), strings.ToUpper(sent), swapped(sent), swapped(strings.TrimSpace(sent)), sent[:len(sent)-4]}
	found := make([]bool, len(queries))
	for i, q := range queries {
		v := s.finds(q, receipt)
		if v == unclear {
			return []result{echo, open(unusable)}
		}
		found[i] = v == accepts
	}
	fits := func(stored, search string) bool {
		kept := referenceForm(sent, stored)
		if echo.value != "" && referenceForm(kept, echo.value) != read.Text {
			return false
		}
		for i, q := range queries {
			if matches(search, kept, q) != found[i] {
				return false
			}
		}
		return true
	}
	stored, search := candidates(fits)
	if stored == nil {
		return append([]result{echo}, misfit(echo, formOf(sent, read))...)
	}
	return []result{echo, s.only(stored, "reads and look-ups do not show which"), s.only(search, "look-ups do not show which")}
}

// misfit attributes what no listed forms explain together. Only if answers show references as they
// are stored is it known which of the two it is.
func misfit(echo, stored result) []result {
	switch {
	case echo.value != "sent":
		return []result{open("no listed forms explain the look-ups")}
	case stored.other != "":
		return []result{stored, open("references are stored in another form")}
	default:
		return []result{stored, other("no listed search explains the look-ups")}
	}
}

func (s *session) only(list []string, why string) result {
	switch len(list) {
	case 0:
		return other("no listed form explains the look-ups")
	case 1:
		return is(list[0])
	default:
		return open(why + ": " + strings.Join(list, " or "))
	}
}

func candidates(fits func(stored, search string) bool) (stored, search []string) {
	for _, st := range []string{"sent", "lower", "upper", "trimmed"} {
		for _, se := range []string{"anyCase", "exact", "prefix"} {
			if fits(st, se) {
				stored, search = append(stored, st), append(search, se)
			}
		}
	}
	unique := func(list []string) []string {
		slices.Sort(list)
		return slices.Compact(list)
	}
	return unique(stored), unique(search)
}

// echoForm is the form of references in answers: in that of the payment or, if that has none, of
// an end-to-end id, which is not looked up.
func (s *session) echoForm(n int) result {
	if a := s.answers[n]; a.body.Get("responseCode").Kind != shape.Absent {
		return formOf(s.echoReference(), a.body.Get("customerReferenceNumber"))
	}
	if length, err := strconv.Atoi(s.Notes["endToEnd"]); err == nil {
		if tx, _ := s.read("onceOff"); tx.Get("payToData").Kind == shape.Object {
			return formOf(s.endToEndID(length), tx.Get("payToData", "endToEndId"))
		}
	}
	return open("no answer shows a reference as it was sent")
}

func formOf(sent string, v shape.Value) result {
	if v.Kind == shape.Absent {
		return is("none")
	}
	for _, form := range []string{"sent", "upper", "lower", "trimmed"} {
		if v.Text == referenceForm(sent, form) {
			return is(form)
		}
	}
	return other("the reference is shown as " + shape.Pattern(v.Text))
}

func referenceForm(text, form string) string {
	switch form {
	case "upper":
		return strings.ToUpper(text)
	case "lower":
		return strings.ToLower(text)
	case "trimmed":
		return strings.TrimSpace(text)
	case "none":
		return ""
	default:
		return text
	}
}

func matches(search, kept, query string) bool {
	switch search {
	case "exact":
		return kept == query
	case "prefix":
		return strings.HasPrefix(strings.ToLower(kept), strings.ToLower(query))
	default:
		return strings.EqualFold(kept, query)
	}
}

func swapped(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 32
		case r >= 'A' && r <= 'Z':
			return r + 32
		default:
			return r
		}
	}, text)
}
