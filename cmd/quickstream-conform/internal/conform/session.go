package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
	"github.com/quickstream-go/quickstream/sandbox"
)

// object is a JSON object of a request.
type object = map[string]any

// session asks the service, one request at a time. Its error is sticky: after the context has ended
// or the requests are used up, nothing is sent and no answer is usable.
type session struct {
	*journal
	ctx      context.Context
	cfg      Config
	client   *http.Client
	base     *url.URL
	known    map[string]bool     // names of members that the client models
	answers  map[int]answer      // to what was made, by number; they are not kept
	seen     map[int]shape.Value // transactions that were made, as they were read later
	doubts   map[int]bool        // the last look-up of these numbers found what may be of another, or did not see all
	err      error
	last     time.Time // of the last request
	asked    int
	allowed  int       // requests of this process
	cleaning bool      // nothing is asked any more, so that no request is reserved
	until    time.Time // the run waits no longer than this

	business, customer string
	process            string // a name for this process
	later              []sandbox.FacilityFinding
}

// answer is the answer to a request. Without one, status is 0.
type answer struct {
	status    int
	header    http.Header
	raw       []byte
	body      shape.Value
	broken    bool // the body is not JSON
	sent, got time.Time
}

func (a answer) accepted() bool { return a.status >= 200 && a.status < 300 }

// refused reports that the request was refused, and not that something went wrong on the way.
func (a answer) refused() bool {
	return a.status >= 400 && a.status < 500 && !slices.Contains([]int{407, 408, 425, 429, 460, 499}, a.status)
}

// usable reports whether anything can be concluded.
func (a answer) usable() bool { return a.accepted() && !a.broken || a.refused() }

func (a answer) receipt() string { return a.body.Get("receiptNumber").Text }

const (
	pace        = time.Second
	timeout     = 30 * time.Second
	maxBody     = 4 << 20
	maxPages    = 40
	maxRequests = 300
)

// left is how many requests may still be sent.
func (s *session) left() int {
	if s.cleaning {
		return s.allowed - s.asked
	}
	return s.allowed - s.asked - s.reserved()
}

// change changes a request before it is sent.
type change func(*http.Request)

// publishable sends the publishable key.
func (s *session) publishable(r *http.Request) { r.SetBasicAuth(s.cfg.Keys.Publishable, "") }

// asText asks for a report.
func asText(r *http.Request) { r.Header.Set("Accept", "text/plain") }

// keyed sends an idempotency key. The name is not canonical, so that net/http sends no request again.
func keyed(key string) change {
	return func(r *http.Request) { r.Header["idempotency-key"] = []string{key} }
}

// send sends one request, at most one a second.
func (s *session) send(method, path string, body any, changes ...change) (a answer) {
	if s.err != nil {
		return a
	}
	if s.left() <= 0 {
		s.err = errUsedUp
		return a
	}
	if !s.wait(s.last.Add(pace)) {
		return a
	}
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			s.err = err
			return a
		}
		content = struct{ io.Reader }{bytes.NewReader(raw)} // without GetBody: it is sent once
	}
	ctx, cancel := s.cfg.Clock.Timeout(s.ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.base.String()+path, content)
	if err != nil {
		s.err = errors.New("conform: a request cannot be built")
		return a
	}
	r.Close = true // on a connection that was used before, net/http may send a read twice
	r.SetBasicAuth(s.cfg.Keys.Secret, "")
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, c := range changes {
		c(r)
	}
	s.asked++
	s.Requests++
	s.last = s.cfg.Clock.Now()
	a = s.exchange(r)
	s.cfg.Progress(s.Requests)
	if s.err = s.ctx.Err(); s.err == nil {
		s.learn(a)
	}
	return a
}

func (s *session) exchange(r *http.Request) (a answer) {
	a.sent = s.cfg.Clock.Now()
	resp, err := s.client.Do(r)
	if err != nil {
		return answer{sent: a.sent, got: s.cfg.Clock.Now()}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	a.got = s.cfg.Clock.Now()
	if err != nil {
		return answer{sent: a.sent, got: a.got}
	}
	a.status, a.header, a.raw = resp.StatusCode, resp.Header, raw
	if len(raw) > 0 {
		a.body, err = shape.Parse(raw)
		a.broken = err != nil
	}
	return a
}

// learn notes what every answer shows: the service's clock and members that the client does not model.
func (s *session) learn(a answer) {
	if date, err := http.ParseTime(a.header.Get("Date")); err == nil {
		s.Date.narrow(date.Sub(a.got), date.Add(time.Second).Sub(a.sent))
	}
	if !a.accepted() || a.broken {
		return
	}
	a.body.Each(func(path []string, v shape.Value) {
		if word := strangeStatus(v); word != "" && len(word) < 20 && !ofMerchant(path) {
			s.Notes["status"] = word
		}
		if v.Kind == shape.Object && !ofMerchant(path) {
			for i, name := range v.Names {
				if s.known[name] {
					continue
				}
				at := strings.TrimPrefix(strings.Join(append(path[:len(path):len(path)], name), "."), "data.")
				s.Members[at] = string(v.Items[i].Kind)
				if slices.ContainsFunc(v.Items[i].Names, func(inner string) bool { return s.known[inner] }) {
					s.Notes["nested "+at] = "yes"
				}
			}
		}
	})
}

// ofMerchant reports a path into metadata, whose names are the merchant's.
func ofMerchant(path []string) bool { return slices.Contains(path, "metadata") }

// wait waits until a time. It returns false if the run ends before.
func (s *session) wait(until time.Time) bool {
	if d := until.Sub(s.cfg.Clock.Now()); d > 0 && s.err == nil {
		s.err = s.cfg.Clock.Sleep(s.ctx, d)
	}
	return s.err == nil
}

// keep writes the journal.
func (s *session) keep() {
	if err := s.save(); err != nil && s.err == nil {
		s.err = err
	}
}

// get reads, and once more if the answer says nothing.
func (s *session) get(path string, query url.Values, changes ...change) (a answer) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	for range 2 {
		if a = s.send(http.MethodGet, path, nil, changes...); a.usable() {
			break
		}
	}
	return a
}

// make makes a thing and keeps its number before anything is sent.
func (s *session) make(kind, method, path string, body object, changes ...change) (n int, a answer) {
	n = len(s.Made)
	amount, _ := body["principalAmount"].(json.Number)
	s.Made = append(s.Made, thing{Kind: kind, Amount: amount.String(), Sent: s.cfg.Clock.Now()})
	if strings.HasSuffix(path, "/transactions") && body["paymentReferenceNumber"] == nil {
		body["paymentReferenceNumber"] = s.reference(n)
	}
	s.keep()
	if method == http.MethodPost {
		changes = append([]change{keyed(s.idempotencyKey("thing", n))}, changes...)
	}
	a = s.send(method, path, body, changes...)
	a = a.with(map[string]string{kindAgreement: "agreementToken", kindCustomer: "customerId"}[kind], "receiptNumber")
	s.Made[n].Refused = a.refused() // it is looked for all the same
	if a.accepted() && !a.broken {
		s.Made[n].Sent, s.Made[n].Answered = a.sent, a.got
		s.answers[n] = a
	}
	s.keep()
	return n, a
}

// with is an answer that is of no use without one of the members; an empty name stands for none.
func (a answer) with(names ...string) answer {
	for _, name := range names {
		if name != "" && (!a.body.Get(name).Empty() || !a.body.Get("data", name).Empty()) {
			return a
		}
	}
	a.broken = a.broken || a.accepted()
	return a
}

// reply is what became of a request that may be refused, or of a look-up.
type reply string

const (
	accepts reply = "accepted"
	refuses reply = "refused"
	unclear reply = ""
)

func (v reply) choose(accepted, refused string) result {
	switch v {
	case accepts:
		return is(accepted)
	case refuses:
		return is(refused)
	default:
		return open(unusable)
	}
}

// transact makes a transaction until it is accepted, or refused twice. Its number is kept under a
// name, if it has one.
func (s *session) transact(name, kind string, body object) (reply, answer) {
	return judge(func() answer {
		n, a := s.make(kind, http.MethodPost, "/transactions", maps.Clone(body))
		if name != "" && a.receipt() != "" {
			s.Specimens[name] = n
		}
		return a
	})
}

// judge tries a request. A refusal counts if it comes twice: something on the way may have made
// one of them.
func judge(try func() answer) (reply, answer) {
	var first answer
	for range 3 {
		a := try()
		switch {
		case a.accepted() && !a.broken:
			return accepts, a
		case a.refused() && a.status == first.status:
			return refuses, a
		case a.refused():
			first = a
		}
	}
	return unclear, first
}

// answered notes the result of a question.
func (s *session) answered(name, how string, r result) {
	if s.err != nil || r == (result{}) {
		return
	}
	if r.again {
		s.waiting(name, how, r.open)
		return
	}
	s.Findings[name] = sandbox.FacilityFinding{Name: name, Value: r.value, Other: r.other, Open: r.open, How: how, At: s.cfg.Clock.Now().UTC()}
}

// value is a value that has been found, or "".
func (s *session) value(name string) string { return s.Findings[name].Value }

// upload sends a form.
func (s *session) upload(contentType string, form []byte) answer {
	return s.send(http.MethodPost, "/payment-files", nil, func(r *http.Request) {
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Prevent-CSRF", "true")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(form)), int64(len(form))
	})
}
