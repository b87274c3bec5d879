package conform

import (
	"crypto/rand"
	"net/url"
	"strconv"
	"strings"
)

const notFound = "reads do not find the transaction; a longer -wait may help"

// metadataProbe is long, of both cases and ends with digits, so that each change shows.
const metadataProbe = "Conform-Probe-0123456789"

// makeSpecimens makes what is read when reads find it, and declined payments if the run waits for their retries: each takes at most a few dollars.
func (s *session) makeSpecimens() {
	text := rand.Text()
	s.sought = "Qs" + strings.ToLower(text[:10]) + text[10:20]
	body := s.transaction("PAYMENT", "1.23", "creditCard", card(cardApproved))
	body["customerReferenceNumber"] = s.sought
	s.echo = s.transact(kindPayment, body)
	for _, bsb := range []string{"032-999", "032999"} { // in the form that the service takes
		body = s.transaction("PAYMENT", "1.05", "bankAccount", bank(bsb))
		body["metadata"] = object{"conform": metadataProbe}
		if s.paid = s.transact(kindPayment, body); s.paid != nil {
			s.refund = s.transact(kindHarmless, s.followUp(s.paid.Handle, "1.05"))
			s.paid.Undone = s.refund != nil
			break
		}
	}
	if s.can(untilRetry) {
		for _, number := range softCards() {
			s.declines = append(s.declines, s.transact(kindPayment, s.transaction("PAYMENT", "1.01", "creditCard", card(number))))
		}
	}
}

// status is the form of the status of an account verification.
func (s *session) status() result {
	tx, ok := s.read(s.probe)
	if !ok {
		return open(notFound)
	}
	return statusForm(tx.get("status"))
}

func statusForm(v value) result {
	switch word, isText := v.any.(string); {
	case v.any == nil:
		return is("absent")
	case word == "Approved":
		return is("listed")
	case word == "APPROVED":
		return is("otherCase")
	case word == "Settled":
		return is("unlisted")
	case isText && len(word) < 20:
		return other("the word " + word)
	default:
		return other("no word")
	}
}

// pageSize counts the first page of a day's transactions, if it has another.
func (s *session) pageSize() result {
	tx, ok := s.read(s.probe)
	if !ok {
		return open(notFound)
	}
	a := s.page("/transactions/for-settlement-date", url.Values{"settlementDate": {tx.get("settlementDate").text()}})
	switch next, err := nextPage(a); {
	case !a.accepted() || err != nil:
		return open(unusable)
	case next == nil:
		return open("all transactions of the day are on one page")
	default:
		return one(strconv.Itoa(len(a.body.get("data").items())), "1", "3", "20", "1000")
	}
}

// metadata compares a payment with its refund, which was made without any.
func (s *session) metadata() result {
	tx, ok := s.read(s.paid)
	if !ok {
		return open(notFound)
	}
	refund, made := s.read(s.refund)
	switch shown := tx.get("metadata", "conform").text(); {
	case len(tx.get("metadata").members()) == 0:
		return is("dropped")
	case shown != metadataProbe:
		return other("the value is changed")
	case !made:
		return open("no refund was accepted")
	case refund.get("metadata", "conform").text() == metadataProbe:
		return is("inherited")
	default:
		return is("echoed")
	}
}

// search looks up a payment by forms of its reference.
func (s *session) search() result {
	if s.echo == nil || s.lag < 0 {
		return open(notFound)
	}
	sent := s.sought
	found := map[string]bool{}
	for _, query := range []string{sent, strings.ToLower(sent), strings.ToUpper(sent), sent[:len(sent)-4]} {
		seen, whole := s.finds(query, s.echo.Handle)
		if !seen && !whole {
			return open(unusable)
		}
		found[query] = seen
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
