package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85"
	stripehook "github.com/stripe/stripe-go/v85/webhook"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// hookSecret signs the notifications of the comparison.
const hookSecret = "secret-for-nothing"

// notifications compares what it costs to verify a signature (P8), and to verify a notification
// and decode what it is about (P9).
func notifications(_ context.Context, m plan) []line {
	now := time.Now()
	body, event := []byte(notificationJSON()), []byte(eventJSON(stripe.APIVersion))
	header := must(signature.Sign(signature.AssumedHMAC{}, hookSecret, now, body))
	headers := http.Header{}
	headers.Set(signature.Header, header)
	values := headers.Values(signature.Header)
	verifier := must(signature.NewVerifier(signature.AssumedHMAC{}, []string{hookSecret}))
	stripeSigned := func(body []byte) string {
		return stripehook.GenerateTestSignedPayload(&stripehook.UnsignedPayload{Payload: body, Secret: hookSecret, Timestamp: now}).Header
	}
	stripeHeader, eventHeader := stripeSigned(body), stripeSigned(event)
	receive := func(body []byte) *quickstream.Transaction {
		n := must(webhooks.Verify(verifier, headers, body))
		return must(n.Event()).(*webhooks.PaymentEvent).Transaction()
	}
	receiveIntent := func(event []byte) *stripe.PaymentIntent {
		e, p := must(stripehook.ConstructEvent(event, eventHeader, hookSecret)), new(stripe.PaymentIntent)
		check(json.Unmarshal(e.Data.Raw, p))
		return p
	}
	byHand := func(body []byte, unmarshal func([]byte, any) error) (*plainTransaction, error) {
		if err := verifyByHand(header, body); err != nil {
			return nil, err
		}
		var n struct {
			ID        string           `json:"id"`
			EventType string           `json:"eventType"`
			Data      plainTransaction `json:"data"`
		}
		return &n.Data, unmarshal(body, &n)
	}
	for _, unmarshal := range append([]func([]byte, any) error{json.Unmarshal}, ifV2(unmarshalV2)...) {
		check(same(receive(body), must(byHand(body, unmarshal))))
	}
	check(sameIntent(receiveIntent(event), 1))

	verify := func() error { return verifier.Verify(values, body) }
	r := m.run(append([]work{
		{"hmac", hashing(strconv.FormatInt(now.UnixMilli(), 10)+".", body)},
		{"verify", verify},
		{"verify, stripe-go", func() error { return stripehook.ValidatePayload(body, stripeHeader, hookSecret) }},
		{"receive", func() error { receive(body); return nil }},
		{"receive, stripe-go", func() error { receiveIntent(event); return nil }},
		{"receive, by hand", func() error { _, err := byHand(body, json.Unmarshal); return err }},
	}, ifV2(work{"receive, json/v2", func() error { _, err := byHand(body, unmarshalV2); return err }})...)...)
	return append([]line{
		slower("P8", "verify / HMAC alone", r, "verify", "hmac").atMost(1.3),
		counted("P8", "verify, allocations", "allocs", testing.AllocsPerRun(1000, func() { check(verify()) })).atMost(0),
		slower("P8", "verify, stripe-go / HMAC alone", r, "verify, stripe-go", "hmac"),
		slower("P9", "verify + typed event / stripe-go", r, "receive", "receive, stripe-go").atMost(0.16, 0.21),
		slower("P9", "verify + typed event / by hand, encoding/json", r, "receive", "receive, by hand").atMost(0.85, 1.35),
	}, ifV2(slower("P9", "verify + typed event / by hand, encoding/json/v2", r, "receive", "receive, json/v2"))...)
}

// hashing returns the least work of a verification: the HMAC alone.
func hashing(prefix string, body []byte) func() error {
	mac, start, sum := hmac.New(sha256.New, []byte(hookSecret)), []byte(prefix), make([]byte, 0, sha256.Size)
	return func() error {
		mac.Reset()
		mac.Write(start)
		mac.Write(body)
		sum = mac.Sum(sum[:0])
		return nil
	}
}

// verifyByHand is what a merchant writes for the form of header and signature
// that the comparison uses.
func verifyByHand(header string, body []byte) error {
	timestamp, value, _ := strings.Cut(strings.TrimPrefix(header, "t="), ",v1=")
	ms, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.UnixMilli(ms)).Abs() > 5*time.Minute {
		return errors.New("too old")
	}
	got, err := hex.DecodeString(value)
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	if !hmac.Equal(mac.Sum(nil), got) {
		return errors.New("wrong signature")
	}
	return nil
}
