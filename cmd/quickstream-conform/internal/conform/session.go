package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/loopback"
)

// object is a JSON object of a request.
type object = map[string]any

// session asks the service, one request at a time. Its error is sticky: after the context has ended
// or the requests are used up, nothing is sent and no answer is usable.
type session struct {
	*journal
	ctx      context.Context
	cfg      Config
	client   http.Client
	base     *url.URL
	err      error
	last     time.Time // of the last request
	asked    int
	cleaning bool      // the run only undoes now, and may use the reserved requests
	until    time.Time // the run waits no longer than this

	business string
	currency string
	sought   string // a reference in both cases
	// The things that later questions read; nil if not accepted.
	probe, echo, paid, refund *thing
	declines                  []*thing

	begun time.Time
	ahead time.Duration // how far the service's clock is ahead of ours, by the latest answer
	lag   time.Duration // until reads find a new thing; negative while it is not known
}

const (
	pace        = time.Second
	timeout     = 30 * time.Second
	maxBody     = 4 << 20
	maxPages    = 40
	maxRequests = 300
	reserved    = 100 // of the requests, for undoing
)

var errUsedUp = errors.New("the requests are used up")

func newSession(ctx context.Context, cfg Config) (*session, error) {
	base, err := address(cfg.Environment)
	if err != nil {
		return nil, err
	}
	if cfg.SecretKey == "" {
		return nil, errors.New("conform: the secret API key is needed")
	}
	j, err := openJournal(cfg.Journal, base.Host)
	if err != nil {
		return nil, err
	}
	s := &session{
		journal: j, ctx: ctx, cfg: cfg, base: base, business: cfg.Business, currency: "AUD", begun: time.Now(), lag: -1,
		client: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	switch {
	case cfg.HTTPClient != nil:
		s.client.Transport = cfg.HTTPClient.Transport
	case loopback.IsHost(base.Hostname()): // connect to loopback only, whatever the name resolves to, and without a proxy
		s.client.Transport = &http.Transport{DialContext: (&net.Dialer{Control: loopback.Control}).DialContext}
	}
	if cfg.Environment == quickstream.TestNZ {
		s.currency = "NZD"
	}
	return s, s.save()
}

// send sends one request, at most one a second, with an idempotency key if there is one.
func (s *session) send(method, path string, body object, key string) (a answer) {
	if s.err != nil {
		return a
	}
	if s.asked >= maxRequests || s.asked >= maxRequests-reserved && !s.cleaning {
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
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.base.String()+path, content)
	if err != nil {
		s.err = errors.New("conform: a request cannot be built")
		return a
	}
	r.Close = true // on a connection that was used before, net/http may send a read twice
	r.SetBasicAuth(s.cfg.SecretKey, "")
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header["idempotency-key"] = []string{key} // not canonical, so that net/http sends no request again
	}
	s.asked++
	s.last = time.Now()
	a = s.exchange(r)
	s.cfg.Progress(s.asked)
	s.err = s.ctx.Err()
	if date, err := http.ParseTime(a.header.Get("Date")); err == nil {
		s.ahead = date.Sub(a.got)
	}
	return a
}

func (s *session) exchange(r *http.Request) answer {
	sent := time.Now()
	resp, err := s.client.Do(r)
	if err != nil {
		return answer{}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return answer{}
	}
	body, err := parse(raw)
	return answer{resp.StatusCode, resp.Header, raw, body, len(raw) > 0 && err != nil, sent, time.Now()}
}

// wait waits until a time. It returns false if the run ends before.
func (s *session) wait(until time.Time) bool {
	if d := time.Until(until); d > 0 && s.err == nil {
		select {
		case <-time.After(d):
		case <-s.ctx.Done():
			s.err = s.ctx.Err()
		}
	}
	return s.err == nil
}

// pause waits for a while.
func (s *session) pause(d time.Duration) bool { return s.wait(time.Now().Add(d)) }

// can reports whether the run may wait for so long from now.
func (s *session) can(d time.Duration) bool { return !time.Now().Add(d).After(s.until) }

// keep writes the journal.
func (s *session) keep() {
	if err := s.save(); err != nil && s.err == nil {
		s.err = err
	}
}

// get reads, and reads once more if the answer is not usable.
func (s *session) get(path string, query url.Values) (a answer) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	for range 2 {
		if a = s.send(http.MethodGet, path, nil, ""); a.usable() {
			break
		}
	}
	return a
}

// page reads a page of a list. It marks an answer as broken if data has no list, or a list of errors.
func (s *session) page(path string, query url.Values) answer {
	a := s.get(path, query)
	data, isList := a.body.get("data").any.([]any)
	errors := slices.ContainsFunc(data, func(item any) bool { return value{item}.get("fieldName").any != nil })
	a.broken = a.broken || a.accepted() && (!isList || errors)
	return a
}

// readAll reads a list until an item is enough, and reports whether it has read the whole list. Several
// pages never count as the whole list: its order may have changed meanwhile.
func (s *session) readAll(path string, query url.Values, enough func(item value) bool) (whole bool) {
	filled := 0
	for n := range maxPages {
		a := s.page(path, query)
		if n == 0 && a.status == http.StatusNotFound {
			return true // there is no such list
		}
		items := a.body.get("data").items()
		next, err := a.next()
		if !a.accepted() || err != nil || slices.ContainsFunc(items, enough) {
			return false
		}
		if len(items) > 0 {
			filled++
		}
		if next == nil {
			return filled <= 1
		}
		query = next
	}
	return false
}

func (s *session) byReference(reference string, enough func(item value) bool) (whole bool) {
	return s.readAll("/transactions/for-reference-number", url.Values{"referenceNumber": {reference}}, enough)
}

// transactionOf reads a transaction by its receipt.
func (s *session) transactionOf(receipt string) answer {
	return s.get("/transactions/"+url.PathEscape(receipt), nil)
}

// read reads a transaction that was made.
func (s *session) read(t *thing) (tx value, ok bool) {
	if t == nil {
		return tx, false
	}
	a := s.transactionOf(t.Handle)
	return a.body, a.accepted() && a.member("receiptNumber") == t.Handle
}
