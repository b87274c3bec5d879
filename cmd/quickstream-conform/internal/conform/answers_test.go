package conform

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A window gives a listed duration only if it is narrow, and never the nearest one.
func TestPick(t *testing.T) {
	t.Parallel()
	listed := []string{"0s", "2s", "5m"}
	for _, test := range []struct {
		before, after time.Duration
		want          result
	}{
		{-1, time.Second, is("0s")},
		{time.Second, 2 * time.Second, is("2s")},
		{299 * time.Second, 302 * time.Second, is("5m")},
		{3 * time.Second, 4 * time.Second, other("between 3s and 4s")},
		{-1, 2 * time.Second, open("between 0s and 2s, which is not narrow enough")},
		{time.Minute, 6 * time.Minute, open("between 1m0s and 6m0s, which is not narrow enough")},
	} {
		assert.Equal(t, test.want, pick(test.before, test.after, listed))
	}
}

func parsed(t *testing.T, doc string) value {
	t.Helper()
	v, err := parse([]byte(doc))
	require.NoError(t, err)
	return v
}

// Every form that the sandbox does not have is something else, and holds no value.
func TestSomethingElse(t *testing.T) {
	t.Parallel()
	for name, got := range map[string]result{
		"StatusForm":         statusForm(parsed(t, `"Completed"`)),
		"StatusForm, number": statusForm(parsed(t, `7`)),
		"ErrorForm":          formOfError(answer{status: 422, raw: []byte(`{"code":"x"}`), body: parsed(t, `{"code":"x"}`)}),
		"KeyMismatch":        one("400", "422", "409"),
		"SoftDeclineCodes":   softDeclines([]string{"05", "51"}, []string{"51"}),
	} {
		assert.NotEmpty(t, got.Other, name)
		assert.Empty(t, got.Value, name)
	}
}

// The hour of the cut-off is found between two samples, and others are something else.
func TestCutOff(t *testing.T) {
	t.Parallel()
	at := func(hour, minute int) time.Time {
		return time.Date(2030, 6, 5, hour, minute, 0, 0, sydney(time.Date(2030, 6, 5, 0, 0, 0, 0, time.UTC)).Location())
	}
	times := []time.Time{at(15, 59), at(16, 1), at(17, 59), at(18, 1), at(19, 59), at(20, 1), at(21, 59), at(22, 1), at(23, 59), at(24, 1)}
	dates := func(flip time.Time) (list []string) {
		for _, moment := range times {
			date := "2030-06-05"
			if !moment.Before(flip) {
				date = "2030-06-06"
			}
			list = append(list, date)
		}
		return list
	}
	for flip, want := range map[time.Time]result{
		at(16, 0): is("16"), at(20, 0): is("20"), at(24, 0): other("midnight"), at(19, 0): other("between 18:01 and 19:59"),
	} {
		assert.Equal(t, want, cutOff(times, dates(flip)))
	}
	assert.NotEmpty(t, cutOff(nil, nil).Open)
}

// served answers with one document after another.
type served []string

func (s *served) RoundTrip(r *http.Request) (*http.Response, error) {
	doc := (*s)[0]
	*s = (*s)[1:]
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(doc)), Request: r}, nil
}

// A list of several pages may have left out what is looked for, so that nothing follows from it.
func TestSeveralPages(t *testing.T) {
	const another = `{"data":[{"receiptNumber":"1"}],"links":[{"rel":"next","href":"https://elsewhere.invalid/?page=2"}]}`
	for _, test := range []struct {
		pages        served
		found, whole bool
	}{
		{served{`{"data":[{"receiptNumber":"1"}]}`}, false, true},
		{served{another, `{"data":[]}`}, false, true},
		{served{another, `{"data":[{"receiptNumber":"2"}]}`}, false, false},
		{served{another, `{"data":[{"receiptNumber":"9"}]}`}, true, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, err := newSession(t.Context(), Config{
				Environment: "http://127.0.0.1", SecretKey: "s", HTTPClient: &http.Client{Transport: &test.pages}, Journal: filepath.Join(t.TempDir(), "journal"), Progress: func(int) {},
			})
			require.NoError(t, err)
			found := false
			whole := s.byReference("R", func(item value) bool {
				found = item.get("receiptNumber").text() == "9"
				return found
			})
			assert.Equal(t, test.found, found)
			assert.Equal(t, test.whole, whole)
			assert.Empty(t, test.pages)
		})
	}
}

// Each scheme is found from one notification, whatever else its header holds. Only those that say so do not sign the time.
func TestSchemes(t *testing.T) {
	t.Parallel()
	const at, later = "1707312770123", "1707312770124"
	body, names := []byte(`{"id":"8e3c"}`), map[string]bool{}
	for _, secret := range []string{"whsec-1", "00ff10abcd", "AP8Qq80="} { // a text, in hex, in base64
		again := signatures(later, body, secret)
		for name, value := range signatures(at, body, secret) {
			names[name] = true
			for _, header := range []string{"t=" + at + ",v1=" + value, "v0=1, t=" + at + ", v1=" + value, "v1=other,t=" + at + ",v1=" + value} {
				assert.Equal(t, name, findScheme(header, body, secret))
			}
			assert.Equal(t, value == again[name], strings.HasSuffix(name, withoutTime), name)
		}
	}
	assert.Len(t, names, 180)
	assert.Equal(t, "none fits", findScheme("t="+at+",v1=other", body, "whsec-1"))
}
