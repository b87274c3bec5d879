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

const untilRetry = 25 * time.Hour // a service that retries by itself has done so

// retries reads which of the declined payments were retried.
func (s *session) retries() result {
	if len(s.declines) == 0 || !s.can(untilRetry-time.Since(s.begun)) || !s.wait(s.begun.Add(untilRetry)) || !s.found() {
		return open(needsDays)
	}
	var declined, again []string
	for _, t := range s.declines {
		tx, ok := s.read(t)
		if !ok {
			return open("not all declined payments can be read")
		}
		code := tx.get("responseCode").text()
		a := s.page("/transactions/"+url.PathEscape(t.Handle)+"/retries", nil)
		if code == "" || !a.accepted() && a.status != http.StatusNotFound {
			return open("the retries of a declined payment cannot be read")
		}
		declined = append(declined, code)
		if len(a.body.get("data").items()) > 0 {
			again = append(again, code)
		}
	}
	return softDeclines(declined, again)
}

// softDeclines names the codes that were retried. The listed values are about four codes: if the
// cards were declined with others, the result is another one.
func softDeclines(declined, again []string) result {
	if len(again) == 0 {
		return open("nothing was retried within a day")
	}
	slices.Sort(declined)
	slices.Sort(again)
	found, all := strings.Join(again, ","), strings.Join(declined, ",")
	if all != "01,05,51,91" {
		return other(found + " of " + all)
	}
	return one(found, "01", "01,05,51,91")
}
