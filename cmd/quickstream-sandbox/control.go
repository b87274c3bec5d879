package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

const controlPath = "/_sandbox"

// control is what can be done to a running sandbox from outside, as JSON.
type control struct {
	box   *sandbox.Sandbox
	clock *sandbox.Clock
	log   *slog.Logger
}

// document is an answer that is no JSON.
type document struct {
	mediaType string
	content   []byte
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	if doc, is := value.(document); is {
		w.Header().Set("Content-Type", doc.mediaType)
		w.WriteHeader(status)
		_, _ = w.Write(doc.content)
		return
	}
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

// parsed reads a list of texts.
func parsed[T any](r *http.Request, parse func(string) (T, error)) (list []T, err error) {
	var in []string
	if err := body(r, &in); err != nil {
		return nil, err
	}
	for _, text := range in {
		one, err := parse(text)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

func (c *control) time(*http.Request) (any, error) {
	return map[string]time.Time{"now": c.box.Now()}, nil
}

// advance takes {"advance": "48h"}.
func (c *control) advance(r *http.Request) (any, error) {
	var in struct {
		Advance string `json:"advance"`
	}
	if err := body(r, &in); err != nil {
		return nil, err
	}
	if err := c.move(r.Context(), in.Advance); err != nil {
		return nil, err
	}
	return c.time(r)
}

// move advances the clock by a duration, with what is being posted let through
// before, so that no time limit ends it, and after.
func (c *control) move(ctx context.Context, text string) error {
	d, err := duration(text)
	switch {
	case err != nil:
		return err
	case d < 0:
		return errors.New("time does not run backwards")
	}
	c.flush(ctx)
	c.clock.Advance(d)
	c.flush(ctx)
	return nil
}

// flush waits for what is being posted, and not long for a receiver that hangs.
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
	outcomes, err := parsed(r, parseOutcome)
	if err == nil {
		c.box.NextTransaction(outcomes...)
	}
	return nil, err
}

func parseOutcome(text string) (sandbox.Outcome, error) {
	var word, detail string
	_, _ = fmt.Sscan(text, &word, &detail) // only some have more than a word
	switch {
	case word == "approved" && detail != "":
		return approvedInPart(detail)
	case word == "declined" && detail != "":
		return sandbox.Declined(detail), nil
	case word == "rejected" && detail != "":
		return sandbox.Rejected(detail), nil
	}
	plain := map[string]sandbox.Outcome{
		"approved": sandbox.Approved(), "erred": sandbox.Erred(), "suspended": sandbox.Suspended(), "pending": sandbox.Pending(),
	}
	if outcome, known := plain[text]; known {
		return outcome, nil
	}
	return sandbox.Outcome{}, fmt.Errorf("no outcome %q: use approved, approved <amount>, erred, suspended, pending, declined <code> or rejected <code>", text)
}

func (c *control) transaction(r *http.Request) (any, error) {
	receipt := r.PathValue("receiptNumber")
	switch action := r.PathValue("action"); action {
	case "complete":
		return nil, c.box.Portal(receipt, sandbox.CompleteTransaction)
	case "cancel":
		return nil, c.box.Portal(receipt, sandbox.CancelTransaction)
	case "return":
		return nil, c.box.ReturnPayment(receipt, "6")
	case "retry":
		retried, err := c.box.RetryPayment(receipt)
		return map[string]string{"receiptNumber": retried}, err
	default:
		return nil, fmt.Errorf("no action %q: use complete, cancel, return or retry", action)
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

func (c *control) fileFaults(r *http.Request) (any, error) {
	return c.box.FileFaults(r.PathValue("id")), nil
}

// approvedInPart takes an amount in dollars.
func approvedInPart(text string) (sandbox.Outcome, error) {
	whole, fraction, decimals := strings.Cut(text, ".")
	cents, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	if err != nil || cents <= 0 || !decimals || len(fraction) > 2 {
		return sandbox.Outcome{}, fmt.Errorf("%q is no amount: write approved 4.00", text)
	}
	return sandbox.ApprovedInPart(cents), nil
}
