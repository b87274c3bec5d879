package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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
		ratio("P8", "verify / HMAC alone", r.Took("ours"), r.Took("hmac"), r.Ratio("ours", "hmac"), gate{1.3, atMost}),
		counted("P8", "verify, allocations", allocs("ours"), allocs("stripe-go"), "allocs", gate{0, atMost}),
		ratio("P8", "verify, stripe-go / HMAC alone", r.Took("stripe-go"), r.Took("hmac"), r.Ratio("stripe-go", "hmac"), gate{}),
		ratio("P8", "verify, standard-webhooks / HMAC alone", r.Took("standard-webhooks"), r.Took("hmac"), r.Ratio("standard-webhooks", "hmac"), gate{}),
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
		ratio("P9", "verify + typed event / stripe-go", r.Took("ours"), r.Took("stripe-go"), r.Ratio("ours", "stripe-go"), gate{0.20, atMost}),
		ratio("P9", "verify + typed event / by hand, encoding/json", r.Took("ours"), r.Took("by hand"), r.Ratio("ours", "by hand"), gate{}),
	}, nil
}

// delivering compares whole endpoints over the loopback interface, with notifications
// that are new every time: ours with a store, one by hand without, and one that only
// reads what it is sent.
func delivering(ctx context.Context, s scale) ([]line, error) {
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret(hookSecret)})
	if err != nil {
		return nil, err
	}
	handled, sent := 0, 0
	handle := func(_ context.Context, n *webhooks.Notification) error {
		handled++
		_, err := n.Event()
		return err
	}
	byHand := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, webhooks.DefaultMaxBody))
		var n struct {
			Data plainTransaction `json:"data"`
		}
		if err != nil || verifyByHand(r.Header.Get(signature.Header), body) != nil || json.Unmarshal(body, &n) != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}
	endpoints := map[string]http.Handler{
		"ours":    webhooks.NewHandler(verifier, handle, webhooks.WithStore(new(webhooks.MemoryStore))),
		"by hand": http.HandlerFunc(byHand),
		"reading": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }),
	}
	signer := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: webhooks.NewSecret(hookSecret)}
	body := notificationJSON(stubBase)
	var cases []measure.Case
	for name, endpoint := range endpoints {
		server := httptest.NewServer(endpoint)
		defer server.Close()
		cases = append(cases, measure.Case{Name: name, Do: func() error {
			if name == "ours" {
				sent++
			}
			r, err := signer.NewRequestWithBody(ctx, server.URL, []byte(strings.Replace(body, "0001", strconv.Itoa(sent), 1)))
			if err != nil {
				return err
			}
			resp, err := server.Client().Do(r)
			if err != nil {
				return err
			}
			if resp.StatusCode != http.StatusOK {
				err = fmt.Errorf("answered %d", resp.StatusCode)
			}
			return errors.Join(err, resp.Body.Close())
		}})
	}
	r, err := s.plan().Run(cases...)
	if err != nil || handled != sent {
		return nil, errors.Join(err, fmt.Errorf("%d of %d notifications were handled", handled, sent))
	}
	return []line{
		ratio("P9", "endpoint with a store / by hand, without one", r.Took("ours"), r.Took("by hand"), r.Ratio("ours", "by hand"), gate{}),
		ratio("P9", "endpoint with a store / one that only reads", r.Took("ours"), r.Took("reading"), r.Ratio("ours", "reading"), gate{}),
	}, nil
}
