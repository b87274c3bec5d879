package main

import (
	"net/http"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/internal/openapi"
	"github.com/quickstream-go/quickstream/sandbox"
)

// endpoint is one thing that can be read or done under /_sandbox: the help and the
// page are made of the same rows as the server.
type endpoint struct {
	pattern string // method and path, as http.ServeMux takes it
	about   string
	example string // the arguments of curl
	do      func(*http.Request) (any, error)
}

func (c *control) endpoints() []endpoint {
	return slices.Concat(c.recordEndpoints(), c.referenceEndpoints(), c.outcomeEndpoints(), c.payerEndpoints(), c.webhookEndpoints())
}

// routes serves the endpoints under /_sandbox. Reads have no effect; everything else
// is a POST or a DELETE.
func (c *control) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, e := range c.endpoints() {
		method, path, _ := strings.Cut(e.pattern, " ")
		mux.HandleFunc(method+" "+controlPath+path, func(w http.ResponseWriter, r *http.Request) {
			value, err := e.do(r)
			status := http.StatusOK
			if err != nil {
				status, value = http.StatusUnprocessableEntity, map[string]string{"error": err.Error()}
			}
			if method != http.MethodGet {
				c.log.Info("control", "call", e.pattern, "status", status)
			}
			writeJSON(w, status, value)
		})
	}
	return mux
}

// read answers with what a function returns.
func read[T any](what func() T) func(*http.Request) (any, error) {
	return func(*http.Request) (any, error) { return what(), nil }
}

// do does something that cannot fail.
func do(what func()) func(*http.Request) (any, error) {
	return func(*http.Request) (any, error) { what(); return nil, nil }
}

// named does something to what the path names.
func named(wildcard string, what func(string) error) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) { return nil, what(r.PathValue(wildcard)) }
}

// recordEndpoints are the clock, and what has happened.
func (c *control) recordEndpoints() []endpoint {
	return []endpoint{
		{"GET /clock", "the sandbox's time", "$SANDBOX/clock", c.time},
		{
			"POST /clock", "moves it forward. What becomes due on the way, such as settlements, expiries and events, has happened when this answers, and deliveries that have failed before are tried once more. They are signed with the real time, so that a receiver with a clock of its own accepts them",
			`-d '{"advance":"48h"}' $SANDBOX/clock`, c.advance,
		},
		{
			"GET /ledger", "the transactions as they stand, whatever answers were given, with amounts in cents. With ?order=<customerReferenceNumber> those of one order and their refunds: charged is how many took money (two are one too many), net what it cost in cents",
			`"$SANDBOX/ledger?order=ORDER-1"`, c.ledger,
		},
		{
			"GET /requests", "what reached the service, and its answers: at most the last 10,000 requests or 16 MiB, and 64 KiB of a body. Numbers of cards and accounts that are no test numbers are blanked out",
			"$SANDBOX/requests", c.requests,
		},
		{"DELETE /requests", "forgets them", "-X DELETE $SANDBOX/requests", do(c.box.ResetRequests)},
		{
			"POST /reset", "forgets customers, payments and all else that the service holds, requests and deliveries, and ends faults and outcomes that are still to come. Keys, the clock, the world and subscriptions stay, and no identifier comes again",
			"-X POST $SANDBOX/reset", do(c.box.Reset),
		},
	}
}

// referenceEndpoints are about what can be sent.
func (c *control) referenceEndpoints() []endpoint {
	return []endpoint{
		{"GET /assumptions", "what is assumed where the contract is silent, with the values of other worlds", "$SANDBOX/assumptions", read(func() []sandbox.Assumption { return c.box.Assumptions().List() })},
		{"GET /cards", "the test cards: declineCode is empty if their payments are approved, transStatus is what 3D Secure says first", "$SANDBOX/cards", read(sandbox.TestCards)},
		{"GET /openapi.yaml", "an unofficial OpenAPI 3.1 document of the service, in our own words", "$SANDBOX/openapi.yaml", read(func() document { return document{"application/yaml", openapi.Document()} })},
	}
}

// outcomeEndpoints decide how calls go.
func (c *control) outcomeEndpoints() []endpoint {
	return []endpoint{
		{
			"POST /outcomes", "the outcomes of the next transactions, one each: approved, approved <amount> (a part, such as approved 4.00), declined <code>, erred (not known, summaryCode 2), rejected <code>, suspended (by fraud screening) or pending",
			`-d '["declined 51","erred"]' $SANDBOX/outcomes`, c.nextOutcomes,
		},
		{
			"POST /transactions/{receiptNumber}/{action}", "complete or cancel a suspended transaction, return a bank account payment, retry a soft-declined one",
			"-X POST $SANDBOX/transactions/$SUSPENDED/complete", c.transaction,
		},
		{
			"POST /faults", "breaks calls. operation: such as \"POST /transactions\", any without it. nth, times, probability: which calls. kind: " + faultKindNames() +
				". body: ServiceError, HTML, Empty, BrokenJSON, GatewayError, ErrorList or DuplicateMembers. Some take delay, bytes, status, retryAfter or location",
			`-d '{"operation":"POST /transactions","nth":1,"kind":"ResetAfterCommit"}' $SANDBOX/faults`, c.injectFault,
		},
		{"GET /faults", "how often each kind has struck", "$SANDBOX/faults", read(c.box.FaultCounts)},
		{"DELETE /faults", "ends them", "-X DELETE $SANDBOX/faults", read(func() map[string]int { c.box.ClearFaults(); return c.box.FaultCounts() })},
		{
			"POST /schedules", "sets up a recurring payment, as people do in the portal. amount: in cents, each month from now. More: accountToken, supplierBusinessCode, payments (how many)",
			`-d '{"customerId":"'$CUSTOMER'","amount":1050}' $SANDBOX/schedules`, c.schedule,
		},
		{"GET /payment-files/{id}/faults", "what is wrong with the lines of a payment file", "$SANDBOX/payment-files/1/faults", c.fileFaults},
	}
}

// payerEndpoints are what payers do in their banking apps.
func (c *control) payerEndpoints() []endpoint {
	return []endpoint{
		{"GET /agreements", "the PayTo agreements as they stand", "$SANDBOX/agreements", read(c.box.Agreements)},
		{
			"POST /agreements/{agreementToken}/{action}", "what the payer does: " + payerActionNames(),
			"-X POST $SANDBOX/agreements/$AGREEMENT/confirm", c.agreement,
		},
		{"GET /challenges", "the 3D Secure challenges that wait for payers", "$SANDBOX/challenges", read(c.box.Challenges)},
		{
			"POST /challenges/{singleUseTokenId}/{transStatus}", "the payer's answer: Y, A, N, R or U",
			"-X POST $SANDBOX/challenges/$CHALLENGED/Y", c.answerChallenge,
		},
	}
}

// webhookEndpoints are about events and where they go.
func (c *control) webhookEndpoints() []endpoint {
	return []endpoint{
		{
			"POST /subscriptions", "posts events to a URL from now on, on this machine (a name is judged by where it leads when it is dialled) or a host of -webhook-host, signed with the secret in X-Webhook-Signature: t=<milliseconds>,v1=<hex of HMAC-SHA256 over t, a dot and the body>. The contract does not say how the service signs: this is an assumption. eventTypes, basicUser and basicPassword are optional. It answers with the id",
			`-d '{"url":"http://127.0.0.1:4242/","secret":"whsec"}' $SANDBOX/subscriptions`, c.subscribe,
		},
		{"GET /subscriptions", "the subscriptions, without secrets", "$SANDBOX/subscriptions", c.subscriptions},
		{"DELETE /subscriptions/{id}", "ends one: nothing more is posted to it", "-X DELETE $SANDBOX/subscriptions/$SUBSCRIPTION", named("id", c.box.Unsubscribe)},
		{
			"POST /trigger/{eventType}", "makes an event happen, to a new agreement or to the one named in the body: " + eventNames() +
				". The last two stand for all the kinds whose names are not public. An event of a payment comes with the payment, in the ledger too, and before it the agreement is confirmed, which is another event",
			`-d '{"agreementToken":"'$AGREEMENT'"}' $SANDBOX/trigger/payto.payment.approved`, c.trigger,
		},
		{"GET /deliveries", "what was posted, with every attempt, its signature, and what is wrong with that", "$SANDBOX/deliveries", c.deliveries},
		{"GET /deliveries/{id}", "one of them", "$SANDBOX/deliveries/$DELIVERY", c.delivery},
		{"GET /deliveries/{id}/body", "its body byte by byte, as it was signed", "$SANDBOX/deliveries/$DELIVERY/body", c.deliveryBody},
		{"POST /deliveries/{id}/redeliver", "posts one again, whatever became of it before", "-X POST $SANDBOX/deliveries/$DELIVERY/redeliver", named("id", func(id string) error { return c.box.Redeliver(id) })},
		{
			"POST /deliveries/faults", "what goes wrong with the next new deliveries, one each, and with no redelivery: twice, tampered, stale <duration>, future <duration> or none",
			`-d '["twice","stale 6m"]' $SANDBOX/deliveries/faults`, c.nextDeliveries,
		},
		{"POST /deliveries/hold", "keeps deliveries back", "-X POST $SANDBOX/deliveries/hold", do(c.box.HoldDeliveries)},
		{"POST /deliveries/release", "posts what was held: those with the ids in the body first, in that order", `-d '[]' $SANDBOX/deliveries/release`, c.release},
	}
}
