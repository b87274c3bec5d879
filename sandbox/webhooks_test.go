package sandbox

import (
	"context"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/loopback"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func TestSubscribeRefuses(t *testing.T) {
	box := New()
	hmac := signature.AssumedHMAC{}
	handler := http.NotFoundHandler()
	for name, s := range map[string]Subscription{
		"neither":         {Secret: "s", Scheme: hmac},
		"both":            {Secret: "s", Scheme: hmac, Handler: handler, URL: "http://127.0.0.1:1"},
		"no scheme":       {Secret: "s", Handler: handler},
		"no secret":       {Scheme: hmac, Handler: handler},
		"broken secret":   {Scheme: hmac, Handler: handler, Secret: "s\n"},
		"unknown event":   {Secret: "s", Scheme: hmac, Handler: handler, EventTypes: []string{"payto.agreement.conformed"}},
		"not loopback":    {Secret: "s", Scheme: hmac, URL: "https://203.0.113.7/hook"},
		"no scheme in it": {Secret: "s", Scheme: hmac, URL: "127.0.0.1:8080"},
		"credentials":     {Secret: "s", Scheme: hmac, URL: "http://user:password@127.0.0.1"},
	} {
		err := box.Subscribe(s)
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "password")
	}
	box.Close()
	require.ErrorIs(t, box.Subscribe(Subscription{Secret: "s", Scheme: hmac, Handler: handler}), errClosed)
}

// TestNamesMustResolveToLoopback: a name is judged by the address that is dialled.
func TestNamesMustResolveToLoopback(t *testing.T) {
	box := New()
	defer box.Close()
	require.NoError(t, box.Subscribe(Subscription{Secret: "s", Scheme: signature.AssumedHMAC{}, URL: "http://merchant.invalid/hook"}))
	_, err := box.webhooks.subscriptions[0].transport.DialContext(t.Context(), "tcp", "192.0.2.1:80")
	require.ErrorIs(t, err, loopback.ErrElsewhere)
}

func TestEventsByType(t *testing.T) {
	bubble(t, func(c *caller) {
		all, some := c.subscribe(), c.receiver()
		require.NoError(t, c.box.Subscribe(Subscription{
			Handler: some, Secret: hookSecret, Scheme: signature.AssumedHMAC{Base64: true},
			EventTypes: []string{"payto.agreement.declined", "payto.agreement.recalled"},
		}))
		active, declined, recalled := c.reach(agreementActive), c.reach(agreementCancelled), c.reach(agreementPending)
		require.Equal(t, http.StatusNoContent, c.patch(recalled, recallRequest()).status)
		require.Equal(t, http.StatusNoContent, c.patch(active, statusRequest("CANCELLED", "MD17")).status)
		assert.ElementsMatch(t, []string{"payto.agreement.confirmed", "payto.agreement.declined", "payto.agreement.recalled", "payto.agreement.added_later"}, all.events())
		tokens := map[string]any{}
		for _, in := range some.all() {
			tokens[in.event] = in.data["agreementToken"]
		}
		assert.Equal(t, map[string]any{"payto.agreement.declined": declined, "payto.agreement.recalled": recalled}, tokens)
		ids := map[string]bool{}
		for _, in := range append(all.all(), some.all()...) {
			require.NoError(t, in.err)
			ids[in.id] = true
			assert.Equal(t, in.event != "payto.agreement.confirmed", in.data["status"] == "CANCELLED")
		}
		assert.Len(t, ids, 6)
	})
}

func TestBasicAuthorisation(t *testing.T) {
	bubble(t, func(c *caller) {
		users := make(chan string, 2)
		handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			users <- user + "/" + password
		})
		for _, s := range []Subscription{{}, {BasicPassword: "p"}} {
			s.Handler, s.Secret, s.Scheme = handler, hookSecret, signature.AssumedHMAC{}
			require.NoError(t, c.box.Subscribe(s))
		}
		c.reach(agreementActive)
		require.NoError(t, c.box.Flush(c.t.Context()))
		assert.ElementsMatch(t, []string{"/", "/p"}, []string{<-users, <-users})
	})
}

// The first event of a payer who confirms at once arrives before the caller has a token to
// compare it with.
func TestEventArrivesBeforeTheAnswer(t *testing.T) {
	for _, before := range []bool{true, false} {
		bubble(t, func(c *caller) {
			answered := make(chan struct{})
			order := make(chan string, 2)
			require.NoError(t, c.box.Subscribe(Subscription{
				Secret: hookSecret, Scheme: signature.AssumedHMAC{},
				Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
					if !before {
						<-answered // which would never come
					}
					order <- "event"
				}),
			}))
			r := c.postAgreement(changed(c.agreementRequest(), "payerDetails", payIDPayer("EMAL", ConfirmingPayID)))
			c.must(http.StatusCreated, r)
			order <- "answer"
			close(answered)
			require.NoError(t, c.box.Flush(c.t.Context()))
			if before {
				assert.Equal(t, []string{"event", "answer"}, []string{<-order, <-order})
			} else {
				assert.Equal(t, []string{"answer", "event"}, []string{<-order, <-order})
			}
		}, assuming(func(a *Assumptions) { a.Events = map[bool]string{true: "before", false: "after"}[before] }))
	}
}

// The answer waits for a receiver that does not answer until the timeout, or until the caller has gone.
func TestAnswerDoesNotWaitForEver(t *testing.T) {
	bubble(t, func(c *caller) {
		release := make(chan struct{})
		require.NoError(t, c.box.Subscribe(Subscription{
			Secret: hookSecret, Scheme: signature.AssumedHMAC{},
			Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }),
		}))
		request := changed(c.agreementRequest(), "payerDetails", payIDPayer("EMAL", ConfirmingPayID))
		customer, began := c.payerCustomer(), c.box.Now()
		c.must(http.StatusCreated, c.postAgreement(request))
		assert.Equal(t, 10*time.Second, c.box.Now().Sub(began))

		ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
		defer cancel()
		_, err := c.try(c.request("POST", "/customers/"+customer+"/payto-agreements", c.keys.Secret, request).WithContext(ctx))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Len(t, c.box.Agreements(), 2)
		close(release)
	})
}

func TestRedelivery(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe(http.StatusInternalServerError, http.StatusCreated, http.StatusFound, http.StatusOK)
		c.reach(agreementActive)
		began := c.box.Now()
		c.pass(24 * time.Hour)
		got := hook.all()
		require.Len(t, got, 4, "until 200, and nothing else will do")
		var after []time.Duration
		for _, in := range got {
			require.NoError(t, in.err, "each attempt is signed again")
			assert.Equal(t, got[0].raw, in.raw)
			after = append(after, in.at.Sub(began))
		}
		assert.Equal(t, []time.Duration{0, 5 * time.Second, 35 * time.Second, 5*time.Minute + 35*time.Second}, after)
		d := c.box.Deliveries()
		require.Len(t, d, 1)
		assert.Equal(t, []any{got[0].id, "payto.agreement.confirmed", "done"}, []any{d[0].ID, d[0].EventType, d[0].State})
		assert.Equal(t, got[0].raw, d[0].Body)
		var statuses []int
		for _, a := range d[0].Attempts {
			statuses = append(statuses, a.Status)
		}
		assert.Equal(t, []int{500, 201, 302, 200}, statuses)
	}, assuming(func(a *Assumptions) { a.Redelivery = "signed" }))
}

// A redelivery has the signature of the first attempt. It is valid for five minutes, or for
// as long as the receiver accepts it.
func TestRedeliveryKeepsItsSignature(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe(http.StatusInternalServerError, http.StatusInternalServerError, http.StatusInternalServerError)
		c.reach(agreementActive)
		began := c.box.Now()
		c.pass(24 * time.Hour)
		got := hook.all()
		require.Len(t, got, 6)
		for i, in := range got {
			want := error(nil)
			if i > 2 {
				want = signature.ErrTooOld
			}
			assert.Equal(t, want, in.err)
			signed, err := hook.verifier.VerifyWithin(24*time.Hour, []string{in.header}, in.raw)
			require.NoError(t, err)
			assert.Equal(t, began.UnixMilli(), signed.UnixMilli())
		}
	})
}

func TestRedeliveryEnds(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe(slices.Repeat([]int{http.StatusServiceUnavailable}, 7)...)
		c.reach(agreementActive)
		assert.Equal(t, "waiting", c.box.Deliveries()[0].State)
		c.pass(24 * time.Hour)
		assert.Len(t, hook.all(), 6)
		assert.Equal(t, "abandoned", c.box.Deliveries()[0].State)

		require.NoError(t, c.box.Redeliver(c.box.Deliveries()[0].ID))
		assert.Len(t, hook.all(), 7)
		require.Error(t, c.box.Redeliver("another"))
	}, assuming(func(a *Assumptions) { a.Redelivery = "signed" }))
}

func TestReceiverThatHangs(t *testing.T) {
	bubble(t, func(c *caller) {
		attempts := 0
		gone := make(chan struct{}, 1)
		require.NoError(t, c.box.Subscribe(Subscription{
			Secret: hookSecret, Scheme: signature.AssumedHMAC{},
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if attempts++; attempts == 1 {
					_, _ = io.Copy(io.Discard, r.Body) // a server notices only then that the sender has gone
					<-r.Context().Done()
					gone <- struct{}{}
				}
				w.WriteHeader(http.StatusOK)
			}),
		}))
		c.reach(agreementActive)
		c.pass(10*time.Second - time.Nanosecond)
		assert.Empty(t, c.box.Deliveries()[0].Attempts)
		c.pass(time.Nanosecond)
		<-gone
		d := c.box.Deliveries()[0]
		assert.Equal(t, []Attempt{{Time: d.Attempts[0].Time, Error: "timed out", Signature: d.Attempts[0].Signature}}, d.Attempts)
		c.pass(time.Minute)
		d = c.box.Deliveries()[0]
		assert.Equal(t, "done", d.State)
		assert.Equal(t, 15*time.Second, d.Attempts[1].Time.Sub(d.Attempts[0].Time))
	})
}

func TestTamperedTwice(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe()
		c.box.NextDelivery(DeliveryFault{Twice: true, Tampered: true})
		c.reach(agreementActive)
		got := hook.all()
		require.Len(t, got, 2)
		for _, in := range got {
			require.ErrorIs(t, in.err, signature.ErrMismatch)
		}
		assert.NotEqual(t, got[0].id, got[1].id)
	})
}

func TestDeliveryFaults(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe()
		c.box.NextDelivery(DeliveryFault{Twice: true}, DeliveryFault{Tampered: true}, DeliveryFault{Shift: -(6 * time.Minute)}, DeliveryFault{Shift: 6 * time.Minute}, DeliveryFault{})
		for range 5 {
			c.reach(agreementActive)
		}
		first := hook.all()
		require.Len(t, first, 6)
		said := map[string]string{}
		for _, d := range c.box.Deliveries() {
			for _, a := range d.Attempts {
				said[a.Signature] = a.SignatureError
			}
		}
		twice, failures := map[string]int{}, map[error]int{}
		for _, in := range first {
			if in.err != nil {
				assert.Equal(t, in.err.Error(), said[in.header])
			} else {
				assert.Empty(t, said[in.header])
			}
			twice[in.id]++
			failures[in.err]++
		}
		assert.Equal(t, map[error]int{nil: 3, signature.ErrMismatch: 1, signature.ErrTooOld: 1, signature.ErrTooNew: 1}, failures)
		assert.Equal(t, 2, twice[c.box.Deliveries()[0].ID])
		assert.NotContains(t, twice, c.box.Deliveries()[1].ID, "who does not verify does not recognise it")

		c.pass(time.Minute)
		again := hook.all()[6:]
		require.Len(t, again, 3, "those that were refused come again, as they should be")
		for _, in := range again {
			require.NoError(t, in.err)
		}
		for _, d := range c.box.Deliveries() {
			assert.Equal(t, "done", d.State)
		}
		id := c.box.Deliveries()[4].ID
		require.NoError(t, c.box.Redeliver(id))
		assert.Equal(t, id, hook.all()[9].id, "a duplicate")
	})
}

func TestRedeliveredBody(t *testing.T) {
	inWorld(t, "Redelivery=fresher", func(c *caller) {
		hook := c.subscribe()
		token := c.reach(agreementActive)
		c.sleep(time.Second) // so that the events come in order
		require.Equal(c.t, http.StatusNoContent, c.patch(token, statusRequest("CANCELLED", "MD17")).status)
		first := hook.all()[0]
		require.NoError(c.t, c.box.Redeliver(first.id))
		again := hook.all()[2]
		require.NoError(c.t, again.err)
		assert.Equal(c.t, []any{first.id, first.event, "ACTIVE", "CANCELLED"}, []any{again.id, again.event, first.data["status"], again.data["status"]})
	})
}

func TestSignatureHeader(t *testing.T) {
	for form, want := range map[string]string{"plain": `^t=\d+,v1=\w+$`, "swapped": `^v1=\w+,t=\d+$`, "several": `^t=\d+,v0=0,v1=0+,v1=\w+$`} {
		inWorld(t, "SignatureHeader="+form, func(c *caller) {
			hook := c.subscribe()
			c.reach(agreementActive)
			assert.Regexp(c.t, want, hook.all()[0].header)
			assert.NoError(c.t, hook.all()[0].err)
		})
	}
}
