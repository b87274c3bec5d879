package conform

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
	"github.com/quickstream-go/quickstream/sandbox"
)

// A span gives a listed duration only if it is narrow, and never the nearest one.
func TestPick(t *testing.T) {
	t.Parallel()
	listed := []time.Duration{0, 2 * time.Second, 5 * time.Minute}
	for _, test := range []struct {
		low, high time.Duration
		want      result
	}{
		{-1, time.Second, is("0s")},
		{time.Second + 1, 2 * time.Second, is("2s")},
		{299*time.Second + 1, 302 * time.Second, is("5m")},
		{3 * time.Second, 4 * time.Second, other("between 3s and 4s")},
		{0, 2 * time.Second, open("between 0s and 2s, which is not narrow enough")},
		{time.Minute, 6 * time.Minute, open("between 1m and 6m, which is not narrow enough")},
	} {
		assert.Equal(t, test.want, span{test.low, test.high, true}.pick(listed...))
	}
	assert.NotEmpty(t, span{}.pick(listed...).open)
	var s span
	s.narrow(0, 10)
	s.narrow(5, 20)
	s.narrow(50, 60) // a clock that was set
	assert.Equal(t, span{5, 10, true}, s)
}

func parsed(t *testing.T, doc string) shape.Value {
	t.Helper()
	v, err := shape.Parse([]byte(doc))
	require.NoError(t, err)
	return v
}

// Every form that the sandbox does not have is something else, and holds no value.
func TestSomethingElse(t *testing.T) {
	t.Parallel()
	s := &session{
		cfg: Config{Clock: packageTime{}},
		journal: &journal{
			Made: []thing{{Answered: time.Now()}}, Specimens: map[string]int{}, Findings: map[string]sandbox.FacilityFinding{},
			Notes: map[string]string{"respondBy": "none"},
		},
		answers: map[int]answer{0: {body: parsed(t, `{"status":"Pending"}`)}},
	}
	for name, got := range map[string]result{
		"TimeForm":            s.timeForm(parsed(t, `"02/01/2030 03:04"`)),
		"TimeForm, hours off": s.timeForm(parsed(t, `"2001-01-02T03:04:05+1100"`)),
		"DateForm":            dateForm(parsed(t, `"20301231"`)),
		"StatusForm":          statusForm(parsed(t, `"Completed"`)),
		"StatusForm, number":  statusForm(parsed(t, `7`)),
		"MemberOrder":         memberOrder([]string{"summaryCode", "receiptNumber", "responseCode", "source"}),
		"OptionalMembers":     nothing(parsed(t, `null`), shape.Value{Kind: shape.Absent}),
		"InapplicableMembers": nothing(parsed(t, `{}`), parsed(t, `{}`)),
		"EmptyLists":          emptyLinks(parsed(t, `{"links":"","creditCard":{"links":""}}`)),
		"AmountForm":          amountForm(parsed(t, `{"principalAmount":{"value":"1.23"}}`)),
		"AmountForm, cents":   amountForm(parsed(t, `{"principalAmount":123}`)),
		"Metadata":            metadataForm(parsed(t, `{"conform":"sha256:00"}`)),
		"TextMembers":         textMembers(parsed(t, `{"receiptNumber":["1"]}`)),
		"TransactionAnswers":  content(parsed(t, `{"receiptNumber":"1","responseCode":"08"}`)),
		"ErrorForm":           errorForm(answer{status: 422, raw: []byte(`{"code":"x"}`), body: parsed(t, `{"code":"x"}`)}),
		"AgreementTexts":      agreementTexts(parsed(t, `{"paymentDetails":{"description":"CONFORM  PROBE"},"payerDetails":{"payerName":"Kim"}}`)),
		"AgreementTerms":      s.agreementTerms(parsed(t, `{"paymentDetails":{"purpose":"OTHR"},"paymentTerms":{"frequency":"MNTH","agreementType":"VARI","paymentAmount":"7.00"}}`)),
		"PendingSummaryCode":  s.pending()[0],
		"KeyMismatch":         statusOf(answer{status: 400}, 422, 409),
		"StoredReferences":    misfit(is("sent"), formOf("Ab ", parsed(t, `"xxAb"`)))[0],
		"ReferenceSearch":     misfit(is("sent"), is("lower"))[1],
		"EchoedReferences":    formOf("Ab ", parsed(t, `"xxAb"`)),
		"SignatureHeader":     signatureHeader("timestamp=1,signature=2"),
		"RetrySchedule":       retrySchedule([]shape.Value{parsed(t, `{"transactionTime":"2030-01-02T03:04:05+1100"}`), parsed(t, `{"transactionTime":"2030-01-02T06:04:05+1100"}`)}),
		"ListOrder":           listOrder([][]int{{1, 3, 2}}, [][]int{{1, 3, 2}}),
		"Paging":              paging([][]int{{3, 2}, {1, 1}, {0}}, nil, false, 4),
		"OtherAnswers":        writtenForm(answer{status: 202, raw: []byte(`{}`), body: parsed(t, `{}`)}),
		"SettlementDays": settlementDays([]sample{
			{At: time.Date(2030, 1, 5, 1, 1, 0, 0, time.UTC), Date: "2030-01-05"}, {At: time.Date(2030, 1, 6, 1, 1, 0, 0, time.UTC), Date: "2030-01-07"},
		}),
	} {
		assert.NotEmpty(t, got.other, name)
		assert.Empty(t, got.value, name)
		for _, value := range []string{"2030", "sha256", "1.23", "KIM", "xxAb"} {
			if name != "TransactionAnswers" {
				assert.NotContains(t, got.other, value, name)
			}
		}
	}
}

// An error without fields is no proof of another form: it may be one of several, with any member more.
func TestErrorWithoutFields(t *testing.T) {
	t.Parallel()
	body := `{"status":404,"customerMessage":"Sorry","developerMessage":"Not found","errors":null,"addedLater":1}`
	got := errorForm(answer{status: 404, raw: []byte(body), body: parsed(t, body)})
	assert.NotEmpty(t, got.open)
	assert.Empty(t, got.other)
}

// Only a refusal with the service's own texts shows how a list without errors looks.
func TestNullListOfOthers(t *testing.T) {
	t.Parallel()
	assert.Equal(t, result{}, nullList(answer{status: 404, body: parsed(t, `{"traceCode":"4D2C"}`)}))
	assert.Equal(t, is("true"), nullList(answer{status: 404, body: parsed(t, `{"developerMessage":"Not found","errors":null}`)}))
}

// The hour of the cut-off is found between two samples, and others are something else.
func TestCutOff(t *testing.T) {
	t.Parallel()
	at := func(hour, minute int) time.Time {
		return time.Date(2030, 6, 5, hour, minute, 0, 0, sydney(time.Date(2030, 6, 5, 0, 0, 0, 0, time.UTC)).Location())
	}
	samples := func(flip time.Time) (list []sample) {
		for _, moment := range []time.Time{at(15, 59), at(16, 1), at(17, 59), at(18, 1), at(19, 59), at(20, 1), at(21, 59), at(22, 1), at(23, 59), at(24, 1)} {
			date := "2030-06-05"
			if !moment.Before(flip) {
				date = "2030-06-06"
			}
			list = append(list, sample{At: moment, Date: date})
		}
		return list
	}
	for flip, want := range map[time.Time][2]result{
		at(16, 0): {is("16"), is("false")}, at(20, 0): {is("20"), is("false")}, at(24, 0): {open("the date changes at midnight"), is("true")},
		at(19, 0): {other("between 18:01 and 19:59"), is("false")},
	} {
		hour, late := cutOff(samples(flip))
		assert.Equal(t, want, [2]result{hour, late})
	}
	hour, _ := cutOff(nil)
	assert.NotEmpty(t, hour.open)
}

// A reference follows from the run, is the beginning of no other, and cannot be read from the
// journal.
func TestReferences(t *testing.T) {
	t.Parallel()
	j, err := openJournal("", "localhost", time.Now(), random)
	require.NoError(t, err)
	seen := map[string]bool{}
	for n := range 300 {
		reference := j.reference(n)
		assert.Len(t, reference, 26)
		assert.False(t, seen[reference])
		seen[reference] = true
		assert.NotContains(t, reference, j.Run)
	}
	assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, j.idempotencyKey("thing", 1))
}

// One transaction is in any order.
func TestOrderOfOne(t *testing.T) {
	t.Parallel()
	assert.NotEmpty(t, listOrder([][]int{{-1}}, [][]int{{-1}}).open)
	assert.Equal(t, is("oldest"), listOrder([][]int{{0, 1}}, [][]int{{0, 1}}))
}

// Equal notifications show that a body stays the same only if what it is about has changed.
func TestRedeliveredUnchanged(t *testing.T) {
	t.Parallel()
	n := notification{id: "1", raw: []byte(`{"id":"1","data":{}}`), body: parsed(t, `{"id":"1","data":{}}`)}
	assert.Equal(t, is("same"), redelivered(n, n, true))
	assert.NotEmpty(t, redelivered(n, n, false).open)
	reordered := notification{id: "1", raw: []byte(`{"data":{},"id":"1"}`), body: parsed(t, `{"data":{},"id":"1"}`)}
	assert.Equal(t, is("reordered"), redelivered(n, reordered, false))
}

// Two of three tries have to agree.
func TestTwice(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tries []result
		want  result
	}{
		{[]result{is("a"), is("a")}, is("a")},
		{[]result{is("a"), other("b"), is("a")}, is("a")},
		{[]result{{}, is("a"), is("a")}, is("a")},
		{[]result{is("a"), is("b"), is("c")}, open(unusable)},
		{[]result{{}, {}, is("a")}, open(unusable)},
	} {
		assert.Equal(t, test.want, twice(func() (r result) {
			r, test.tries = test.tries[0], test.tries[1:]
			return r
		}))
	}
}
