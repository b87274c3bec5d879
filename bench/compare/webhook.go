package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stripe/stripe-go/v85"
	stripehook "github.com/stripe/stripe-go/v85/webhook"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/bench/measure"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// hookSecret signs the notifications of the comparison.
const hookSecret = "secret-for-nothing"

// refuses returns an error unless a verifier accepts a body, and not the same
// body with one bit changed.
func refuses(name string, body []byte, verify func([]byte) error) error {
	if err := verify(body); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	forged := append([]byte(nil), body...)
	forged[len(forged)/2] ^= 1
	if verify(forged) == nil {
		return fmt.Errorf("%s accepts a forged body", name)
	}
	return nil
}

// notifications compares what it costs to verify a signature (P8), and to verify a notification
// and decode what it is about (P9).
func notifications(_ context.Context, s scale) []line {
	now := time.Now()
	body, event := []byte(notificationJSON()), []byte(eventJSON(stripe.APIVersion))
	header := must(signature.Sign(signature.AssumedHMAC{}, hookSecret, now, body))
	headers := http.Header{}
	headers.Set(signature.Header, header)
	values := headers.Values(signature.Header)
	verifier := must(signature.NewVerifier(signature.AssumedHMAC{}, []string{hookSecret}))
	receiver := must(webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret(hookSecret)}))
	stripeSigned := func(body []byte) string {
		return stripehook.GenerateTestSignedPayload(&stripehook.UnsignedPayload{Payload: body, Secret: hookSecret, Timestamp: now}).Header
	}
	stripeHeader, eventHeader := stripeSigned(body), stripeSigned(event)
	hook := must(standard.NewWebhookRaw([]byte(hookSecret)))
	standardHeader := http.Header{}
	standardHeader.Set("Webhook-Id", "msg_1")
	standardHeader.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	standardHeader.Set("Webhook-Signature", must(hook.Sign("msg_1", now, body)))

	receive := func(body []byte) (*quickstream.Transaction, error) {
		n, err := receiver.VerifyBody(headers, body)
		if err != nil {
			return nil, err
		}
		event, err := n.Event()
		if err != nil {
			return nil, err
		}
		payment, ok := event.(*webhooks.PaymentEvent)
		if !ok {
			return nil, errors.New("not a payment")
		}
		return payment.Transaction(), nil
	}
	receiveIntent := func(event []byte) (*stripe.PaymentIntent, error) {
		e, err := stripehook.ConstructEvent(event, eventHeader, hookSecret)
		if err != nil {
			return nil, err
		}
		p := new(stripe.PaymentIntent)
		return p, json.Unmarshal(e.Data.Raw, p)
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
		check(same(must(receive(body)), must(byHand(body, unmarshal))))
	}
	check(sameIntent(must(receiveIntent(event)), 1))

	mac := hmac.New(sha256.New, []byte(hookSecret))
	prefix, sum := []byte(strconv.FormatInt(now.UnixMilli(), 10)+"."), make([]byte, 0, sha256.Size)
	cases := []measure.Case{{Name: "hmac", Do: func() error {
		mac.Reset()
		mac.Write(prefix)
		mac.Write(body)
		sum = mac.Sum(sum[:0])
		return nil
	}}}
	allocs := make(map[string]float64)
	type way struct {
		name string
		body []byte
		do   func([]byte) error
	}
	for _, way := range append([]way{
		{"verify", body, func(b []byte) error { return verifier.Verify(values, b) }},
		{"verify, stripe-go", body, func(b []byte) error { return stripehook.ValidatePayload(b, stripeHeader, hookSecret) }},
		{"verify, standard-webhooks", body, func(b []byte) error { return hook.Verify(b, standardHeader) }},
		{"receive", body, func(b []byte) error { _, err := receive(b); return err }},
		{"receive, stripe-go", event, func(b []byte) error { _, err := receiveIntent(b); return err }},
		{"receive, by hand", body, func(b []byte) error { _, err := byHand(b, json.Unmarshal); return err }},
	}, ifV2(way{"receive, json/v2", body, func(b []byte) error { _, err := byHand(b, unmarshalV2); return err }})...) {
		check(refuses(way.name, way.body, way.do))
		cases = append(cases, measure.Case{Name: way.name, Do: func() error { return way.do(way.body) }})
		allocs[way.name] = testing.AllocsPerRun(1000, func() { check(way.do(way.body)) })
	}
	r := must(s.plan().Run(cases...))
	return append([]line{
		slower("P8", "verify / HMAC alone", r, "verify", "hmac").atMost(1.3),
		counted("P8", "verify, allocations", "allocs", allocs["verify"], allocs["verify, stripe-go"]).atMost(0),
		slower("P8", "verify, stripe-go / HMAC alone", r, "verify, stripe-go", "hmac"),
		slower("P8", "verify, standard-webhooks / HMAC alone", r, "verify, standard-webhooks", "hmac"),
		slower("P9", "verify + typed event / stripe-go", r, "receive", "receive, stripe-go").atMost(0.16, 0.21),
		slower("P9", "verify + typed event / by hand, encoding/json", r, "receive", "receive, by hand").atMost(0.85, 1.35),
	}, ifV2(slower("P9", "verify + typed event / by hand, encoding/json/v2", r, "receive", "receive, json/v2"))...)
}

// verifyByHand is what a merchant writes for the form of header and signature
// that the comparison uses.
func verifyByHand(header string, body []byte) error {
	timestamp, value := "", ""
	for part := range strings.SplitSeq(header, ",") {
		switch name, text, _ := strings.Cut(part, "="); name {
		case "t":
			timestamp = text
		case "v1":
			value = text
		}
	}
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
