package clienttest_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// FuzzIdentifier: an identifier is refused before anything is sent, or is one segment of
// the route that was meant, from which a server reads it unchanged.
func FuzzIdentifier(f *testing.F) {
	for _, seed := range []string{
		"R-1", "..", ".", "", "a/b", "%2e%2e", "..%2f", "?x=1", "#f", "\x00", "a\nb", " ", "a b", ";", "é", `\`, "...", "a+b&c=d", "{receiptNumber}", "void", strings.Repeat("x", 256),
	} {
		f.Add(seed)
	}
	routes := map[string]func(*testing.T, *quickstream.Client, string) error{
		"/rest/v1/transactions/*": func(t *testing.T, c *quickstream.Client, id string) error {
			_, err := c.Transactions.Get(t.Context(), id)
			return err
		},
		"/rest/v1/transactions/*/void": func(t *testing.T, c *quickstream.Client, id string) error {
			_, err := c.Transactions.Void(t.Context(), id)
			return err
		},
	}
	f.Fuzz(func(t *testing.T, id string) {
		for route, call := range routes {
			var sent []*url.URL
			err := call(t, clientOf(t, func(r *http.Request) (*http.Response, error) {
				sent = append(sent, r.URL)
				return answer(404, ""), nil
			}), id)
			if _, refused := errors.AsType[*quickstream.ValidationError](err); refused {
				if len(sent) > 0 {
					t.Fatalf("%q was refused and sent", id)
				}
				continue
			}
			if len(sent) != 1 {
				t.Fatalf("%q: %d requests, %v", id, len(sent), err)
			}
			seen, err := url.ParseRequestURI(sent[0].RequestURI()) // as a server does
			if err != nil || seen.Path != strings.Replace(route, "*", id, 1) || path.Clean(seen.Path) != seen.Path ||
				strings.Count(seen.Path, "/") != strings.Count(route, "/") || seen.RawQuery != "" || seen.Fragment != "" {
				t.Fatalf("%q became %s, %v", id, sent[0], err)
			}
		}
	})
}

// FuzzAmount: an amount is refused before anything is sent, or is what the service reads,
// with two decimals.
func FuzzAmount(f *testing.F) {
	for _, seed := range []string{"10.50", "0.01", "1e2", "1e-2", "0.001", "-1", "0", "1e9999999", "1E-9999999", "99999999999999999999999999999999", "9223372036854775808", "1.10000000000000000000", "+5", ".5", "٣"} {
		f.Add(seed)
	}
	twoDecimals := regexp.MustCompile(`"principalAmount":([0-9]+\.[0-9]{2}),`)
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := decimal.NewFromString(text)
		if err != nil {
			return
		}
		var sent []byte
		params := payment()
		params.PrincipalAmount = amount
		_, err = clientOf(t, func(r *http.Request) (*http.Response, error) {
			sent, _ = io.ReadAll(r.Body)
			return answer(422, errorBody), nil
		}).Transactions.Pay(t.Context(), params)
		if _, refused := errors.AsType[*quickstream.ValidationError](err); refused {
			if sent != nil {
				t.Fatalf("%s was refused and sent", text)
			}
			return
		}
		written := twoDecimals.FindSubmatch(sent)
		if written == nil || !json.Valid(sent) || len(text) < 100 && !decimal.RequireFromString(string(written[1])).Equal(amount) || !amount.IsPositive() {
			t.Fatalf("%s was sent as %s: %v", text, sent, err)
		}
	})
}

// FuzzTimestamp: a time that can be read is written in the service's form, and read from
// that as the same.
func FuzzTimestamp(f *testing.F) {
	for _, seed := range []string{
		"2026-11-20T10:11:12+1100", "2026-11-20T10:11:12.123456789Z", "2026-11-20 10:11+11:00", "2026-04-05T02:30:00", "0000-00-00T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-2359",
		"2016-12-31T23:59:60Z", "1707312770123", "1707312770.5", "0", "2026-11-20T10:11:12+11", "0001-01-01T00:00", "2026-11-20T10:11:12,5Z",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var read, again quickstream.Timestamp
		if read.UnmarshalText([]byte(text)) != nil {
			if !read.IsZero() {
				t.Fatalf("%q: %s with an error", text, read)
			}
			return
		}
		written, err := json.Marshal(read)
		if err == nil {
			err = json.Unmarshal(written, &again)
		}
		if err != nil || !again.Equal(read.Time) || again.Assumed() != read.Assumed() || again.String() != read.String() {
			t.Fatalf("%q was read as %s, written as %s, and read as %s: %v", text, read, written, again, err)
		}
	})
}

// FuzzDate: a date or a month that can be read is in the calendar, and is written and
// read as the same.
func FuzzDate(f *testing.F) {
	for _, seed := range []string{"2026-11-20", "20 Nov 2026", "2026-02-29", "2024-02-29T23:59:59Z", "0000-01-01", "0001-01-01", "2026-11", "0000-01", "9999-12", "1 jan 0000", " "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var date, sameDate quickstream.Date
		if err := date.UnmarshalText([]byte(text)); err == nil && text != "" {
			if err := sameDate.UnmarshalText([]byte(date.String())); err != nil || sameDate != date || !date.IsValid() {
				t.Errorf("%q was read as the date %s, and that as %s: %v", text, date, sameDate, err)
			}
		}
		var month, sameMonth quickstream.YearMonth
		if err := month.UnmarshalText([]byte(text)); err == nil && text != "" {
			if err := sameMonth.UnmarshalText([]byte(month.String())); err != nil || sameMonth != month || month.Month < 1 || month.Month > 12 {
				t.Errorf("%q was read as the month %s, and that as %s: %v", text, month, sameMonth, err)
			}
		}
	})
}

// FuzzRetryAfter: a service that asks to wait is waited for at most as long as the longest
// pause, and what is longer is the caller's to wait for.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"0", "7", "8", "9", "-1", "1.5", "1e9", "1000000000", "9223372036854775807", "99999999999999999999", "Sat, 01 Jan 2000 00:00:05 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 1999 23:59:59 GMT", " 7", "007", "soon", ""} {
		f.Add(seed)
	}
	const longest = 8 * time.Second
	seconds := regexp.MustCompile(`^[0-9]{1,9}$`)
	f.Fuzz(func(t *testing.T, value string) {
		synctest.Test(t, func(t *testing.T) {
			start, asked := time.Now(), 0
			_, err := clientOf(t, func(*http.Request) (*http.Response, error) {
				if asked++; asked > 1 {
					return answer(200, `{"receiptNumber":"R-1"}`), nil
				}
				resp := answer(429, errorBody)
				resp.Header["Retry-After"] = []string{value}
				return resp, nil
			}, quickstream.WithRetryWait(time.Second, longest)).Transactions.Get(t.Context(), "R-1")
			took := time.Since(start)
			wanted := time.Duration(0)
			if seconds.MatchString(value) {
				wanted, _ = time.ParseDuration(value + "s")
			}
			api, gaveUp := errors.AsType[*quickstream.APIError](err)
			switch {
			case took > longest || gaveUp && took > 0:
				t.Errorf("%q: took %v", value, took)
			case gaveUp != (asked == 1) || gaveUp && (api.RetryAfter <= longest || wanted > 0 && api.RetryAfter != wanted):
				t.Errorf("%q: %d requests, %v", value, asked, err)
			case !gaveUp && (err != nil || took < wanted || wanted > longest):
				t.Errorf("%q: took %v, %v", value, took, err)
			}
		})
	})
}
