package main

import (
	"cmp"
	"crypto/rand"
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
	ID            string   `json:"id,omitempty"`
	URL           string   `json:"url"`
	Secret        string   `json:"secret,omitempty"`
	EventTypes    []string `json:"eventTypes"`
	BasicUser     string   `json:"basicUser"`
	BasicPassword string   `json:"basicPassword,omitempty"`
}

func subscriptionOf(s sandbox.Subscription) subscription {
	return subscription{s.ID, s.URL, s.Secret, s.EventTypes, s.BasicUser, s.BasicPassword}
}

func (c *control) subscribe(r *http.Request) (any, error) {
	var in subscription
	if err := body(r, &in); err != nil {
		return nil, err
	}
	id, err := in.add(c.box)
	return map[string]string{"id": id}, err
}

// subscriptions leaves out what is secret.
func (c *control) subscriptions(*http.Request) (any, error) {
	list := []subscription{}
	for _, s := range c.box.Subscriptions() {
		shown := subscriptionOf(s)
		shown.Secret, shown.BasicPassword = "", ""
		list = append(list, shown)
	}
	return list, nil
}

// add has notifications signed by the assumed scheme, in real time: the receiver's
// clock is not moved with the sandbox's.
func (in subscription) add(box *sandbox.Sandbox) (id string, err error) {
	id = cmp.Or(in.ID, rand.Text())
	return id, box.Subscribe(sandbox.Subscription{
		ID: id, URL: in.URL, Secret: in.Secret, Scheme: signature.AssumedHMAC{}, Clock: time.Now, EventTypes: in.EventTypes,
		BasicUser: in.BasicUser, BasicPassword: in.BasicPassword,
	})
}

// delivery is a notification with its body as JSON.
type delivery struct {
	sandbox.Delivery
	Body json.RawMessage `json:"body"`
}

func (c *control) deliveries(*http.Request) (any, error) {
	list := []delivery{}
	for _, d := range c.box.Deliveries() {
		list = append(list, delivery{Delivery: d, Body: d.Body})
	}
	return list, nil
}

func (c *control) find(id string) (sandbox.Delivery, error) {
	for _, d := range c.box.Deliveries() {
		if d.ID == id {
			return d, nil
		}
	}
	return sandbox.Delivery{}, fmt.Errorf("no delivery %q", id)
}

func (c *control) delivery(r *http.Request) (any, error) {
	d, err := c.find(r.PathValue("id"))
	return delivery{Delivery: d, Body: d.Body}, err
}

// deliveryBody is the body byte by byte, as signatures need it.
func (c *control) deliveryBody(r *http.Request) (any, error) {
	d, err := c.find(r.PathValue("id"))
	return document{"application/json", d.Body}, err
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
	d, err := duration(rest)
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

// release takes a list of ids, or nothing.
func (c *control) release(r *http.Request) (any, error) {
	var first []string
	if err := body(r, &first); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return nil, c.box.ReleaseDeliveries(first...)
}
