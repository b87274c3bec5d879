package conform

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// softCards are declined with codes that the service may retry.
func softCards() []struct{ code, number string } {
	return []struct{ code, number string }{
		{"01", "4111111117444490"}, {"05", "4111111115444492"}, {"51", "4111111111444496"}, {"91", "4111111114444493"},
	}
}

// untilRetry is how long after a decline a service that retries by itself has done so.
const untilRetry = 25 * time.Hour

// startRetries makes payments that are declined, if the run waits for their retries.
func (s *session) startRetries() {
	if !s.missing(row("SoftDeclineCodes")) || !s.can(untilRetry+time.Hour) {
		return
	}
	for _, decline := range softCards() {
		s.transact("soft"+decline.code, kindPayment, s.transaction("PAYMENT", "1.01", "creditCard", card(decline.number)))
	}
}

// dailyTasks are what is due hours later: what was made then is read after a lag.
func (s *session) dailyTasks(lag time.Duration) (tasks []task) {
	for i := range s.samples {
		if s.samples[i].at.IsZero() {
			tasks = append(tasks, task{s.samples[i].due, false, func() { s.take(&s.samples[i]) }})
		}
	}
	if len(s.samples) > 0 && len(tasks) == 0 && s.missing(row("CutOffHour")) {
		tasks = append(tasks, task{s.samples[len(s.samples)-1].due.Add(lag + time.Minute), true, func() { s.ask(row("CutOffHour")) }})
	}
	if n, made := s.named["soft91"]; made && s.missing(row("SoftDeclineCodes")) {
		tasks = append(tasks, task{s.Made[n].Sent.Add(untilRetry + lag), true, func() { s.ask(row("SoftDeclineCodes")) }})
	}
	return tasks
}

func (s *session) retries() []result {
	var declines, retried []string
	for _, decline := range softCards() {
		receipt := s.receipt("soft" + decline.code)
		if receipt == "" {
			return []result{open("not all payments were made")}
		}
		code := s.declineCode("soft" + decline.code)
		a := s.page("/transactions/"+url.PathEscape(receipt)+"/retries", nil)
		if code == "" || a.broken || !a.accepted() && a.status != http.StatusNotFound {
			return []result{open("a declined payment or its retries cannot be read")}
		}
		declines = append(declines, code)
		if len(a.body.get("data").items) > 0 {
			retried = append(retried, code)
		}
	}
	return []result{softDeclines(declines, retried)}
}

// declineCode is the code that the answer gave, or a read if the answer had none. A number has lost
// its leading zero.
func (s *session) declineCode(name string) string {
	code := s.answers[s.named[name]].body.get("responseCode")
	if code.empty() {
		tx, _ := s.read(name)
		code = tx.get("responseCode")
	}
	if code.kind == "number" {
		return fmt.Sprintf("%02s", code.text)
	}
	return code.text
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
