package conform

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/scheme"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// Receiver receives notifications for a run: serve it at the address of a subscription that nothing
// else needs, and give it to [Config]. While a run asks about notifications, the receiver keeps all
// that arrive in memory. It answers some of them after 3 seconds, and answers confirmations of
// agreements with 500 for some seconds, so that they are posted again. At all other times it
// answers 200 and keeps nothing. It takes notifications with any signature.
type Receiver struct {
	mu       sync.Mutex
	received []notification
	answer   func(n notification) (status int)
	nonce    string // of a ping that is under way
	reached  bool
}

// notification is a delivery as it arrived.
type notification struct {
	header, event, id, token string
	raw                      []byte
	body                     shape.Value
	at                       time.Time
}

// NewReceiver returns a receiver, which does nothing until a run uses it.
func NewReceiver() *Receiver { return &Receiver{} }

// ServeHTTP takes one delivery.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	if err != nil {
		return // the sender has gone
	}
	n := notification{header: req.Header.Get(signature.Header), raw: raw}
	if n.body, err = shape.Parse(raw); err == nil {
		n.event, n.id, n.token = n.body.Get("eventType").Text, n.body.Get("id").Text, n.body.Get("data", "agreementToken").Text
	}
	r.mu.Lock()
	answer := r.answer
	r.reached = r.reached || r.nonce != "" && string(raw) == r.nonce
	r.mu.Unlock()
	if answer == nil || n.id == "" {
		return
	}
	w.WriteHeader(answer(n))
}

// Ping posts to the public address of the receiver. Only after that does a run take it that a service
// which notifies of nothing does so, and not that it cannot reach the receiver.
func (r *Receiver) Ping(ctx context.Context, client *http.Client, address string) error {
	nonce := random()
	r.mu.Lock()
	r.nonce = nonce
	r.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(nonce))
	if err != nil {
		return errors.New("conform: the address of the receiver is not well-formed")
	}
	resp, err := client.Do(req)
	if err != nil {
		return errors.New("conform: the receiver cannot be reached at its address")
	}
	defer resp.Body.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.reached {
		return errors.New("conform: something else answers at the address of the receiver")
	}
	return nil
}

// expect has the next deliveries answered by a function, and kept.
func (r *Receiver) expect(now func() time.Time, answer func(notification) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received = nil
	r.answer = func(n notification) int {
		n.at = now()
		r.mu.Lock()
		r.received = append(r.received, n)
		r.mu.Unlock()
		return answer(n)
	}
}

// of returns the deliveries about an agreement.
func (r *Receiver) of(token string) []notification {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.received), func(n notification) bool { return token == "" || n.token != token })
}

func (r *Receiver) wasReached() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reached
}

func (r *Receiver) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer, r.received = nil, nil
}

// publicEvents are the event types that public pages name.
func publicEvents() []string {
	return []string{"payto.agreement.confirmed", "payto.agreement.declined", "payto.agreement.expired", "payto.agreement.recalled", "payto.payment.approved"}
}

// events causes notifications and looks at what arrives.
func (s *session) events() []result {
	if s.cfg.Webhooks == nil || s.ours() == "" {
		return []result{needs("needs -listen and a subscription")}
	}
	defer s.cfg.Webhooks.stop()
	recalled, order := s.recallEvents()
	if order.open != "" {
		return []result{order}
	}
	looks := 36
	if len(recalled) == 0 { // what waits for its time must not come too late
		looks = 1
	}
	first, last, unknown, changed := s.failedEvents(looks)
	if len(recalled) == 0 && first.id != "" { // notifications come, but none of a recall
		recalled, order = []notification{first}, other("no notification of a recall")
	}
	switch {
	case len(recalled) == 0 && s.cfg.Webhooks.wasReached():
		return []result{is("never"), open("no notification arrived")}
	case len(recalled) == 0:
		return []result{open("no notification arrived")}
	}
	s.findScheme(recalled[0])
	return []result{order, unknown, signedAnew(first, last), redelivered(first, last, changed), signatureHeader(recalled[0].header)}
}

// recallEvents recalls an agreement. Its notification is answered late: so it is known whether the
// service waits for that before it answers the request.
func (s *session) recallEvents() (received []notification, order result) {
	_, a := s.newAgreement(payerSilent, func(object) {})
	token := a.body.Get("agreementToken").Text
	if token == "" {
		return nil, open("no agreement was accepted")
	}
	answered, done := context.WithCancel(s.ctx)
	var mu sync.Mutex
	waited := map[string]error{}
	s.cfg.Webhooks.expect(s.cfg.Clock.Now, func(n notification) int {
		if n.token == token && n.token != "" {
			err := s.cfg.Clock.Sleep(answered, 3*time.Second)
			mu.Lock()
			defer mu.Unlock()
			if _, again := waited[n.id]; !again {
				waited[n.id] = err
			}
		}
		return http.StatusOK
	})
	s.wait(s.cfg.Clock.Now().Add(2 * time.Second))
	asked := s.asked
	ended := s.endAgreement(token, "PENDING")
	done()
	if !ended || s.asked > asked+1 { // it was not recalled, or its answer did not come first
		return nil, open(unusable)
	}
	for range 9 {
		s.wait(s.cfg.Clock.Now().Add(20 * time.Second))
		if received, _ = s.recallsOf(token); len(received) > 0 {
			break
		}
	}
	received, others := s.recallsOf(token)
	switch {
	case len(received) == 0 && len(others) == 0:
		return nil, result{}
	case len(received) == 0:
		return others, other("only " + others[0].event)
	}
	mu.Lock()
	defer mu.Unlock()
	switch early := waited[received[0].id] == nil; {
	case len(received) == 2 && received[0].id == received[1].id:
		return received, is("twice")
	case len(received) > 1:
		return received, other("more than one notification")
	case early:
		return received, is("before")
	default:
		return received, is("after")
	}
}

// recallsOf are the notifications of an agreement's recall, and the others about it.
func (s *session) recallsOf(token string) (recalls, others []notification) {
	for _, n := range s.cfg.Webhooks.of(token) {
		if n.event == "payto.agreement.recalled" {
			recalls = append(recalls, n)
		} else {
			others = append(others, n)
		}
	}
	return recalls, others
}

// failedEvents answers the confirmation of an agreement with 500 and changes the agreement, until it
// is notified again. It is not changed if no usable answer says so.
func (s *session) failedEvents(looks int) (first, last notification, unknown result, changed bool) {
	const confirmed = "payto.agreement.confirmed"
	var mu sync.Mutex
	failing := true
	s.cfg.Webhooks.expect(s.cfg.Clock.Now, func(n notification) int {
		mu.Lock()
		defer mu.Unlock()
		if failing && n.event == confirmed {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	_, a := s.newAgreement(payerActive, func(object) {})
	token := a.body.Get("agreementToken").Text
	s.wait(s.cfg.Clock.Now().Add(3 * time.Second))
	changed = s.endAgreement(token, "ACTIVE")
	mu.Lock()
	failing = false
	mu.Unlock()
	since := s.cfg.Clock.Now()
	for range looks {
		s.wait(s.cfg.Clock.Now().Add(5 * time.Second))
		same := slices.DeleteFunc(s.cfg.Webhooks.of(token), func(n notification) bool { return n.event != confirmed })
		if len(same) > 0 {
			first = same[0]
		}
		if n := len(same); n > 1 && same[n-1].id == first.id && same[n-1].at.After(since) {
			last = same[n-1]
			for _, early := range same { // of two at the same time, either may arrive first
				if !early.at.After(since) && string(early.raw) != string(last.raw) {
					first = early
				}
			}
		}
		if last.id != "" || s.err != nil {
			break
		}
	}
	all := s.cfg.Webhooks.of(token)
	if first.id == "" && len(all) > 0 { // another one proves that notifications come
		first = all[0]
	}
	switch strange := func(n notification) bool { return !slices.Contains(publicEvents(), n.event) }; {
	case len(all) == 0:
		unknown = open("no notification of a confirmation arrived")
	case slices.ContainsFunc(all, strange):
		unknown = is("true")
	case !changed:
		unknown = open(unusable)
	default:
		unknown = is("false")
	}
	return first, last, unknown, changed
}

const notAgain = "nothing was notified again within three minutes"

func signedAnew(first, last notification) result {
	if last.id == "" {
		return open(notAgain)
	}
	return is(map[bool]string{true: "false", false: "true"}[timeOfSigning(first.header) == timeOfSigning(last.header)])
}

func timeOfSigning(header string) string {
	for part := range strings.SplitSeq(header, ",") {
		if t, is := strings.CutPrefix(strings.TrimSpace(part), "t="); is {
			return t
		}
	}
	return ""
}

// redelivered compares two bodies. Equal ones prove nothing if what they are about has not changed.
func redelivered(first, last notification, ended bool) result {
	if last.id == "" {
		return open(notAgain)
	}
	before, after := first.body, last.body
	changed := slices.ContainsFunc(before.Names, func(name string) bool { return !reflect.DeepEqual(before.Get(name), after.Get(name)) })
	switch {
	case string(first.raw) == string(last.raw) && !ended:
		return open("the agreement was perhaps not changed between two deliveries")
	case string(first.raw) == string(last.raw) && slices.IsSorted(before.Names):
		return open("the members were in the order of the alphabet already")
	case string(first.raw) == string(last.raw):
		return is("same")
	case changed && len(after.Names) == len(before.Names):
		return is("fresher")
	case changed:
		return other("another content")
	case len(after.Names) > len(before.Names):
		return is("member")
	default:
		return is("reordered")
	}
}

func signatureHeader(header string) result {
	var names []string
	blanks := false
	for i, part := range strings.Split(header, ",") {
		blanks = blanks || i > 0 && strings.HasPrefix(part, " ")
		name, _, _ := strings.Cut(strings.TrimSpace(part), "=")
		names = append(names, name)
	}
	switch order := strings.Join(names, ","); {
	case order == "t,v1" && blanks:
		return is("blanks")
	case order == "t,v1":
		return is("plain")
	case order == "v1,t" && !blanks:
		return is("swapped")
	case len(names) > 2 && names[0] == "t" && slices.Contains(names, "v1"):
		return is("several")
	default:
		return other("parts " + order)
	}
}

// findScheme looks for the way in which a notification was signed.
func (s *session) findScheme(n notification) {
	if s.cfg.WebhookSecret == "" {
		return
	}
	s.Scheme = "none fits"
	if found, ok := scheme.Find(n.header, n.raw, s.cfg.WebhookSecret); ok {
		s.Scheme = found.String()
	}
}
