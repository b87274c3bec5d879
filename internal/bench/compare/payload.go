package main

import (
	_ "embed"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Bodies of about 2.5 KB, as the service's own are, and bodies of stripe-go's
// service, because its client reads no others.

//go:embed testdata/transaction.json
var transactionForm string

//go:embed testdata/intent.json
var intentForm string

// transactionJSON returns a transaction of a test card.
func transactionJSON(base string, n int) string {
	return strings.NewReplacer(
		"{base}", base+apiBase, "{n}", strconv.Itoa(n), "{whole}", strconv.Itoa(n%5000), "{more}", strconv.Itoa(n%5000+1),
	).Replace(transactionForm)
}

// smallJSON is a transaction with next to nothing to decode.
const smallJSON = `{"receiptNumber":"1000000001"}`

// notificationJSON returns a notification about a transaction.
func notificationJSON() string {
	return `{"id":"5f2c8a54-0001","timestamp":"2024-02-03T10:11:13+1100","eventType":"payto.payment.approved","data":` +
		transactionJSON(stubHost, 1000000001) + `}`
}

// intentJSON returns a payment of stripe-go.
func intentJSON(n int) string {
	return strings.NewReplacer("{n}", strconv.Itoa(n), "{cents}", strconv.FormatInt(intentCents(n), 10)).Replace(intentForm)
}

func intentCents(n int) int64 { return int64(n%5000)*100 + 145 }

// eventJSON returns an event of stripe-go.
func eventJSON(version string) string {
	return fmt.Sprintf(`{"id":"evt_1","object":"event","api_version":"%s","created":1706915474,"data":{"object":%s},"livemode":false,`+
		`"pending_webhooks":1,"request":{"id":"req_1","idempotency_key":null},"type":"payment_intent.succeeded"}`, version, intentJSON(1))
}

// The number of pages of a list, and of items on a page.
const listPages, pageSize = 100, 100

// items returns the bodies of a page, the first being number first.
func items(first int, body func(n int) string) string {
	all := make([]string, pageSize)
	for i := range all {
		all[i] = body(first + i)
	}
	return strings.Join(all, ",")
}

// listURL returns the address of a page of a list. The service takes pageTime for each page of a slow list.
func listURL(base, pace string, page int) string {
	return fmt.Sprintf("%s%s%s?settlementDate=2024-02-03&pace=%s&page=%d", base, apiBase, listRoute, pace, page)
}

// pageJSON returns a page of transactions.
func pageJSON(base string, query url.Values) string {
	page, next := must(strconv.Atoi(query.Get("page"))), ""
	if page+1 < listPages {
		next = fmt.Sprintf(`{"rel":"next","href":"%s"}`, listURL(base, query.Get("pace"), page+1))
	}
	return `{"links":[` + next + `],"data":[` + items(1000000000+page*pageSize, func(n int) string { return transactionJSON(base, n) }) + `]}`
}

// intentPageJSON returns a page of payments of stripe-go.
func intentPageJSON(query url.Values) string {
	first := 0
	if after, ok := strings.CutPrefix(query.Get("starting_after"), "pi_"); ok {
		first = 1 + must(strconv.Atoi(after))
	}
	return fmt.Sprintf(`{"object":"list","url":"/v1/payment_intents","has_more":%t,"data":[%s]}`,
		first+pageSize < pageSize*listPages, items(first, intentJSON))
}
