package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
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

// verifying compares what it costs to verify a signature.
func verifying(_ context.Context, s scale) ([]line, error) {
	body := []byte(notificationJSON(stubBase))
	now := time.Now()
	header, err := signature.Sign(signature.AssumedHMAC{}, hookSecret, now, body)
	if err != nil {
		return nil, err
	}
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{hookSecret})
	if err != nil {
		return nil, err
	}
	headers := []string{header}
	stripeHeader := stripehook.GenerateTestSignedPayload(&stripehook.UnsignedPayload{Payload: body, Secret: hookSecret, Timestamp: now}).Header
	hook, err := standard.NewWebhookRaw([]byte(hookSecret))
	if err != nil {
		return nil, err
	}
	sign, err := hook.Sign("msg_1", now, body)
	if err != nil {
		return nil, err
	}
	standardHeader := http.Header{}
	standardHeader.Set("Webhook-Id", "msg_1")
	standardHeader.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	standardHeader.Set("Webhook-Signature", sign)

	verify := map[string]func([]byte) error{
		"ours":              func(body []byte) error { return verifier.Verify(headers, body) },
		"stripe-go":         func(body []byte) error { return stripehook.ValidatePayload(body, stripeHeader, hookSecret) },
		"standard-webhooks": func(body []byte) error { return hook.Verify(body, standardHeader) },
	}
	mac := hmac.New(sha256.New, []byte(hookSecret))
	prefix, sum := []byte(strconv.FormatInt(now.UnixMilli(), 10)+"."), make([]byte, 0, sha256.Size)
	cases := []measure.Case{{Name: "hmac", Do: func() error {
		mac.Reset()
		mac.Write(prefix)
		mac.Write(body)
		sum = mac.Sum(sum[:0])
		return nil
	}}}
	for name, v := range verify {
		if err := refuses(name, body, v); err != nil {
			return nil, err
		}
		cases = append(cases, measure.Case{Name: name, Do: func() error { return v(body) }})
	}
	r, err := s.plan().Run(cases...)
	if err != nil {
		return nil, err
	}
	allocs := func(name string) float64 {
		return testing.AllocsPerRun(1000, func() { err = errors.Join(err, verify[name](body)) })
	}
	return []line{
		slower("P8", "verify / HMAC alone", r, "ours", "hmac").atMost(1.3),
		counted("P8", "verify, allocations", allocs("ours"), allocs("stripe-go"), "allocs").atMost(0),
		slower("P8", "verify, stripe-go / HMAC alone", r, "stripe-go", "hmac"),
		slower("P8", "verify, standard-webhooks / HMAC alone", r, "standard-webhooks", "hmac"),
	}, err
}

// receiving compares verifying a notification together with decoding what it is
// about.
func receiving(_ context.Context, s scale) ([]line, error) {
	body := []byte(notificationJSON(stubBase))
	now := time.Now()
	header, err := signature.Sign(signature.AssumedHMAC{}, hookSecret, now, body)
	if err != nil {
		return nil, err
	}
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret(hookSecret)})
	if err != nil {
		return nil, err
	}
	headers := http.Header{}
	headers.Set(signature.Header, header)
	event := []byte(eventJSON(stripe.APIVersion))
	stripeHeader := stripehook.GenerateTestSignedPayload(&stripehook.UnsignedPayload{Payload: event, Secret: hookSecret, Timestamp: now}).Header

	receive := func(body []byte) (*quickstream.Transaction, error) {
		n, err := verifier.VerifyBody(headers, body)
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
		e, err := stripehook.ConstructEvent(event, stripeHeader, hookSecret)
		if err != nil {
			return nil, err
		}
		p := new(stripe.PaymentIntent)
		return p, json.Unmarshal(e.Data.Raw, p)
	}
	byHand := func(body []byte) (*plainTransaction, error) {
		if err := verifyByHand(header, body); err != nil {
			return nil, err
		}
		var n struct {
			ID        string           `json:"id"`
			EventType string           `json:"eventType"`
			Data      plainTransaction `json:"data"`
		}
		return &n.Data, json.Unmarshal(body, &n)
	}
	ways := []struct {
		name string
		body []byte
		do   func([]byte) error
	}{
		{"ours", body, func(b []byte) error { _, err := receive(b); return err }},
		{"stripe-go", event, func(b []byte) error { _, err := receiveIntent(b); return err }},
		{"by hand", body, func(b []byte) error { _, err := byHand(b); return err }},
	}
	cases := make([]measure.Case, len(ways))
	for i, w := range ways {
		if err := refuses(w.name, w.body, w.do); err != nil {
			return nil, err
		}
		cases[i] = measure.Case{Name: w.name, Do: func() error { return w.do(w.body) }}
	}
	mine, err := receive(body)
	if err != nil {
		return nil, err
	}
	theirs, err := byHand(body)
	if err != nil {
		return nil, err
	}
	intent, err := receiveIntent(event)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(same(mine, theirs), sameIntent(intent, 1)); err != nil {
		return nil, err
	}
	r, err := s.plan().Run(cases...)
	if err != nil {
		return nil, err
	}
	return []line{
		slower("P9", "verify + typed event / stripe-go", r, "ours", "stripe-go").atMost(0.2),
		slower("P9", "verify + typed event / by hand, encoding/json", r, "ours", "by hand"),
	}, nil
}
