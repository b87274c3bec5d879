package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/contract"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// TestSandbox plays a broad scenario twice: with documented members only, which
// finds every name that is not in the document, and with the sandbox's default of
// members and events that nobody knows, which must not make anything invalid.
func TestSandbox(t *testing.T) {
	doc := document(t)
	for name, closed := range map[string]bool{"documented members only": true, "unknown members too": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, doc, closed)
				defer s.box.Close()
				s.play()
				s.complain(t)
				s.everyOperationWasUsed()
				if closed {
					s.everyMemberIsAnswered()
					s.summary()
				}
			})
		})
	}
}

// summary says how much of the document the scenario covers.
func (s *stage) summary() {
	answered, of := 0, 0
	for _, members := range s.answeredMembers() {
		of += len(members)
		for _, hasValue := range members {
			if hasValue {
				answered++
			}
		}
	}
	s.Logf("sandbox: %d operations and notifications in %d exchanges; %d of %d response members had a value", len(s.statuses), s.count, answered, of)
}

// stage is a sandbox with a client and a recorder between them.
type stage struct {
	*testing.T
	*recorder
	box    *sandbox.Sandbox
	client *quickstream.Client
}

const (
	shop           = "SHOP"
	withoutThreeDS = "NO3DS"
)

// placeholder is a parameter of a path.
var placeholder = regexp.MustCompile(`\{[^}]+\}`)

func newStage(t *testing.T, doc *contract.Document, closed bool) *stage {
	t.Helper()
	box := sandbox.New(
		sandbox.WithSeed(1),
		sandbox.WithBusiness(shop, "The Shop", sandbox.Surcharge{Scheme: "VISA", BasisPoints: 110}),
		sandbox.WithBusiness(withoutThreeDS, "The Old Shop"), sandbox.WithoutThreeDS(withoutThreeDS),
		sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
			a.UnknownEvents, a.UnknownEnumValues = !closed, !closed
			if closed {
				a.UnknownMembers = "none"
			}
			a.RelatedLinks = closed
			a.NullErrorList = !closed
			a.MigratedDDRActive = true
		}),
	)
	s := &stage{T: t, box: box, recorder: newRecorder(doc, box.HTTPClient().Transport, closed)}
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), quickstream.Keys{
		Secret: quickstream.NewSecretKey(box.Keys().Secret), Publishable: quickstream.NewPublishableKey(box.Keys().Publishable),
	}, quickstream.WithHTTPClient(&http.Client{Transport: s.recorder}), quickstream.WithMaxAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	s.client = client
	if err := box.Subscribe(sandbox.Subscription{Handler: s.recorder, Secret: "made-up", Scheme: signature.AssumedHMAC{}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// wait lets time pass on the bubble's clock.
func (s *stage) wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// must ends the test on an error, and returns the value otherwise.
func must[T any](value T, err error) func(*stage) T {
	return func(s *stage) T {
		s.Helper()
		if err != nil {
			s.Fatal(err)
		}
		return value
	}
}

func (s *stage) check(err error) {
	s.Helper()
	if err != nil {
		s.Error(err)
	}
}

// all reads a list to its end and demands that it has something.
func all[T any](s *stage, list quickstream.List[T]) []*T {
	s.Helper()
	var items []*T
	for item, err := range list.All(s.Context()) {
		if err != nil {
			s.Error(err)
			return nil
		}
		items = append(items, item)
	}
	if len(items) == 0 {
		s.Error("the list is empty")
	}
	return items
}

// send makes a valid request by hand and returns the body of its answer. It is
// for what the client has no method for, or does not send in this form.
func (s *stage) send(status int, method, path string, body any, header ...string) map[string]any {
	s.Helper()
	out := map[string]any{}
	if answered := s.do(s.Context(), status, method, path, body, header...); json.Valid(answered) {
		s.check(json.Unmarshal(answered, &out))
	}
	return out
}

// refused makes a request that is wrong on purpose; a status of 0 is any.
func (s *stage) refused(status int, method, path string, body any, header ...string) []byte {
	s.Helper()
	return s.do(context.WithValue(s.Context(), wrong{}, true), status, method, path, body, header...)
}

func (s *stage) do(ctx context.Context, status int, method, path string, body any, header ...string) []byte {
	s.Helper()
	text, isText := body.([]byte)
	if body != nil && !isText {
		text = marshal(s, body)
	}
	got, answered := roundTrip(s, s.recorder, rawRequest(ctx, s, s.box, method, path, text, header...))
	if status != 0 && got != status {
		s.Errorf("%s %s: %d, want %d: %s", method, path, got, status, answered)
	}
	return answered
}

// rawRequest is a request to the sandbox with the key that its operation takes. A body
// is JSON unless a header says otherwise.
func rawRequest(ctx context.Context, t testing.TB, box *sandbox.Sandbox, method, path string, body []byte, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, box.URL()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	key := box.Keys().Secret
	if op, err := document(t).Match(r); err == nil && op.Keys[0] == "publishableKey" {
		key = box.Keys().Publishable
	}
	r.SetBasicAuth(key, "")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// roundTrip sends a request and reads its answer.
func roundTrip(t testing.TB, transport http.RoundTripper, r *http.Request) (status int, answered []byte) {
	t.Helper()
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if answered, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answered
}

// basic is the Authorization header for a key.
func basic(key string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(key, "")
	return r.Header.Get("Authorization")
}

// play is the whole scenario.
func (s *stage) play() {
	s.withoutKeys()
	s.withNothingRight()
	s.connect()
	customer := s.customers()
	accounts := s.accounts(customer)
	s.tokens()
	s.authentication()
	s.payments(customer, accounts)
	s.preauthorisations()
	s.afterwards()
	s.lists(accounts.card)
	s.agreements(customer)
	s.amendments(customer)
	s.agreementPayments(customer)
	s.files(accounts.card)
	s.schedules(customer, accounts.card)
	s.businesses()
	s.report()
	s.faults()
	s.renewal()
}

// withoutKeys calls every operation without a key, and with the key of the wrong
// kind.
func (s *stage) withoutKeys() {
	for _, op := range s.doc.Operations() {
		path := placeholder.ReplaceAllString(op.Path, "unknown")
		s.refused(http.StatusUnauthorized, op.Method, path, nil, "Authorization", "")
		if len(op.Keys) == 1 {
			key := s.box.Keys().Publishable
			if op.Keys[0] == "publishableKey" {
				key = s.box.Keys().Secret
			}
			s.refused(http.StatusUnauthorized, op.Method, path, nil, "Authorization", basic(key))
		}
	}
}

// withNothingRight names what does not exist and sends what makes no sense.
func (s *stage) withNothingRight() {
	for _, op := range s.doc.Operations() {
		if !strings.Contains(op.Path, "{") && op.Method == http.MethodGet {
			continue
		}
		var body any
		if op.Method != http.MethodGet {
			body = map[string]any{}
		}
		s.refused(0, op.Method, placeholder.ReplaceAllString(op.Path, "unknown"), body)
	}
}

// everyOperationWasUsed demands that each operation has succeeded
// and failed, and that each notification was posted.
func (s *stage) everyOperationWasUsed() {
	for _, op := range s.doc.Operations() {
		succeeded, failed := false, false
		for status := range s.statuses[op.ID] {
			succeeded = succeeded || status < http.StatusBadRequest
			failed = failed || status >= http.StatusBadRequest
		}
		if !succeeded || !failed {
			s.Errorf("%s: succeeded %t, failed %t", op.ID, succeeded, failed)
		}
	}
	for _, event := range s.doc.Webhooks() {
		if s.statuses[event.ID] == nil {
			s.Errorf("%s was never posted", event.ID)
		}
	}
}
