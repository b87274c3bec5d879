package main

import (
	_ "embed"
	"fmt"
	"strings"
)

// Bodies of about 2.5 KB, as the service's own are, and those of the peer whose
// client only reads its own.

//go:embed testdata/transaction.json
var transactionForm string

//go:embed testdata/intent.json
var intentForm string

// fill returns a form with values in the places that are named in braces.
func fill(form string, values ...any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.NewReplacer(texts...).Replace(form)
}

// transactionJSON returns a transaction of a card that is for testing.
func transactionJSON(base string, n int) string {
	return fill(transactionForm, "{base}", base, "{n}", n, "{whole}", n%5000, "{more}", n%5000+1)
}

// smallJSON is a transaction of which there is next to nothing to decode.
const smallJSON = `{"receiptNumber":"1000000001"}`

// notificationJSON returns a notification about a transaction.
func notificationJSON(base string) string {
	return `{"id":"5f2c8a54-0001","timestamp":"2024-02-03T10:11:13+1100","eventType":"payto.payment.approved","data":` +
		transactionJSON(base, 1000000001) + `}`
}

const pageSize = 100

// items returns the bodies of a page, the first being number first.
func items(first int, body func(n int) string) string {
	all := make([]string, pageSize)
	for i := range all {
		all[i] = body(first + i)
	}
	return strings.Join(all, ",")
}

// pageJSON returns a page of transactions.
func pageJSON(base, route string, page, pages int) string {
	next := ""
	if page+1 < pages {
		next = fmt.Sprintf(`{"rel":"next","href":"%s%s&page=%d&pages=%d"}`, base, route, page+1, pages)
	}
	return `{"links":[` + next + `],"data":[` + items(1000000000+page*pageSize, func(n int) string { return transactionJSON(base, n) }) + `]}`
}

// intentJSON returns a payment of stripe-go.
func intentJSON(n int) string { return fill(intentForm, "{n}", n, "{cents}", intentCents(n)) }

func intentCents(n int) int64 { return int64(n%5000)*100 + 145 }

// intentPageJSON returns a page of payments of stripe-go.
func intentPageJSON(page, pages int) string {
	return fmt.Sprintf(`{"object":"list","url":"/v1/payment_intents","has_more":%t,"data":[%s]}`, page+1 < pages, items(page*pageSize, intentJSON))
}

// eventJSON returns an event of stripe-go.
func eventJSON(version string) string {
	return fmt.Sprintf(`{"id":"evt_1","object":"event","api_version":"%s","created":1706915474,"data":{"object":%s},"livemode":false,`+
		`"pending_webhooks":1,"request":{"id":"req_1","idempotency_key":null},"type":"payment_intent.succeeded"}`, version, intentJSON(1))
}
