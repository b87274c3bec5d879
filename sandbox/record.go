package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Request is the sandbox's record of a request.
type Request struct {
	// Number counts the requests of a sandbox, from 1.
	Number int `json:"number"`
	// Operation is the operation's id, such as "POST /transactions". It is empty if no
	// operation has the path and method.
	Operation string `json:"operation"`
	Method    string `json:"method"`
	// Path is the escaped path as sent.
	Path  string     `json:"path"`
	Query url.Values `json:"query"`
	// Header has the kind of key in place of the value of Authorization.
	Header http.Header `json:"header"`
	// Body is the first 64 KiB of the body. CVNs, card numbers other than the public test numbers,
	// account numbers and PayIDs are blanked out. So are account numbers in Query.
	Body []byte `json:"body"`
	// Key is the kind of API key: [KeySecret], [KeyPublishable], unknown (this sandbox never issued it) or none.
	Key            string `json:"key"`
	IdempotencyKey string `json:"idempotencyKey"`
	// Status is the status of the answer; 0 if none was given.
	Status int `json:"status"`
	// Answer is the body of the answer, shortened and blanked out as Body is, if [WithAnswerBodies] keeps it.
	Answer []byte `json:"answer"`
	// Fault is the name of the fault that the request met, or empty.
	Fault string `json:"fault"`
	// Replayed means that the answer was that of an earlier request with the same idempotency key.
	Replayed bool `json:"replayed"`
	// Committed means that the operation succeeded for this request, whatever the answer
	// was.
	Committed bool      `json:"committed"`
	Time      time.Time `json:"time"`
}

// The limits of the memory that records take, because anybody may call a sandbox that runs as
// a server.
const (
	maxRecorded      = 10_000
	maxRecordedBytes = 16 << 20             // of all requests
	maxRecordedBody  = 64 << 10             // of one
	maxMaskedBody    = maxRecordedBody + 64 // no number is cut before it is masked
)

type recorder struct {
	list  []*Request
	bytes int
	count int // of all requests
}

func (rec *recorder) add(e *Request) {
	rec.count++
	e.Number = rec.count
	rec.makeRoom(e.weight())
	rec.list = append(rec.list, e)
}

// answered adds the body of the answer to a record, unless the record is gone.
func (rec *recorder) answered(e *Request, raw []byte) {
	if len(rec.list) > 0 && e.Number >= rec.list[0].Number {
		rec.bytes -= len(e.Answer)
		e.Answer = recorded(raw)
		rec.makeRoom(len(e.Answer))
	}
}

func (c *call) record() *Request {
	kind, _ := c.box.keyOf(c.header)
	e := &Request{
		Method: c.method, Path: c.url.EscapedPath(), Query: maskedQuery(c.query),
		Header: c.header.Clone(), Body: recorded(c.body), Key: kind,
		IdempotencyKey: c.idempotencyKey, Time: c.now,
	}
	if e.Header.Get("Authorization") != "" {
		e.Header.Set("Authorization", kind)
	}
	if c.op != nil {
		e.Operation = c.op.id
	}
	return e
}

// makeRoom deletes the oldest if the records become too large.
func (rec *recorder) makeRoom(weight int) {
	rec.bytes += weight
	for len(rec.list) > 0 && (len(rec.list) >= maxRecorded || rec.bytes > maxRecordedBytes) {
		rec.bytes -= rec.list[0].weight()
		rec.list[0] = nil
		rec.list = rec.list[1:]
	}
}

func (e *Request) weight() int {
	return 1024 + len(e.Body) + len(e.Answer) + len(fmt.Sprint(e.Path, e.Query, e.Header))
}

// Requests returns the requests that have arrived, oldest first: at most about the last ten
// thousand, or 16 MiB. Calls that met [Unreachable] have not arrived. Do not change the maps and slices.
func (b *Sandbox) Requests() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Request, 0, len(b.requests.list))
	for _, e := range b.requests.list {
		out = append(out, *e)
	}
	return out
}

// ResetRequests deletes the records of requests.
func (b *Sandbox) ResetRequests() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests = recorder{count: b.requests.count}
}

func cloneQuery(q url.Values) url.Values {
	out := make(url.Values, len(q))
	for name, values := range q {
		out[name] = slices.Clone(values)
	}
	return out
}

// Values in maskedForm, which answers show, are not blanked out.
var (
	maskedForm   = regexp.MustCompile(`^([0-9]{6}\.\.\.[0-9]{3,4}|x+[0-9]{3})$`)
	secretMember = regexp.MustCompile(`"(?:cardNumber|cvn|accountNumber|nzAccountNumber|payId)"\s*:\s*(?:"((?:[^"\\]|\\.)*)|([^",}\s]+))`)
	longDigits   = regexp.MustCompile(`[0-9](?:[ -]?[0-9]){11,18}`)
)

// recorded returns a copy of the beginning of a body. CVNs, accounts, PayIDs and all card numbers but test
// cards are blanked out. It works on text, because a malformed body can hold a card number too.
func recorded(body []byte) []byte {
	out := slices.Clone(body[:min(len(body), maxMaskedBody)])
	for _, at := range secretMember.FindAllSubmatchIndex(out, -1) {
		for _, value := range [][]int{at[2:4], at[4:6]} {
			if value[0] < 0 {
				continue
			}
			if text := string(out[value[0]:value[1]]); !isTestCard(text) && !maskedForm.MatchString(text) {
				blank(out[value[0]:value[1]])
			}
		}
	}
	for _, at := range longDigits.FindAllIndex(out, -1) {
		if number := onlyDigits(string(out[at[0]:at[1]])); luhn(number) && !isTestCard(number) {
			blank(out[at[0]:at[1]])
		}
	}
	return out[:min(len(out), maxRecordedBody)]
}

func blank(value []byte) {
	for i := range value {
		value[i] = 'x'
	}
}

// holdsCardNumber reports whether a text may contain a card number. Test numbers count,
// because they are not echoed either.
func holdsCardNumber(s string) bool {
	for _, digits := range longDigits.FindAllString(s, -1) {
		if luhn(onlyDigits(digits)) {
			return true
		}
	}
	return false
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

func luhn(number string) bool {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// maskedQuery returns a copy of a query with account numbers blanked out.
func maskedQuery(q url.Values) url.Values {
	masked := cloneQuery(q)
	for name := range masked {
		if isSensitive(name) {
			masked[name] = []string{"xxx"}
		}
	}
	return masked
}
