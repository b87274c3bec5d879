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

// followUpReferences compares a refund with a top-up.
func (s *session) followUpReferences() result {
	refund, topUp := s.ownReference("refund", "bank"), s.ownReference("topUp", "preauth")
	switch {
	case refund == topUp, topUp.open != "":
		return refund
	case refund.open != "":
		return topUp
	default:
		return other("of a refund " + refund.value + ", of a top-up " + topUp.value)
	}
}

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

// search looks up a payment by forms of its reference.
func (s *session) search() result {
	receipt := s.receipt("echo")
	if receipt == "" {
		return open(notMade)
	}
	sent := s.echoReference()
	found := map[string]bool{}
	for _, query := range []string{sent, strings.ToLower(sent), strings.ToUpper(sent), sent[:len(sent)-4]} {
		v := s.finds(query, receipt)
		if v == unclear {
			return open(unusable)
		}
		found[query] = v == accepts
	}
	switch anyCase, prefix := found[strings.ToLower(sent)] && found[strings.ToUpper(sent)], found[sent[:len(sent)-4]]; {
	case !found[sent]:
		return other("the reference as sent is not found")
	case anyCase && prefix:
		return is("prefix")
	case anyCase:
		return is("anyCase")
	case !prefix:
		return is("exact")
	default:
		return other("no listed search explains the look-ups")
	}
}

// echoed is the form in which a read shows a reference.
func (s *session) echoed() result {
	tx, ok := s.read("echo")
	if !ok {
		return open(notMade)
	}
	sent := s.echoReference()
	switch shown := tx.get("customerReferenceNumber"); {
	case shown.empty():
		return is("none")
	case shown.text == sent:
		return is("sent")
	case shown.text == strings.ToUpper(sent):
		return is("upper")
	default:
		return other(pattern(shown.text))
	}
}

// refundable says whether a card payment can be refunded while it can be voided.
func (s *session) refundable() result {
	tx, ok := s.read("echo")
	switch {
	case !ok:
		return open(notMade)
	case tx.get("voidable").text != "true":
		return open("the payment can not be voided any more")
	}
	return one(tx.get("refundable").text, "true", "false")
}
