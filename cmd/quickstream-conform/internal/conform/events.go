package conform

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/scheme"
)

// events causes notifications and looks at what arrives.
func (s *session) events() []result {
	if !s.has("agreement") {
		return []result{open("no agreement was accepted")}
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
	first, last := s.failedEvents(looks)
	if len(recalled) == 0 && first.id != "" { // notifications come, but none of a recall
		recalled, order = []notification{first}, other("no notification of a recall")
	}
	if len(recalled) == 0 {
		return []result{open("no notification arrived")}
	}
	s.findScheme(recalled[0])
	return []result{order, redelivery(first, last), signatureHeader(recalled[0].header)}
}

// recallEvents recalls an agreement. Its notification is answered late: so it is known whether the
// service waits for that before it answers the request.
func (s *session) recallEvents() (received []notification, order result) {
	made, _ := s.newAgreement(payerSilent, func(object) {})
	token := s.Made[made].Handle
	if token == "" {
		return nil, open("no agreement was accepted")
	}
	answered, done := context.WithCancel(s.ctx)
	var mu sync.Mutex
	waited := map[string]error{}
	s.cfg.Webhooks.expect(func(n notification) int {
		if n.token == token && n.token != "" {
			err := sleep(answered, 3*time.Second)
			mu.Lock()
			defer mu.Unlock()
			if _, again := waited[n.id]; !again {
				waited[n.id] = err
			}
		}
		return http.StatusOK
	})
	s.pause(2 * time.Second)
	asked := s.asked
	s.Made[made].Undone = s.endAgreement(token, "PENDING")
	done()
	if !s.Made[made].Undone || s.asked > asked+1 { // it was not recalled, or its answer did not come first
		return nil, open(unusable)
	}
	for range 9 {
		s.pause(20 * time.Second)
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

// failedEvents answers the confirmation of an agreement with 500 until the agreement has ended, and
// waits until it is notified again.
func (s *session) failedEvents(looks int) (first, last notification) {
	const confirmed = "payto.agreement.confirmed"
	var mu sync.Mutex
	failing := true
	s.cfg.Webhooks.expect(func(n notification) int {
		mu.Lock()
		defer mu.Unlock()
		if failing && n.event == confirmed {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	n, _ := s.newAgreement(payerActive, func(object) {})
	token := s.Made[n].Handle
	s.pause(3 * time.Second)
	s.Made[n].Undone = s.endAgreement(token, "ACTIVE")
	mu.Lock()
	failing = false
	mu.Unlock()
	since := time.Now()
	for range looks {
		s.pause(5 * time.Second)
		for _, n := range s.cfg.Webhooks.of(token) {
			switch {
			case first.id == "" && n.event == confirmed:
				first = n
			case n.id == first.id && n.at.After(since):
				last = n
			}
		}
		if last.id != "" || s.err != nil {
			break
		}
	}
	if all := s.cfg.Webhooks.of(token); first.id == "" && len(all) > 0 { // another one proves that notifications come
		first = all[0]
	}
	return first, last
}

// redelivery compares a notification with what was posted again.
func redelivery(first, last notification) result {
	switch {
	case last.id == "":
		return open("nothing was notified again within three minutes")
	case !bytes.Equal(first.raw, last.raw):
		return is("fresher")
	case timeOfSigning(first.header) == timeOfSigning(last.header):
		return is("same")
	default:
		return is("signed")
	}
}

func timeOfSigning(header string) string {
	for part := range strings.SplitSeq(header, ",") {
		if t, is := strings.CutPrefix(strings.TrimSpace(part), "t="); is {
			return t
		}
	}
	return ""
}

func signatureHeader(header string) result {
	var names []string
	for part := range strings.SplitSeq(header, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), "=")
		names = append(names, name)
	}
	switch order := strings.Join(names, ","); {
	case order == "t,v1":
		return is("plain")
	case order == "v1,t":
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
