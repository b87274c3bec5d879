package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// Every kind of event can be raised, for an agreement made for it, in many worlds.
func TestTriggers(t *testing.T) {
	for world := range worlds.Generate(1, 30) {
		clock := sandbox.NewRunningClock(time.Now())
		box := sandbox.New(sandbox.WithClock(clock), world.Option())
		c := &control{box: box, clock: clock}
		require.NoError(t, box.Subscribe(sandbox.Subscription{
			Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), Secret: "s", Scheme: signature.AssumedHMAC{},
		}))
		for _, e := range events() {
			out, err := c.raise(t.Context(), e.Name, "")
			require.NoError(t, err, "%s in world %s", e.Name, world)
			posted := box.Assumptions().Events != "never" && (box.Assumptions().UnknownMembers == "new" || e.isKnown())
			assert.Equal(t, posted, len(out.Deliveries) == 1, "%s in world %s: %v", e.Name, world, out.Deliveries)
			assert.NotEmpty(t, out.AgreementToken)
		}
		box.Close()
	}
}

func (e event) isKnown() bool {
	return e.Name != "payto.agreement.added_later" && e.Name != "payto.payment.added_later"
}

func TestDeliveryFaults(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, "s")
	refused := 0
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") == "" {
			refused++
		}
		r.ServeHTTP(w, q)
	}))
	defer hook.Close()
	b.control(200, "POST", "/subscriptions", `{"url":"`+hook.URL+`","secret":"s","basicUser":"me","basicPassword":"p"}`)
	b.control(200, "POST", "/clock", `{"advance":"48h"}`)
	b.control(200, "POST", "/deliveries/faults", `["twice","none"]`)
	b.trigger("payto.agreement.confirmed")
	b.trigger("payto.agreement.declined")
	assert.ElementsMatch(t, []string{"payto.agreement.confirmed", "payto.agreement.confirmed", "payto.agreement.declined"}, r.next(3))

	b.control(200, "POST", "/deliveries/hold", "")
	first, second := b.trigger("payto.agreement.expired"), b.trigger("payto.agreement.recalled")
	assert.Empty(t, r.events)
	b.control(422, "POST", "/deliveries/release", `["nobody"]`)
	b.control(200, "POST", "/deliveries/release", `["`+second+`","`+first+`"]`)
	assert.Equal(t, []string{"payto.agreement.recalled", "payto.agreement.expired"}, r.next(2))
	b.control(200, "POST", "/deliveries/release", "")
	assert.Zero(t, refused)

	for _, bad := range []string{`["stale"]`, `["future soon"]`, `["tampered 5m"]`, `["lost"]`, `{}`} {
		b.control(422, "POST", "/deliveries/faults", bad)
	}
	_, err := parseDeliveryFault("stale 6m")
	require.NoError(t, err)
	_, err = parseDeliveryFault("future 6m")
	require.NoError(t, err)
	_, err = parseDeliveryFault("tampered")
	require.NoError(t, err)
}

// A receiver that does not answer does not keep the clock from moving.
func TestTheClockDoesNotWaitForever(t *testing.T) {
	b := newBench(t)
	release := make(chan struct{})
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hook.Close()
	defer close(release)
	b.control(200, "POST", "/subscriptions", `{"url":"`+hook.URL+`","secret":"s"}`)
	require.NoError(t, b.box.Payer(b.agreement(), sandbox.ConfirmAgreement))
	begun := b.box.Now()
	b.control(200, "POST", "/clock", `{"advance":"1h"}`)
	assert.GreaterOrEqual(t, b.box.Now().Sub(begun), time.Hour)
}
