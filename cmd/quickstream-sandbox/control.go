package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const controlPath = "/_sandbox"

// control is what can be done to a running sandbox from outside, as JSON.
type control struct {
	box   *sandbox.Sandbox
	clock *liveClock
}

// routes are all under /_sandbox. Reads have no effect; everything else is a
// POST or a DELETE.
func (c *control) routes() *http.ServeMux {
	mux := http.NewServeMux()
	read := func(path string, value func(*http.Request) any) {
		mux.HandleFunc("GET "+controlPath+path, func(w http.ResponseWriter, r *http.Request) { writeJSON(w, http.StatusOK, value(r)) })
	}
	act := func(pattern string, do func(*http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			value, err := do(r)
			if err != nil {
				writeJSON(w, http.StatusUnprocessableEntity, map[string]string{"error": err.Error()})
				return
			}
			writeJSON(w, http.StatusOK, value)
		})
	}
	post := func(path string, do func(*http.Request) (any, error)) { act("POST "+controlPath+path, do) }

	read("/clock", func(*http.Request) any { return c.time() })
	post("/clock", c.advance)
	read("/assumptions", func(*http.Request) any { return c.box.Assumptions().List() })
	read("/requests", func(*http.Request) any { return c.requests() })
	act("DELETE "+controlPath+"/requests", func(*http.Request) (any, error) {
		c.box.ResetRequests()
		return nil, nil
	})
	read("/ledger", c.ledger)
	read("/faults", func(*http.Request) any { return c.box.FaultCounts() })
	post("/faults", c.injectFault)
	act("DELETE "+controlPath+"/faults", func(*http.Request) (any, error) {
		c.box.ClearFaults()
		return c.box.FaultCounts(), nil
	})
	post("/outcomes", c.nextOutcomes)
	post("/transactions/{receiptNumber}/{action}", c.transaction)

	read("/agreements", func(*http.Request) any { return c.box.Agreements() })
	post("/agreements/{agreementToken}/{action}", c.agreement)
	read("/challenges", func(*http.Request) any { return c.box.Challenges() })
	post("/challenges/{singleUseTokenId}/{transStatus}", func(r *http.Request) (any, error) {
		return nil, c.box.AnswerChallenge(r.PathValue("singleUseTokenId"), sandbox.TransStatus(r.PathValue("transStatus")))
	})
	post("/authentications", func(r *http.Request) (any, error) {
		var in []sandbox.TransStatus
		if err := body(r, &in); err != nil {
			return nil, err
		}
		c.box.NextThreeDS(in...)
		return nil, nil
	})
	post("/schedules", c.schedule)
	read("/payment-files/{id}/faults", func(r *http.Request) any { return c.box.FileFaults(r.PathValue("id")) })

	post("/subscriptions", c.subscribe)
	read("/deliveries", func(*http.Request) any { return c.deliveries() })
	post("/deliveries/{id}/redeliver", func(r *http.Request) (any, error) { return nil, c.box.Redeliver(r.PathValue("id")) })
	return mux
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
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

func (c *control) time() any { return map[string]time.Time{"now": c.box.Now()} }

// advance takes {"advance": "48h"}.
func (c *control) advance(r *http.Request) (any, error) {
	var in struct {
		Advance string `json:"advance"`
	}
	if err := body(r, &in); err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(in.Advance)
	if err != nil {
		return nil, err
	}
	if d < 0 {
		return nil, errors.New("time does not run backwards")
	}
	c.clock.jump(d)
	return c.time(), nil
}

// request is a recorded request with its body as text.
type request struct {
	sandbox.Request
	Body string
}

func (c *control) requests() []request {
	list := []request{}
	for _, r := range c.box.Requests() {
		list = append(list, request{Request: r, Body: string(r.Body)})
	}
	return list
}

// delivery is a notification with its body as JSON.
type delivery struct {
	sandbox.Delivery
	Body json.RawMessage
}

func (c *control) deliveries() []delivery {
	list := []delivery{}
	for _, d := range c.box.Deliveries() {
		list = append(list, delivery{Delivery: d, Body: d.Body})
	}
	return list
}

func (c *control) ledger(r *http.Request) any {
	order := r.URL.Query().Get("order")
	if order == "" {
		return c.box.Ledger()
	}
	ledger := c.box.Ledger()
	return struct {
		Entries sandbox.Ledger
		Charged int   // payments that took money; more than one is one too many
		Net     int64 // in cents
	}{ledger.Order(order), len(ledger.Charged(order)), ledger.Net(order)}
}

// nextOutcomes takes a list such as ["approved", "declined 05"].
func (c *control) nextOutcomes(r *http.Request) (any, error) {
	var in []string
	if err := body(r, &in); err != nil {
		return nil, err
	}
	outcomes := make([]sandbox.Outcome, 0, len(in))
	for _, text := range in {
		o, err := parseOutcome(text)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, o)
	}
	c.box.NextTransaction(outcomes...)
	return nil, nil
}

func parseOutcome(text string) (sandbox.Outcome, error) {
	var word, code string
	_, _ = fmt.Sscan(text, &word, &code) // a code is only needed by some
	switch {
	case word == "approved" && code == "":
		return sandbox.Approved(), nil
	case word == "erred" && code == "":
		return sandbox.Erred(), nil
	case word == "suspended" && code == "":
		return sandbox.Suspended(), nil
	case word == "pending" && code == "":
		return sandbox.Pending(), nil
	case word == "declined" && code != "":
		return sandbox.Declined(code), nil
	case word == "rejected" && code != "":
		return sandbox.Rejected(code), nil
	}
	return sandbox.Outcome{}, fmt.Errorf("no outcome %q: use approved, erred, suspended, pending, declined <code> or rejected <code>", text)
}

func (c *control) transaction(r *http.Request) (any, error) {
	tx := c.box.Transaction(r.PathValue("receiptNumber"))
	switch action := r.PathValue("action"); action {
	case "complete":
		return nil, tx.Complete()
	case "cancel":
		return nil, tx.Cancel()
	case "return":
		return nil, tx.Return("6")
	case "retry":
		receipt, err := tx.Retry()
		return map[string]string{"receiptNumber": receipt}, err
	default:
		return nil, fmt.Errorf("no action %q: use complete, cancel, return or retry", action)
	}
}

func (c *control) agreement(r *http.Request) (any, error) {
	return nil, c.answerAgreement(r.PathValue("agreementToken"), r.PathValue("action"))
}

func (c *control) answerAgreement(token, action string) error {
	payer := c.box.Agreement(token)
	switch action {
	case "confirm":
		return payer.Confirm()
	case "decline":
		return payer.Decline()
	case "expire":
		return payer.LetExpire()
	case "accept-amendment":
		return payer.AnswerAmendment(true)
	case "refuse-amendment":
		return payer.AnswerAmendment(false)
	default:
		return fmt.Errorf("no action %q: use confirm, decline, expire, accept-amendment or refuse-amendment", action)
	}
}

func (c *control) schedule(r *http.Request) (any, error) {
	var in sandbox.Schedule
	if err := body(r, &in); err != nil {
		return nil, err
	}
	id, err := c.box.CreateSchedule(in)
	return map[string]string{"paymentScheduleId": id}, err
}

// subscribe signs with the assumed scheme.
func (c *control) subscribe(r *http.Request) (any, error) {
	var in struct {
		URL           string   `json:"url"`
		Secret        string   `json:"secret"`
		EventTypes    []string `json:"eventTypes"`
		BasicUser     string   `json:"basicUser"`
		BasicPassword string   `json:"basicPassword"`
	}
	if err := body(r, &in); err != nil {
		return nil, err
	}
	return nil, c.box.Subscribe(sandbox.Subscription{
		URL: in.URL, Secret: in.Secret, Scheme: signature.AssumedHMAC{}, EventTypes: in.EventTypes,
		BasicUser: in.BasicUser, BasicPassword: in.BasicPassword,
	})
}
