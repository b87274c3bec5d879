package conform

import "strings"

// holds reports whether a look-up by one of our own references, which are in capitals, has a receipt.
func (s *session) holds(reference, receipt string) reply {
	v := s.finds(reference, receipt)
	if v == refuses {
		v = s.finds(strings.ToLower(reference), receipt)
	}
	return v
}

func (s *session) refundReferences() result { return s.ownReference("refund", "bank") }

func (s *session) followUpReferences() result { return s.ownReference("topUp", "preauth") }

// ownReference finds under which reference a follow-up is found.
func (s *session) ownReference(name, original string) result {
	receipt, first := s.receipt(name), s.receipt(original)
	own, of := s.reference(s.named[name]), s.reference(s.named[original])
	if receipt == "" || first == "" {
		return open(notMade)
	}
	if s.holds(of, first) != accepts {
		return open("the original transaction is not found by its own reference")
	}
	switch byOwn, byOriginal := s.holds(own, receipt), s.holds(of, receipt); {
	case byOwn == unclear || byOriginal == unclear:
		return open(unusable)
	case byOwn == accepts && byOriginal == accepts:
		return other("both")
	case byOwn == accepts:
		return is("own")
	case byOriginal == accepts:
		return is("original")
	default:
		return is("none")
	}
}

// references looks up a payment by forms of its reference. If case matters, only the form that is
// stored is found.
func (s *session) references() []result {
	receipt := s.receipt("echo")
	if receipt == "" {
		return []result{open(notMade)}
	}
	sent := s.echoReference()
	bare, beginning := strings.TrimSpace(sent), sent[:len(sent)-4]
	forms := map[string]string{"sent": sent, "lower": strings.ToLower(sent), "upper": strings.ToUpper(sent), "trimmed": bare}
	found := map[string]bool{}
	for _, query := range []string{sent, forms["lower"], forms["upper"], bare, strings.ToLower(bare), strings.ToUpper(bare), beginning} {
		v := s.finds(query, receipt)
		if v == unclear {
			return []result{open(unusable)}
		}
		found[query] = v == accepts
	}
	var stored []string
	for form, query := range forms {
		if found[query] {
			stored = append(stored, form)
		}
	}
	switch anyCase := found[forms["lower"]] && found[forms["upper"]] || found[strings.ToLower(bare)] && found[strings.ToUpper(bare)]; {
	case !anyCase && !found[beginning] && len(stored) == 1:
		return []result{is(stored[0]), is("exact")}
	case !anyCase:
		return []result{open("look-ups do not show it"), other("no listed search explains the look-ups")}
	case !found[sent]:
		return []result{is("trimmed"), searchOf(found[beginning])}
	default:
		return []result{open("look-ups ignore case, and do not show it"), searchOf(found[beginning])}
	}
}

func searchOf(prefix bool) result {
	return is(map[bool]string{true: "prefix", false: "anyCase"}[prefix])
}
