package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// script is a service of which the answers are written down. It finds nothing by reference.
type script struct {
	days  map[string]string // the body of a settlement date; "" is a 404 in the service's own words
	days2 string            // the body of second pages
	one   string            // what is read by receipt
	serve func(path string, firstPage bool) (status int, body string)
	asked []string
}

const (
	none    = `{"developerMessage":"nothing was found"}`
	payment = `{"receiptNumber":"R1","transactionType":"PAYMENT","status":"Approved","summaryCode":"0","principalAmount":{"amount":49.95,"currency":"AUD"},` +
		`"transactionTime":"2026-06-10T09:00:01+10:00"%s}`
)

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body, query := http.StatusNotFound, "", r.URL.Query()
	switch {
	case s.serve != nil:
		status, body = s.serve(r.URL.Path, query.Get("page") == "")
	case query.Get("page") != "":
		status, body = http.StatusOK, s.days2
	case strings.HasSuffix(r.URL.Path, "for-settlement-date"):
		day := query.Get("settlementDate")
		s.asked = append(s.asked, day)
		status, body = http.StatusOK, s.days[day]
	case s.one != "" && strings.HasSuffix(r.URL.Path, "/R1"):
		status, body = http.StatusOK, s.one
	}
	if body == "" {
		status, body = http.StatusNotFound, none
	}
	if strings.HasPrefix(body, "<") || strings.HasPrefix(body, `{"errors"`) {
		status = http.StatusNotFound
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (s *script) client(t *testing.T) *quickstream.Client {
	t.Helper()
	keys := quickstream.Keys{Secret: quickstream.NewSecretKey("S"), Publishable: quickstream.NewPublishableKey("P")}
	client, err := quickstream.NewClient(quickstream.CustomURL("https://api.invalid/rest/v1"), keys, quickstream.WithHTTPClient(&http.Client{Transport: s}), quickstream.WithMaxAttempts(1))
	require.NoError(t, err)
	return client
}

func list(items ...string) string { return `{"data":[` + strings.Join(items, ",") + `]}` }

// lost is a payment of Wednesday whose answer was lost.
func lost() quickstream.Intent {
	return quickstream.Intent{
		Version: quickstream.IntentVersion, Operation: quickstream.OperationPay, Reference: "ABC", ID: "ID-1", MetadataName: "intentId", Attempts: 1,
		Request: []byte(`{"transactionType":"PAYMENT","principalAmount":49.95,"currency":"AUD","paymentReferenceNumber":"ABC","metadata":{"intentId":"ID-1"}}`),
	}
}

// TestNotFoundAfterAScan: a payment that no search by reference finds is not_found only after the
// complete lists of the dates on which it may settle.
func TestNotFoundAfterAScan(t *testing.T) {
	moving := func(item string) string { return followed(list(item), 2) }
	other := strings.ReplaceAll(fmt.Sprintf(payment, `,"paymentReferenceNumber":"X"`), "R1", "R9")
	for name, tt := range map[string]struct {
		service script
		status  resolve.Status
		scans   int
	}{
		"not listed":              {script{days: map[string]string{"2026-06-11": list(other)}}, resolve.StatusNotFound, 1},
		"listed with its id":      {script{days: map[string]string{"2026-06-15": list(fmt.Sprintf(payment, `,"metadata":{"intentId":"ID-1"}`))}, one: fmt.Sprintf(payment, "")}, resolve.StatusSettled, 1},
		"listed without its id":   {script{days: map[string]string{"2026-06-10": list(fmt.Sprintf(payment, ""))}}, resolve.StatusEscalated, 0},
		"a list that fails":       {script{days: map[string]string{"2026-06-12": "<html>"}}, resolve.StatusEscalated, 0},
		"none, by a field's name": {script{days: map[string]string{"2026-06-12": `{"errors":[{"fieldName":"settlementDate","messages":["is empty"]}]}`}}, resolve.StatusNotFound, 1},
		"a field without a name":  {script{days: map[string]string{"2026-06-12": `{"errors":[{"messages":["is empty"]}]}`}}, resolve.StatusEscalated, 0},
		"fields in another form":  {script{days: map[string]string{"2026-06-12": `{"errors":{"detail":"Not Found"}}`}}, resolve.StatusEscalated, 0},
		"one that moves":          {script{days: map[string]string{"2026-06-12": moving(other)}, days2: list(other)}, resolve.StatusNotFound, 1},
		"on page two":             {script{days: map[string]string{"2026-06-12": moving(other)}, days2: list(fmt.Sprintf(payment, `,"metadata":{"intentId":"ID-1"}`)), one: fmt.Sprintf(payment, "")}, resolve.StatusSettled, 1},
		"without an end":          {script{days: map[string]string{"2026-06-12": moving(other)}, days2: followed(list(strings.ReplaceAll(other, "R9", "R8")), 2)}, resolve.StatusEscalated, 0},
		"page two gone":           {script{days: map[string]string{"2026-06-12": moving(other)}}, resolve.StatusEscalated, 0},
		"an item is unreadable":   {script{days: map[string]string{"2026-06-12": list(`{"receiptNumber":{}}`)}}, resolve.StatusEscalated, 0},
		"what it found is gone":   {script{days: map[string]string{"2026-06-12": list(strings.Replace(fmt.Sprintf(payment, `,"metadata":{"intentId":"ID-1"}`), "Approved", "Pending", 1))}}, resolve.StatusEscalated, 0},
		"found pending, settled":  {script{days: map[string]string{"2026-06-12": list(strings.Replace(fmt.Sprintf(payment, `,"metadata":{"intentId":"ID-1"}`), "Approved", "Pending", 1))}, one: fmt.Sprintf(payment, "")}, resolve.StatusSettled, 1},
	} {
		t.Run(name, func(t *testing.T) {
			client := tt.service.client(t)
			p := policy()
			p.Scan = resolve.ScanDates(client.Transactions.BySettlementDate)
			_, without := looks(begun(lost()), foundNothing())
			c := begun(lost())
			for c.NextLook.Before(without.Lookups[0].Last) {
				c = p.Next(c, foundNothing(), c.NextLook)
			}
			assert.Empty(t, tt.service.asked)
			scans := 0
			for range 200 {
				if c.Status.Final() {
					break
				}
				now := c.NextLook
				if c.Step == 4 {
					scans++
					assert.False(t, now.Before(at("2026-06-15 18:00")), "the cut-offs have passed")
					assert.Equal(t, resolve.StatusOpen, p.Next(c, foundNothing(), now).Status, "what did not scan ends nothing")
				}
				c = p.Next(c, p.LookUp(t.Context(), client.Transactions, c), now)
			}
			assert.Equal(t, tt.status, c.Status)
			if tt.scans > 0 {
				assert.Equal(t, tt.scans, scans)
				assert.Equal(t, []string{"2026-06-10", "2026-06-11", "2026-06-12", "2026-06-13", "2026-06-14", "2026-06-15"}, slices.Compact(tt.service.asked))
			}
		})
	}
}

// TestScanOfAListThatMoves scans a date twice. What any reading showed counts, and what none showed
// is missing only if one repeated nothing or two agree.
func TestScanOfAListThatMoves(t *testing.T) {
	for name, tt := range map[string]struct {
		readings string // with pages of one item each; "-" breaks off
		first    string // what a scan yields; "~" is an error because the list changes
		second   string
	}{
		"nothing repeated":            {"AB", "AB", "AB"},
		"missed, and shown":           {"AA AB", "AB", "AB"},
		"shown, and missed":           {"ABB AA A", "AB", "AB"},
		"two agree":                   {"AA AA", "A", "A"},
		"repeated in the middle":      {"AAB AAB", "AB", "AB"},
		"two agree in another order":  {"ABA BAB", "AB", "AB"},
		"two agree, not in a row":     {"AA BB AA AA", "AB", "AB"},
		"none agree":                  {"AA BB AA BB AC", "AB~", "AC"},
		"a page fails twice":          {"A--B--C", "ABC", "ABC"},
		"repeated after a failure":    {"A-A A-A", "A", "A"},
		"breaks off":                  {"A--- BC", "ABC", "ABC"},
		"breaks off alike":            {"A--- A--- A--- A--- A", "A-", "A"},
		"as before it broke off":      {"AA A--- AA AA", "A", "A"},
		"does not begin":              {"- A", "-", "A"},
		"changes, and does not begin": {"AA - A", "A-", "A"},
		"one with two states":         {"Aa Aa", "Aa", "Aa"},
		"later with another state":    {"AA a", "Aa", "Aa"},
		"an unreadable one":           {"A?", "A?", "A?"},
	} {
		t.Run(name, func(t *testing.T) {
			readings, page := strings.Fields(tt.readings), ""
			service := script{serve: func(_ string, first bool) (int, string) {
				if first {
					page, readings = readings[0], readings[1:]
				}
				item := page[:1]
				page = page[1:]
				status := "Approved"
				if item != strings.ToUpper(item) {
					status = "Declined"
				}
				body := list(fmt.Sprintf(`{"receiptNumber":%q,"status":%q}`, strings.ToUpper(item), status))
				switch {
				case item == "-":
					return http.StatusInternalServerError, none
				case item == "?":
					body = list(`{"receiptNumber":{}}`)
				case page != "":
					body = followed(body, len(page))
				}
				return http.StatusOK, body
			}}
			scan := resolve.ScanDates(service.client(t).Transactions.BySettlementDate)
			for _, want := range []string{tt.first, tt.second} {
				got := ""
				for tx, err := range scan(t.Context(), quickstream.NewDate(2026, time.June, 10)) {
					_, unreadable := errors.AsType[*quickstream.DecodeError](err)
					_, failed := errors.AsType[*quickstream.APIError](err)
					switch {
					case unreadable:
						got += "?"
					case failed:
						got += "-"
					case err != nil:
						assert.ErrorContains(t, err, "changes from one reading to the next")
						got += "~"
					case tx.Status == quickstream.TransactionStatusDeclined:
						got += strings.ToLower(tx.ReceiptNumber)
					default:
						got += tx.ReceiptNumber
					}
				}
				assert.Equal(t, want, got)
			}
			assert.Empty(t, readings, "readings that were not needed")
		})
	}
}

// followed returns a page with a link to another.
func followed(page string, number int) string {
	return strings.TrimSuffix(page, "}") + fmt.Sprintf(`,"links":[{"rel":"next","href":"?page=%d"}]}`, number)
}

// TestOneScanForAllCases: a date is read once, whatever the number of cases.
func TestOneScanForAllCases(t *testing.T) {
	service := script{days: map[string]string{}}
	client := service.client(t)
	p := policy()
	p.Scan = resolve.ScanDates(client.Transactions.BySettlementDate)
	for range 300 {
		c := begun(lost())
		for c.Step != 4 {
			c = p.Next(c, foundNothing(), c.NextLook)
		}
		c = p.Next(c, p.LookUp(t.Context(), client.Transactions, c), c.NextLook)
		require.Equal(t, resolve.StatusNotFound, c.Status)
	}
	assert.Len(t, service.asked, 6)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		for _, err := range p.Scan(ended, quickstream.NewDate(2026, time.May, 1)) {
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	synctest.Test(t, func(t *testing.T) { // one reads, and another gives up waiting for it
		waits := make(chan struct{})
		slow := resolve.ScanDates(func(quickstream.Date, ...quickstream.CallOption) quickstream.List[quickstream.Transaction] {
			<-waits
			return quickstream.ListOf[quickstream.Transaction]()
		})
		read := make(chan error)
		go func() {
			defer close(read)
			for _, err := range slow(context.WithoutCancel(t.Context()), quickstream.NewDate(2026, time.May, 1)) {
				read <- err
			}
		}()
		synctest.Wait()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range slow(ended, quickstream.NewDate(2026, time.May, 1)) {
			require.ErrorIs(t, err, context.Canceled)
		}
		close(waits)
		assert.NoError(t, <-read)
	})
	for day := range 8 { // the oldest are forgotten
		for range p.Scan(t.Context(), quickstream.NewDate(2026, time.July, 1+day)) {
		}
	}
	for range p.Scan(t.Context(), quickstream.NewDate(2026, time.June, 10)) {
	}
	assert.Len(t, service.asked, 6+8+1)
}

// TestVoidsAreNotScanned: a void has no transaction of its own.
func TestVoidsAreNotScanned(t *testing.T) {
	p := policy()
	p.Scan = resolve.ScanDates((&script{}).client(t).Transactions.BySettlementDate)
	_, end := looksBy(p, begun(quickstream.Intent{Operation: quickstream.OperationVoid, Target: "R1"}), foundNothing())
	assert.Equal(t, resolve.StatusNotFound, end.Status)

	void := begun(quickstream.Intent{Operation: quickstream.OperationVoid, Target: "R1"})
	payment := begun(lost())
	void.Step, payment.Step = 4, 4
	assert.False(t, p.LookUp(t.Context(), &fake{err: open()}, void).Scanned)
	assert.True(t, p.LookUp(t.Context(), &fake{err: open()}, payment).Scanned)
	assert.False(t, p.LookUp(t.Context(), &fake{found: approved("R1")}, payment).Scanned, "it was found")
	assert.False(t, policy().LookUp(t.Context(), &fake{err: open()}, payment).Scanned, "there is nothing to scan")
}

// TestScanUnderAReferenceOfTheMerchant finds the payment whose time is the intent's.
func TestScanUnderAReferenceOfTheMerchant(t *testing.T) {
	named := fmt.Sprintf(payment, `,"paymentReferenceNumber":"ABC"`)
	earlier := strings.NewReplacer("R1", "R0", "06-10", "06-09").Replace(named)
	client := (&script{days: map[string]string{"2026-06-12": list(earlier, named)}, one: named}).client(t)
	p := policy()
	p.Scan = resolve.ScanDates(client.Transactions.BySettlementDate)
	intent := lost()
	intent.ID, intent.MetadataName, intent.OwnReference = "", "", true
	intent.Request = []byte(`{"transactionType":"PAYMENT","principalAmount":49.95,"currency":"AUD","paymentReferenceNumber":"ABC"}`)
	c := begun(intent)
	c.Step = 4
	o := p.LookUp(t.Context(), client.Transactions, c)
	assert.Equal(t, resolve.LookupSettled, o.Result)
	assert.Equal(t, "R1", o.ReceiptNumber)
}

// TestScanByAFastClock: the service may still have the day before.
func TestScanByAFastClock(t *testing.T) {
	var dates []string
	p := policy()
	inner := resolve.ScanDates((&script{}).client(t).Transactions.BySettlementDate)
	p.Scan = func(ctx context.Context, date quickstream.Date) iter.Seq2[*quickstream.Transaction, error] {
		dates = append(dates, date.String())
		return inner(ctx, date)
	}
	intent := lost()
	intent.NotBefore = at("2026-06-10 01:30")
	c := resolve.Begin(intent, intent.NotBefore)
	c.Step = 4
	require.True(t, p.LookUp(t.Context(), (&script{}).client(t).Transactions, c).Scanned)
	assert.Equal(t, "2026-06-09", slices.Min(dates))
}
