package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// subscription is one as JSON.
type subscription struct {
	URL           string   `json:"url"`
	Secret        string   `json:"secret"`
	EventTypes    []string `json:"eventTypes"`
	BasicUser     string   `json:"basicUser"`
	BasicPassword string   `json:"basicPassword"`
}

func (c *control) subscribe(r *http.Request) (any, error) {
	var in subscription
	if err := body(r, &in); err != nil {
		return nil, err
	}
	return nil, in.add(c.box)
}

// add has notifications signed by the assumed scheme, in real time: the receiver's
// clock is not moved with the sandbox's.
func (in subscription) add(box *sandbox.Sandbox) error {
	return box.Subscribe(sandbox.Subscription{
		URL: in.URL, Secret: in.Secret, Scheme: signature.AssumedHMAC{}, Clock: time.Now, EventTypes: in.EventTypes,
		BasicUser: in.BasicUser, BasicPassword: in.BasicPassword,
	})
}

// delivery is a notification with its body as JSON.
type delivery struct {
	sandbox.Delivery
	Body json.RawMessage
}

func (c *control) deliveries(*http.Request) (any, error) {
	list := []delivery{}
	for _, d := range c.box.Deliveries() {
		list = append(list, delivery{Delivery: d, Body: d.Body})
	}
	return list, nil
}

func (c *control) redeliver(r *http.Request) (any, error) {
	return nil, c.box.Redeliver(r.PathValue("id"))
}

// nextDeliveries takes a list such as ["twice", "stale 6m"].
func (c *control) nextDeliveries(r *http.Request) (any, error) {
	faults, err := parsed(r, parseDeliveryFault)
	if err == nil {
		c.box.NextDelivery(faults...)
	}
	return nil, err
}

func parseDeliveryFault(text string) (sandbox.DeliveryFault, error) {
	var word, rest string
	_, _ = fmt.Sscan(text, &word, &rest) // only some have more than a word
	d, err := time.ParseDuration(rest)
	switch {
	case word == "none" && rest == "":
		return sandbox.DeliveryFault{}, nil
	case word == "twice" && rest == "":
		return sandbox.DeliveryFault{Twice: true}, nil
	case word == "tampered" && rest == "":
		return sandbox.DeliveryFault{Tampered: true}, nil
	case word == "stale" && err == nil:
		return sandbox.DeliveryFault{Shift: -d}, nil
	case word == "future" && err == nil:
		return sandbox.DeliveryFault{Shift: d}, nil
	}
	return sandbox.DeliveryFault{}, fmt.Errorf("no fault %q: use twice, tampered, stale <duration>, future <duration> or none", text)
}

func (c *control) hold(*http.Request) (any, error) {
	c.box.HoldDeliveries()
	return nil, nil
}

// release takes a list of ids, or nothing.
func (c *control) release(r *http.Request) (any, error) {
	var first []string
	if err := body(r, &first); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return nil, c.box.ReleaseDeliveries(first...)
}
