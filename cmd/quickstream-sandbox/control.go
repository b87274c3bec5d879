package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const controlPath = "/_sandbox"

// control serves the JSON endpoints that control a running sandbox.
type control struct {
	box   *sandbox.Sandbox
	clock *sandbox.Clock
	log   *slog.Logger
}

// endpoints are the endpoints under /_sandbox, which help.txt describes. Reads have no effect.
func (c *control) endpoints() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /clock":     c.time,
		"POST /clock":    c.advance,
		"GET /ledger":    c.ledger,
		"GET /requests":  c.requests,
		"POST /outcomes": c.nextOutcomes,
		"POST /faults":   c.injectFault,
		"DELETE /faults": func(*http.Request) (any, error) { c.box.ClearFaults(); return c.box.FaultCounts(), nil },

		"POST /agreements/{agreementToken}/{action}": func(r *http.Request) (any, error) {
			return nil, c.box.Payer(r.PathValue("agreementToken"), sandbox.PayerAction(r.PathValue("action")))
		},
		"POST /challenges/{singleUseTokenId}/{transStatus}": func(r *http.Request) (any, error) {
			return nil, c.box.AnswerChallenge(r.PathValue("singleUseTokenId"), sandbox.TransStatus(r.PathValue("transStatus")))
		},

		"POST /subscriptions":       c.subscribe,
		"POST /trigger/{eventType}": c.trigger,
		"GET /deliveries":           c.deliveries,
		"GET /deliveries/{id}/body": c.deliveryBody,
	}
}

// routes serves the endpoints.
func (c *control) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, do := range c.endpoints() {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+controlPath+path, func(w http.ResponseWriter, r *http.Request) {
			value, err := do(r)
			status := http.StatusOK
			if err != nil {
				status, value = http.StatusUnprocessableEntity, map[string]string{"error": err.Error()}
			}
			if method != http.MethodGet {
				c.log.Info("control", "call", pattern, "status", status)
			}
			writeJSON(w, status, value)
		})
	}
	return mux
}

// writeJSON writes an answer as JSON, and a json.RawMessage byte for byte.
func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if raw, is := value.(json.RawMessage); is {
		_, _ = w.Write(raw)
		return
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(value) // the caller may have gone
}

// body reads the JSON of a request into a value, strictly.
func body(r *http.Request, into any) error {
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<20))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

func (c *control) time(*http.Request) (any, error) {
	return map[string]time.Time{"now": c.box.Now()}, nil
}

// advance takes {"advance": "48h"}.
func (c *control) advance(r *http.Request) (any, error) {
	var in struct {
		Advance duration `json:"advance"`
	}
	if err := body(r, &in); err != nil {
		return nil, err
	}
	if err := c.move(r.Context(), time.Duration(in.Advance)); err != nil {
		return nil, err
	}
	return c.time(r)
}

// move advances the clock by a duration. Before and after, it waits for notifications that are
// being posted: otherwise the move could make a post time out.
func (c *control) move(ctx context.Context, d time.Duration) error {
	if d < 0 {
		return errors.New("time does not run backwards")
	}
	c.flush(ctx)
	c.clock.Advance(d)
	c.flush(ctx)
	return nil
}

// flush waits for notifications that are being posted, for at most a second: a receiver may hang.
func (c *control) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = c.box.Flush(ctx)
}

// request is a recorded request with bodies as text.
type request struct {
	sandbox.Request
	Body   string `json:"body"`
	Answer string `json:"answer"`
}

func (c *control) requests(*http.Request) (any, error) {
	list := []request{}
	for _, r := range c.box.Requests() {
		list = append(list, request{Request: r, Body: string(r.Body), Answer: string(r.Answer)})
	}
	return list, nil
}

func (c *control) ledger(r *http.Request) (any, error) {
	ledger, order := c.box.Ledger(), r.URL.Query().Get("order")
	if order == "" {
		return ledger, nil
	}
	return struct {
		Entries sandbox.Ledger `json:"entries"`
		Charged int            `json:"charged"` // payments that took money; more than one is one too many
		Net     int64          `json:"net"`     // in cents
	}{ledger.Order(order), len(ledger.Charged(order)), ledger.Net(order)}, nil
}

// nextOutcomes takes a list such as ["approved", "declined 05"].
func (c *control) nextOutcomes(r *http.Request) (any, error) {
	var texts []string
	if err := body(r, &texts); err != nil {
		return nil, err
	}
	return nil, c.nextOutcome(texts...)
}

// nextOutcome sets the outcomes of the next transactions: all, or none if one cannot be read.
func (c *control) nextOutcome(texts ...string) error {
	var outcomes []sandbox.Outcome
	for _, text := range texts {
		outcome, err := parseOutcome(text)
		if err != nil {
			return err
		}
		outcomes = append(outcomes, outcome)
	}
	c.box.NextTransaction(outcomes...)
	return nil
}

// partAmount is the amount of a partial approval, in dollars.
var partAmount = regexp.MustCompile(`^[0-9]{1,9}\.[0-9]{2}$`)

func parseOutcome(text string) (outcome sandbox.Outcome, err error) {
	word, detail, _ := strings.Cut(text, " ")
	switch {
	case text == "approved":
		return sandbox.Approved(), nil
	case text == "erred":
		return sandbox.Erred(), nil
	case text == "suspended":
		return sandbox.Suspended(), nil
	case text == "pending":
		return sandbox.Pending(), nil
	case word == "declined" && detail != "":
		return sandbox.Declined(detail), nil
	case word == "rejected" && detail != "":
		return sandbox.Rejected(detail), nil
	case word == "approved" && partAmount.MatchString(detail):
		cents, err := strconv.ParseInt(strings.Replace(detail, ".", "", 1), 10, 64)
		return sandbox.ApprovedInPart(cents), err
	}
	return outcome, fmt.Errorf("no outcome %q: use approved, approved 4.00, erred, suspended, pending, declined <code> or rejected <code>", text)
}

// subscription is a webhook subscription as JSON.
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

// add subscribes. Notifications are signed by the assumed scheme, with the real time: the receiver's
// clock does not move with the sandbox's.
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

// deliveryBody returns the body byte for byte, as signatures need it.
func (c *control) deliveryBody(r *http.Request) (any, error) {
	for _, d := range c.box.Deliveries() {
		if d.ID == r.PathValue("id") {
			return json.RawMessage(d.Body), nil
		}
	}
	return nil, fmt.Errorf("no delivery %q", r.PathValue("id"))
}
