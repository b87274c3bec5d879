package webhooks_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// An attacker has recorded a notification and sends it again. A service may sign it once and
// deliver it for days. So a receiver that remembers ids takes it for a duplicate, and one that does
// not refuses it after minutes; later its signature is too old for both.
func TestAttack48Replay(t *testing.T) {
	t.Parallel()
	const week, minutes = 7 * 24 * time.Hour, 5 * time.Minute
	for name, test := range map[string]struct {
		build     func(*signature.Verifier, webhooks.Func, ...webhooks.HandlerOption) http.Handler
		opts      []webhooks.HandlerOption
		tolerance time.Duration
		calls     int
	}{
		"store":    {webhooks.NewHandler, []webhooks.HandlerOption{webhooks.WithStore(new(webhooks.MemoryStore))}, week, 1},
		"no store": {webhooks.NewHandler, []webhooks.HandlerOption{webhooks.WithStore(nil)}, minutes, 3},
		"inbox":    {webhooks.NewInbox, nil, week, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := signedAt
			f := new(calls)
			h := test.build(newVerifier(t, signature.WithClock(func() time.Time { return now })), f.handle, test.opts...)
			for _, step := range []struct {
				after time.Duration
				want  int
			}{{-minutes, 200}, {0, 200}, {test.tolerance, 200}, {test.tolerance + time.Millisecond, 401}, {10 * week, 401}, {-minutes - time.Millisecond, 401}} {
				now = signedAt.Add(step.after)
				assert.Equal(t, step.want, post(h, signed(t, confirmedBody)).Code, "after %v", step.after)
			}
			assert.Equal(t, test.calls, f.count())
		})
	}
}

// A body that was already read is verified as in a receiver that does not remember ids.
func TestAttack48ReplayOfABodyThatWasRead(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]error{0: nil, 5 * time.Minute: nil, 5*time.Minute + 1: signature.ErrTooOld} {
		v := newVerifier(t, signature.WithClock(func() time.Time { return signedAt.Add(age) }))
		header := signed(t, confirmedBody).Header
		n, err := webhooks.Verify(v, header, []byte(confirmedBody))
		assert.ErrorIs(t, err, want)
		assert.Equal(t, want == nil, n != nil)
		_, err = webhooks.Verify(v, header, []byte(approvedBody))
		assert.ErrorIs(t, err, signature.ErrMismatch)
	}
}

// Other content under a known id, forged with the secret or sent by a service that reuses ids, is
// handled as well, acknowledged, and logged once: answering 500 for ever would not help.
func TestAttack49SameIDOtherContent(t *testing.T) {
	t.Parallel()
	f := new(calls)
	var out bytes.Buffer
	h := webhooks.NewHandler(newVerifier(t), f.handle, webhooks.WithStore(new(webhooks.MemoryStore)),
		webhooks.WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
	for i, test := range []struct {
		body     string
		conflict bool
		calls    int
	}{
		{confirmedBody, false, 1},
		{strings.Replace(confirmedBody, "AGR0001", "AGR0002", 1), true, 2},
		{strings.Replace(confirmedBody, "ACTIVE", "CANCELLED", 1), true, 3},          // fresher data
		{strings.Replace(confirmedBody, `"status"`, `"new":1,"status"`, 1), true, 4}, // a new member
		{confirmedBody, false, 4},
		{strings.Replace(confirmedBody, "AGR0001", "AGR0002", 1), false, 4},
		{`{"data":` + agreementData + `,"eventType":"payto.agreement.confirmed","id":"5f2c8a54-0001"}`, false, 4}, // other order
	} {
		out.Reset()
		if w := post(h, signed(t, test.body)); w.Code != http.StatusOK || f.count() != test.calls {
			t.Errorf("delivery %d: answered %d after %d calls", i+1, w.Code, f.count())
		}
		warned := strings.Contains(out.String(), `level=WARN msg="webhook notification handled" status=200`) && strings.Contains(out.String(), webhooks.ErrConflict.Error())
		assert.Equal(t, test.conflict, warned, "delivery %d: logged %s", i+1, out.String())
	}
}

// Whatever the sender says, a notification is delivered only if the API confirms it: not for an
// agreement or a payment that the API does not know, or that is in another state.
func TestAttack54Unconfirmed(t *testing.T) {
	t.Parallel()
	const notFound = `{"developerMessage":"canary"}`
	for name, test := range map[string]struct {
		body   string
		status int
		answer string
		want   []error
		isNot  error
		asked  bool
	}{
		"unknown agreement":     {confirmedBody, 404, notFound, []error{webhooks.ErrUnconfirmed, quickstream.ErrNotFound}, nil, true},
		"unknown transaction":   {approvedBody, 404, notFound, []error{webhooks.ErrUnconfirmed, quickstream.ErrNotFound}, nil, true},
		"identifier refused":    {confirmedBody, 422, notFound, []error{webhooks.ErrUnconfirmed, quickstream.ErrInvalid}, nil, true},
		"still pending":         {confirmedBody, 200, withStatus("PENDING"), []error{webhooks.ErrUnconfirmed}, nil, true},
		"still pending, small":  {confirmedBody, 200, withStatus("pending"), []error{webhooks.ErrUnconfirmed}, nil, true},
		"still created, mixed":  {confirmedBody, 200, withStatus("Created "), []error{webhooks.ErrUnconfirmed}, nil, true},
		"still created":         {confirmedBody, 200, withStatus("CREATED"), []error{webhooks.ErrUnconfirmed}, nil, true},
		"no status":             {confirmedBody, 200, withStatus(""), []error{webhooks.ErrUnconfirmed}, nil, true},
		"another agreement":     {confirmedBody, 200, strings.Replace(agreementData, "AGR0001", "AGR0002", 1), nil, webhooks.ErrUnconfirmed, true},
		"payment still pending": {approvedBody, 200, `{"receiptNumber":"1000000001","status":"Pending","summaryCode":"0"}`, []error{webhooks.ErrUnconfirmed}, nil, true},
		"payment erred":         {approvedBody, 200, `{"receiptNumber":"1000000001","status":"Approved","summaryCode":"2"}`, []error{webhooks.ErrUnconfirmed}, nil, true},
		"another payment":       {approvedBody, 200, strings.Replace(transactionData, "1000000001", "1000000002", 1), nil, webhooks.ErrUnconfirmed, true},
		"wrong key":             {confirmedBody, 401, notFound, []error{quickstream.ErrUnauthorized}, webhooks.ErrUnconfirmed, true},
		"service down":          {confirmedBody, 503, `{"developerMessage":"canary","traceCode":"T"}`, nil, webhooks.ErrUnconfirmed, true},
		"nonsense":              {confirmedBody, 200, `[]`, nil, webhooks.ErrUnconfirmed, true},
		"no token":              {strings.Replace(confirmedBody, "agreementToken", "token", 1), 200, agreementData, []error{webhooks.ErrUnconfirmed}, nil, false},
		"token that is a path":  {strings.Replace(confirmedBody, "AGR0001", "../customers", 1), 200, agreementData, []error{webhooks.ErrUnconfirmed}, nil, false},
		"wrong kind of data":    {strings.Replace(approvedBody, transactionData, agreementData, 1), 200, transactionData, []error{webhooks.ErrUnconfirmed}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, service := newAPI(t, test.status, test.answer)
			f := new(calls)
			var failure error
			h := webhooks.NewHandler(newVerifier(t), func(ctx context.Context, n *webhooks.Notification) error {
				failure = webhooks.ConfirmWith(client, f.handle)(ctx, n)
				return failure
			})
			if w := post(h, signed(t, test.body)); w.Code != http.StatusInternalServerError || f.count() != 0 {
				t.Errorf("answered %d after %d calls", w.Code, f.count())
			}
			assert.Equal(t, test.asked, service.seen() != "", "asked")
			for _, want := range test.want {
				assert.ErrorIs(t, failure, want)
			}
			if failure == nil || test.isNot != nil && errors.Is(failure, test.isNot) {
				t.Errorf("reported %v", failure)
			}
			for _, value := range []string{"canary", "AGR0001", "1000000001"} {
				assert.NotContains(t, failure.Error(), value)
			}
		})
	}
}

// A flood of genuine notifications, or a restart, makes a bounded store forget. A notification that
// it has forgotten, or never knew, has no second effect: it is refused like any signature that is
// too old.
func TestAttack48Forgotten(t *testing.T) {
	t.Parallel()
	now := signedAt.Add(time.Hour) // the first use
	f := new(calls)
	v := newVerifier(t, signature.WithClock(func() time.Time { return now }))
	h := webhooks.NewHandler(v, f.handle, webhooks.WithStore(&webhooks.MemoryStore{MaxIDs: 2}))
	deliver := func(id string, age time.Duration, want, calls int) {
		t.Helper()
		s := sender
		s.Now = func() time.Time { return signedAt.Add(time.Hour - age) }
		w := post(h, signedBy(t, s, `{"id":"`+id+`","eventType":"x"}`))
		if w.Code != want || f.count() != calls {
			t.Errorf("%s: %d after %d calls", id, w.Code, f.count())
		}
	}
	deliver("before-the-first-use", 6*time.Minute, 401, 0)
	deliver("a", 3*time.Minute, 200, 1)
	deliver("a", 2*time.Minute, 200, 1)    // signed again
	deliver("late", 4*time.Minute, 200, 2) // nothing is forgotten
	deliver("b", 0, 200, 3)                // pushes a out
	deliver("a", 3*time.Minute, 401, 3)
	deliver("a", 2*time.Minute, 401, 3)
	deliver("never-seen", 2*time.Minute, 401, 3)
	deliver("never-seen", 2*time.Minute-time.Millisecond, 200, 4)
	deliver("b", 0, 200, 4)
	now = now.Add(6 * 24 * time.Hour)
	deliver("b", 0, 200, 4) // the store, and not the clock, decides
}
