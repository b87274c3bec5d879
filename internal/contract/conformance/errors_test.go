package conformance

import (
	"errors"
	"net/http"
	"reflect"
	"testing"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks"
)

// TestClientErrors answers every call with every documented error, in a body with
// every documented member.
func TestClientErrors(t *testing.T) {
	r, c, _ := newRun(t)
	sample := readSamples(t).Error
	for _, call := range clientCalls(t) {
		op, ok := c.doc.Operation(call.operation)
		if !ok {
			t.Errorf("%s: %s is not documented", call.method, call.operation)
			continue
		}
		for _, status := range op.Statuses() {
			if status < http.StatusBadRequest {
				continue
			}
			sample["status"] = status
			body := marshal(t, sample)
			members := op.ResponseMembers(status)
			if has, err := Documented(members, body); err != nil || len(has) != len(members) {
				t.Fatalf("%s: the error given has %d of %d members, %v", op.ID, len(has), len(members), err)
			}
			c.answers[op.ID] = answer{status, "application/json", body}
			_, err := r.perform(call)
			api, ok := errors.AsType[*quickstream.APIError](err)
			if !ok {
				t.Errorf("%s: %d: %v", call.method, status, err)
				continue
			}
			for _, part := range []struct{ got, want any }{
				{api.StatusCode, status},
				{api.CustomerMessage(), sample["customerMessage"]},
				{api.DeveloperMessage(), sample["developerMessage"]},
				{api.TraceCode, sample["traceCode"]},
				{api.Fields(), []quickstream.FieldError{{FieldName: "principalAmount", Messages: []string{"Must be a number."}}}},
			} {
				if !reflect.DeepEqual(part.got, part.want) {
					t.Errorf("%s: %d: %v, want %v", call.method, status, part.got, part.want)
				}
			}
		}
	}
}

// TestNotifications parses every documented notification.
func TestNotifications(t *testing.T) {
	doc, s := document(t), readSamples(t)
	header := http.Header{"Content-Type": {"application/json"}, "X-Webhook-Signature": {"t=1772320530000,v1=abc"}}
	parsed := map[string]bool{}
	for _, e := range s.Exchanges {
		op, ok := doc.Operation(e.Operation)
		if !ok || op.ID != "WEBHOOK "+op.Path {
			continue
		}
		body := marshal(t, overlay(nil, e.Body))
		n, err := webhooks.Parse(body)
		if err != nil {
			t.Errorf("%s: %v", op.ID, err)
			continue
		}
		parsed[op.ID] = true
		if n.ID != e.Body["id"] || n.Timestamp.String() != e.Body["timestamp"] || string(n.EventType) != op.Path {
			t.Errorf("%s: parsed as %s %s %s", op.ID, n.ID, n.Timestamp, n.EventType)
		}
		if stored := n.Raw(); doc.ValidateNotification(header, stored) != nil || !reflect.DeepEqual(decoded(t, stored), decoded(t, body)) {
			t.Errorf("%s: stored as %s", op.ID, stored)
		}
		var m model
		event, err := n.Event()
		switch event := event.(type) {
		case *webhooks.PaymentEvent:
			m = event.Transaction()
		case *webhooks.AgreementEvent:
			m = event.Agreement()
		default:
			t.Errorf("%s: a %T, %v", op.ID, event, err)
			continue
		}
		lost(m, map[string]bool{}, func(what string) { t.Errorf("%s: %s", op.ID, what) })
		if made, err := webhooks.NewNotification(n.EventType, m); err != nil || doc.ValidateNotification(header, made.Raw()) != nil {
			t.Errorf("%s: made as %s, %v", op.ID, made.Raw(), err)
		}
	}
	for _, op := range doc.Webhooks {
		if !parsed[op.ID] {
			t.Errorf("%s was not parsed", op.ID)
		}
	}
}
