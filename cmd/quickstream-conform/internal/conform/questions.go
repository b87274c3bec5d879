package conform

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// question is a row of the table: its assumption, and how it is answered.
type question struct {
	name, how string
	ask       func(*session) result
}

// questions returns all questions in the order in which they are asked. Those that may take days come last.
func questions() []question {
	return []question{
		{"NothingFound", "the transactions of a day in 1990", (*session).nothingFound},
		{"ErrorForm", "a payment without its members", (*session).errorForm},
		{"KeyMismatch", "the same idempotency key for another verification", (*session).keyMismatch},
		{"LookupLag", "a verification that is read until it is found", (*session).lookupLag},
		{"StatusForm", "an account verification that is read", (*session).status},
		{"ReferenceSearch", "a card payment with a reference in both cases", (*session).search},
		{"Metadata", "the metadata of a payment and of its refund", (*session).metadata},
		{"PageSize", "the first page of the day's transactions", (*session).pageSize},
		{"CutOffHour", "verifications around the hours of a weekday", (*session).settlement},
		{"KeyLifetime", "a verification that is sent again with its key", (*session).keyLifetime},
		{"SoftDeclineCodes", "declined card payments, and their retries after a day", (*session).retries},
		{"PayToApprovedAfter", "a PayTo payment that is read until it is approved", (*session).payTo},
	}
}

// ask asks all questions. If the run ends early, the questions that it did not finish stay open.
func (s *session) ask() Facility {
	s.makeSpecimens()
	f := Facility{Format: 1, Host: s.base.Hostname()}
	for _, q := range questions() {
		r := q.ask(s)
		if s.err != nil {
			r = open("the run ended before: " + s.err.Error())
		}
		r.Name, r.How = q.name, q.how
		f.Findings = append(f.Findings, r)
	}
	f.SignatureScheme, f.Seen = s.webhookScheme(), time.Now().UTC()
	return f
}

// metadataProbe is long, of both cases and ends with digits, so that each change shows.
const metadataProbe = "Conform-Probe-0123456789"

// makeSpecimens makes transactions of a few dollars for later questions, with declined ones if the run waits for their retries.
func (s *session) makeSpecimens() {
	text := rand.Text()
	s.sought = "Qs" + strings.ToLower(text[:10]) + text[10:20]
	body := s.payment("1.23", card(cardApproved))
	body["customerReferenceNumber"] = s.sought
	s.echo = s.transact(kindPayment, body)
	body = s.payment("1.05", object{"eci": "MAIL", "bankAccount": object{"accountName": "Conform Probe", "bsb": "032999", "accountNumber": "999994"}})
	body["metadata"] = object{"conform": metadataProbe}
	if s.paid = s.transact(kindPayment, body); s.paid != nil {
		s.refund = s.transact(kindHarmless, s.refundOf(s.paid.Handle, "1.05"))
		s.paid.Undone = s.refund != nil
	}
	if s.can(untilRetry) {
		// They are declined with the codes 01, 05, 51 and 91, which the service may retry.
		for _, number := range []string{"4111111117444490", "4111111115444492", "4111111111444496", "4111111114444493"} {
			s.declines = append(s.declines, s.transact(kindPayment, s.payment("1.01", card(number))))
		}
	}
}

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

// errorForm returns the form of the error body that refuses a payment without its members.
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
		return other("members " + strings.Join(slices.Sorted(maps.Keys(a.body.members())), ", "))
	}
}

// keyMismatch sends a different verification with a key that was used.
func (s *session) keyMismatch() result {
	key := transport.NewKey()
	another := s.verification()
	another["comment"] = "another"
	try := func(body object) answer {
		return s.send(http.MethodPost, "/transactions", body, key).with("receiptNumber")
	}
	first := try(s.verification())
	if !first.accepted() {
		return open(unusable)
	}
	switch a := judged(func() answer { return try(another) }); {
	case a.refused():
		return one(fmt.Sprint(a.status), "422", "409")
	case !a.accepted():
		return open(unusable)
	case a.member("receiptNumber") == first.member("receiptNumber"):
		return is("replay")
	default:
		return open("keys are not honoured")
	}
}

const notFound = "reads do not find the transaction; a longer -wait may help"

// status returns the form of the status of an account verification.
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

// search looks up a payment by its reference as it was sent, in both cases, and by its beginning.
func (s *session) search() result {
	if s.echo == nil || s.lag < 0 {
		return open(notFound)
	}
	var found []bool
	for _, query := range []string{s.sought, strings.ToLower(s.sought), strings.ToUpper(s.sought), s.sought[:16]} {
		seen := false
		whole := s.byReference(query, func(item value) bool {
			seen = item.get("receiptNumber").text() == s.echo.Handle
			return seen
		})
		if !seen && !whole {
			return open(unusable)
		}
		found = append(found, seen)
	}
	switch sent, anyCase, prefix := found[0], found[1] && found[2], found[3]; {
	case sent && anyCase && prefix:
		return is("prefix")
	case sent && anyCase:
		return is("anyCase")
	case sent && !found[1] && !found[2] && !prefix:
		return is("exact")
	default:
		return other("no listed search explains the look-ups")
	}
}

// metadata compares a payment with its refund, which was made without metadata.
func (s *session) metadata() result {
	tx, ok := s.read(s.paid)
	if !ok {
		return open(notFound)
	}
	refund, made := s.read(s.refund)
	switch {
	case len(tx.get("metadata").members()) == 0:
		return is("dropped")
	case tx.get("metadata", "conform").text() != metadataProbe:
		return other("the value is changed")
	case !made:
		return open("no refund was accepted")
	case refund.get("metadata", "conform").text() == metadataProbe:
		return is("inherited")
	default:
		return is("echoed")
	}
}

// pageSize counts the items on the first page of a day's transactions, if there is a second page.
func (s *session) pageSize() result {
	tx, ok := s.read(s.probe)
	if !ok {
		return open(notFound)
	}
	a := s.page("/transactions/for-settlement-date", url.Values{"settlementDate": {tx.get("settlementDate").text()}})
	switch next, err := a.next(); {
	case !a.accepted() || err != nil:
		return open(unusable)
	case next == nil:
		return open("all transactions of the day are on one page")
	default:
		return one(strconv.Itoa(len(a.body.get("data").items())), assumption("PageSize").Worlds...)
	}
}
