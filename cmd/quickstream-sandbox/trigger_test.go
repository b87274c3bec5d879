package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
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
			before := len(box.Deliveries())
			token, err := c.raise(t.Context(), e.Name, "")
			require.NoError(t, err, "%s in world %s", e.Name, world)
			of := slices.DeleteFunc(box.Deliveries()[before:], func(d sandbox.Delivery) bool { return d.EventType != e.Name })
			posted := box.Assumptions().Events != "never" && (box.Assumptions().UnknownMembers == "new" || e.isKnown())
			assert.Equal(t, posted, len(of) == 1, "%s in world %s: %v", e.Name, world, of)
			assert.NotEmpty(t, token)
		}
		box.Close()
	}
}

func (e event) isKnown() bool {
	return e.Name != "payto.agreement.added_later" && e.Name != "payto.payment.added_later"
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
