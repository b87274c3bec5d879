package conform

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
)

// sample is a transaction whose settlement date is compared with its time.
type sample struct {
	Number int       `json:"number"`
	Due    time.Time `json:"due"`
	At     time.Time `json:"at,omitzero"` // by the service's clock
	Date   string    `json:"date,omitempty"`
}

// planDays decides which samples the run can wait for.
func (s *session) planDays() {
	if len(s.Samples) > 0 || s.Findings["CutOffHour"].Name != "" {
		return
	}
	ahead := s.Date.middle()
	now := sydney(s.cfg.Clock.Now().Add(ahead))
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	first := midnight
	for now.After(first.Add(15*time.Hour+50*time.Minute)) || weekend(first) || holiday(first) {
		first = first.AddDate(0, 0, 1)
	}
	var times []time.Time
	for _, hour := range []int{16, 18, 20, 22, 24} {
		at := time.Date(first.Year(), first.Month(), first.Day(), hour, 0, 0, 0, first.Location())
		times = append(times, at.Add(-time.Minute), at.Add(time.Minute))
	}
	sampled := map[time.Weekday]bool{}
	for i := range 8 { // both days of a weekend, and holidays
		noon := time.Date(midnight.Year(), midnight.Month(), midnight.Day()+i, 12, 1, 0, 0, midnight.Location())
		if noon.After(now) && (weekend(noon) && !sampled[noon.Weekday()] || !weekend(noon) && holiday(noon)) {
			sampled[noon.Weekday()] = true
			times = append(times, noon)
		}
	}
	for _, at := range times {
		if due := at.Add(-ahead); due.After(s.cfg.Clock.Now()) && !due.After(s.until) {
			s.Samples = append(s.Samples, sample{Due: due})
		}
	}
	slices.SortFunc(s.Samples, func(a, b sample) int { return a.Due.Compare(b.Due) })
	if len(s.Samples) == 0 {
		s.note(row("CutOffHour"), needs("needs -wait 2d or more"))
	}
}

func weekend(day time.Time) bool {
	return day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
}

// holiday reports the national holidays whose dates are fixed.
func holiday(day time.Time) bool {
	return slices.Contains([]string{"01-01", "01-26", "04-25", "12-25", "12-26"}, day.Format("01-02"))
}

func (s *session) dailyTasks() (tasks []task) {
	lag := s.Onsets[untilLag].After + 5*time.Second
	for i := range s.Samples {
		if s.Samples[i].At.IsZero() {
			tasks = append(tasks, task{s.Samples[i].Due, false, func() { s.take(&s.Samples[i]) }})
		}
	}
	if len(s.Samples) > 0 && len(tasks) == 0 && s.Findings["CutOffHour"].Name == "" {
		tasks = append(tasks, task{s.Samples[len(s.Samples)-1].Due.Add(lag), true, func() { s.ask(row("CutOffHour")) }})
	}
	if n, made := s.Specimens["soft91"]; made && s.Findings["SoftDeclineCodes"].Name == "" {
		tasks = append(tasks, task{s.Made[n].Sent.Add(73*time.Hour + lag), true, func() { s.ask(row("SoftDeclineCodes")) }})
	}
	return tasks
}

func (s *session) take(p *sample) {
	_, a := judge(func() answer {
		n, a := s.make(kindHarmless, http.MethodPost, "/transactions", s.verification())
		p.Number = n
		return a
	})
	if p.At = s.cfg.Clock.Now().Add(s.Date.middle()); p.Number < len(s.Made) && a.accepted() {
		p.Date = dateText(a.body)
	}
}

func dateText(tx shape.Value) string {
	if date, ok := dateOf(tx.Get("settlementDate")); ok {
		return date.Format(time.DateOnly)
	}
	return ""
}

// settlement compares the dates of all samples.
func (s *session) settlement() []result {
	var known []sample
	undated := func(p sample) bool { return p.Date == "" }
	size, _ := strconv.Atoi(s.value("PageSize"))
	if slices.ContainsFunc(s.Samples, undated) && (s.value("DateForm") == "absent" || size > 2) {
		s.searchDates()
	}
	for i := range s.Samples {
		if p := &s.Samples[i]; p.Date == "" && s.value("DateForm") != "absent" {
			p.Date = dateText(s.get("/transactions/"+url.PathEscape(s.find(p.Number)), nil).body)
		}
	}
	for _, p := range s.Samples {
		if p.Date != "" {
			known = append(known, p)
		}
	}
	if len(known) == 0 {
		return []result{open("no settlement date can be read")}
	}
	hour, late := cutOff(known)
	if len(known) < len(s.Samples) && hour.value == "" {
		hour, late = open("some settlement dates cannot be read"), open("some settlement dates cannot be read")
	}
	return []result{hour, late, settlementDays(known)}
}

// searchDates finds the settlement dates of the samples by look-ups, if answers have no dates.
func (s *session) searchDates() {
	wanted := map[string]*sample{} // by receipt
	for i := range s.Samples {
		wanted[s.find(s.Samples[i].Number)] = &s.Samples[i]
	}
	searched := map[string]bool{}
	for i := range 2 * len(s.Samples) { // in an unstable order, another reading shows what one left out
		if i == len(s.Samples) {
			clear(searched)
		}
		i %= len(s.Samples)
		for later := 0; later < 5 && s.Samples[i].Date == ""; later++ { // weekends with holidays
			date := sydney(s.Samples[i].At).AddDate(0, 0, later).Format(time.DateOnly)
			if searched[date] {
				continue
			}
			if searched[date] = true; s.left() < 8 {
				return
			}
			found := false
			s.pagesUntil("/transactions/for-settlement-date", url.Values{"settlementDate": {date}}, func(page []shape.Value) bool {
				more := false
				for _, item := range page {
					if p := wanted[item.Get("receiptNumber").Text]; p != nil {
						p.Date, more, found = date, true, true
					}
				}
				return found && !more // the samples of a day were made one after another
			})
		}
	}
}

// cutOff finds when the settlement date changes in the day of the close samples.
func cutOff(samples []sample) (hour, late result) {
	hour, late = open("needs a whole weekday"), open("needs a whole weekday")
	for i := 1; i < len(samples); i++ {
		from, to := sydney(samples[i-1].At), sydney(samples[i].At)
		switch {
		case from.Hour() < 15 || to.Sub(from) > 3*time.Hour || samples[i-1].Date == samples[i].Date:
		case to.Sub(from) > 5*time.Minute:
			return other(fmt.Sprintf("between %s and %s", from.Format("15:04"), to.Format("15:04"))), is("false")
		case to.Hour() == 0:
			return open("the date changes at midnight"), is("true")
		default:
			return is(fmt.Sprint(to.Hour())), is("false")
		}
	}
	return hour, late
}

// settlementDays looks at noon, before any cut-off.
func settlementDays(samples []sample) result {
	weekends, days, holidays := map[string]bool{}, map[time.Weekday]bool{}, ""
	for _, p := range samples {
		at := sydney(p.At)
		if at.Hour() != 12 {
			continue
		}
		moved := map[bool]string{true: "same", false: "moved"}[at.Format(time.DateOnly) == p.Date]
		switch {
		case weekend(at):
			weekends[moved] = true
			days[at.Weekday()] = true
		case holiday(at):
			holidays = moved
		case moved == "moved":
			return other("a working day has the date of another")
		}
	}
	switch {
	case len(days) < 2:
		return open("needs a weekend")
	case len(weekends) == 2:
		return other("one day of the weekend")
	case weekends["same"] && holidays != "moved":
		return is("every")
	case weekends["same"]:
		return other("weekends, but not holidays")
	case holidays == "same":
		return is("weekdays")
	case holidays == "moved":
		return is("business")
	default:
		return open("no weekend; the wait had no national holiday")
	}
}

// startRetries makes payments that are declined, if the run waits for their retries.
func (s *session) startRetries() {
	switch p := row("SoftDeclineCodes"); {
	case !s.missing(p):
	case !s.can(74 * time.Hour):
		s.note(p, needs("needs -wait 80h"))
	default:
		for _, decline := range softCards() {
			if _, made := s.Specimens["soft"+decline.code]; !made {
				s.specimen("soft"+decline.code, kindPayment, s.transaction("PAYMENT", "1.01", "creditCard", card(decline.number)))
			}
		}
		s.keep()
	}
}

// retriesOf returns the retries of a payment, in the order of their times, and whether all were seen.
func (s *session) retriesOf(receipt string) (retries []shape.Value, whole bool) {
	seen := map[string]bool{receipt: true}
	whole = s.readAll("/transactions/"+url.PathEscape(receipt)+"/retries", nil, func(page []shape.Value) bool {
		for _, item := range page {
			if r := item.Get("receiptNumber").Text; !seen[r] {
				seen[r] = true
				retries = append(retries, item)
			}
		}
		return false
	})
	slices.SortStableFunc(retries, func(a, b shape.Value) int {
		x, _ := timeOf(a.Get("transactionTime"))
		y, _ := timeOf(b.Get("transactionTime"))
		return x.at.Compare(y.at)
	})
	return retries, whole
}

func (s *session) retries() []result {
	var declines, retried []string
	first := ""
	for _, decline := range softCards() {
		n := s.Specimens["soft"+decline.code]
		receipt := s.find(n)
		code := s.declineCode(n)
		a := s.page("/transactions/"+url.PathEscape(receipt)+"/retries", nil)
		if receipt == "" || code == "" || a.broken || !a.accepted() && a.status != http.StatusNotFound {
			return []result{open("a declined payment or its retries cannot be read")}
		}
		declines = append(declines, code)
		if len(a.body.Get("data").Items) > 0 {
			retried = append(retried, code)
			if first == "" {
				first = receipt
			}
		}
	}
	soft := softDeclines(declines, retried)
	if first == "" {
		return []result{soft, open("no payment was retried")}
	}
	const unread = "the retries of a payment cannot be read"
	retries, whole := s.retriesOf(first)
	if !whole || len(retries) == 0 {
		return []result{soft, open(unread)}
	}
	of := is("first")
	if len(retries) == 1 {
		more, whole := s.retriesOf(retries[0].Get("receiptNumber").Text)
		of = is("previous")
		switch retries = append(retries, more...); {
		case !whole:
			return []result{soft, open(unread)}
		case len(more) == 0:
			of = open("there was no second retry")
		}
	}
	original := s.get("/transactions/"+url.PathEscape(first), nil).body
	return []result{soft, of, retrySchedule(append([]shape.Value{original}, retries...))}
}

// declineCode is the code that the answer gave, or a read if the answer had none. A number has lost
// its leading zero.
func (s *session) declineCode(n int) string {
	code := s.answers[n].body.Get("responseCode")
	if code.Empty() {
		code = s.get("/transactions/"+url.PathEscape(s.find(n)), nil).body.Get("responseCode")
	}
	if code.Kind == shape.Number {
		return fmt.Sprintf("%02s", code.Text)
	}
	return code.Text
}

// softDeclines names the codes that were retried. The listed values are about four codes: if the
// cards were declined with others, the result is another one.
func softDeclines(declines, retried []string) result {
	codes := func(list []string) string {
		return strings.Join(slices.Compact(slices.Sorted(slices.Values(list))), ",")
	}
	found := cmp.Or(codes(retried), "none")
	if all := codes(declines); all != "01,05,51,91" {
		return other(found + " of " + all)
	}
	return one(found, "none", "01", "01,05,51,91")
}

// retrySchedule compares the times of a payment and its retries with each other, so that no clock
// matters.
func retrySchedule(attempts []shape.Value) result {
	var waits []string
	for i := 1; i < len(attempts); i++ {
		from, ok1 := timeOf(attempts[i-1].Get("transactionTime"))
		to, ok2 := timeOf(attempts[i].Get("transactionTime"))
		if !ok1 || !ok2 {
			return open("the times of retries cannot be read")
		}
		waits = append(waits, brief(to.at.Sub(from.at).Round(max(from.grain, time.Second))))
	}
	return one(strings.Join(waits, ","), "24h,48h", "2h,6h")
}

// columns reads the columns of a transaction report, and no line.
func (s *session) columns() {
	query := url.Values{"version": {"2"}, "settlementDate": {s.today(0)}}
	for range 4 {
		if len(s.Columns) > 0 || s.left() < 20 || !s.can(2*time.Minute) {
			return
		}
		a := s.send(http.MethodGet, "/transactions/csv?"+query.Encode(), nil, asText)
		if a.status != http.StatusAccepted && a.status != http.StatusOK {
			return
		}
		if a.status == http.StatusOK {
			header, _, _ := strings.Cut(string(a.raw), "\r\n")
			for name := range strings.SplitSeq(header, ",") {
				if name = strings.Trim(name, `"`); !strings.HasPrefix(name, "metadata_") {
					s.Columns = append(s.Columns, name)
				}
			}
			return
		}
		s.wait(s.cfg.Clock.Now().Add(time.Minute))
	}
}
