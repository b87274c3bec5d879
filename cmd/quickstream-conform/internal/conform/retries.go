package conform

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// softCards are declined with the codes 01, 05, 51 and 91, which the service may retry.
func softCards() []string {
	return []string{"4111111117444490", "4111111115444492", "4111111111444496", "4111111114444493"}
}

// makeDeclines makes payments that are declined, if the run waits for their retries.
func (s *session) makeDeclines() {
	const untilRetry = 25 * time.Hour // a service that retries by itself has done so
	if !s.can(untilRetry + time.Hour) {
		return
	}
	for _, number := range softCards() {
		s.transact(number, kindPayment, s.transaction("PAYMENT", "1.01", "creditCard", card(number)))
	}
	s.at(time.Now().Add(untilRetry+s.lagOr(day)+5*time.Second), true, func() { s.one("SoftDeclineCodes") })
}

// retries reads which of the declined payments were retried.
func (s *session) retries() result {
	var declines, retried []string
	for _, number := range softCards() {
		receipt := s.receipt(number)
		if receipt == "" {
			return open("not all payments were made")
		}
		code := s.declineCode(number)
		a := s.page("/transactions/"+url.PathEscape(receipt)+"/retries", nil)
		if code == "" || a.broken || !a.accepted() && a.status != http.StatusNotFound {
			return open("a declined payment or its retries cannot be read")
		}
		declines = append(declines, code)
		if len(a.body.get("data").items) > 0 {
			retried = append(retried, code)
		}
	}
	return softDeclines(declines, retried)
}

// declineCode is the code that the answer gave, or a read if the answer had none.
func (s *session) declineCode(name string) string {
	if code := s.answers[s.named[name]].body.get("responseCode").text; code != "" {
		return code
	}
	tx, _ := s.read(name)
	return tx.get("responseCode").text
}

// softDeclines names the codes that were retried. The listed values are about four codes: if the
// cards were declined with others, the result is another one.
func softDeclines(declines, retried []string) result {
	codes := func(list []string) string {
		return strings.Join(slices.Compact(slices.Sorted(slices.Values(list))), ",")
	}
	if len(retried) == 0 {
		return open("nothing was retried within a day")
	}
	found := codes(retried)
	if all := codes(declines); all != "01,05,51,91" {
		return other(found + " of " + all)
	}
	return one(found, "01", "01,05,51,91")
}
