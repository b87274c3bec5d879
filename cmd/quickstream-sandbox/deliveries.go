package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// subscription is one as JSON.
type subscription struct {
	URL           string   `json:"url"`
	Secret        string   `json:"secret,omitempty"`
	EventTypes    []string `json:"eventTypes"`
	BasicUser     string   `json:"basicUser"`
	BasicPassword string   `json:"basicPassword,omitempty"`
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

// deliveryBody is the body byte by byte, as signatures need it.
func (c *control) deliveryBody(r *http.Request) (any, error) {
	d, err := c.find(r.PathValue("id"))
	return json.RawMessage(d.Body), err
}
