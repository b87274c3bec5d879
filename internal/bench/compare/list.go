package main

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/quickstream-go/quickstream"
)

// list returns the list that begins at an address.
func (p peers) list(url string) quickstream.List[quickstream.Transaction] {
	return p.ours.Transactions.BySettlementDate(quickstream.NewDate(2024, time.February, 3)).From(quickstream.ParseCursor(url))
}

// iterating compares reading a list of many pages to its end.
func iterating(ctx context.Context, m plan) []line {
	p, stop := startService(ctx)
	defer stop()
	const all = listPages * pageSize
	url := listURL(p.base, "fast", 0)
	params := new(stripe.PaymentIntentListParams)
	params.Limit = stripe.Int64(pageSize)

	ours := func() iter.Seq2[*quickstream.Transaction, error] { return p.list(url).All(ctx) }
	stripes := func() iter.Seq2[*stripe.PaymentIntent, error] {
		return iter.Seq2[*stripe.PaymentIntent, error](p.stripe.V1PaymentIntents.List(ctx, params).All(ctx))
	}
	var theirs []*plainTransaction
	check(each(p.plain.all(ctx, url), all, func(_ int, t *plainTransaction) error { theirs = append(theirs, t); return nil }))
	check(each(ours(), all, func(i int, t *quickstream.Transaction) error { return same(t, theirs[i]) }))
	check(each(stripes(), all, func(i int, intent *stripe.PaymentIntent) error { return sameIntent(intent, i) }))
	theirs = nil

	r := m.long().run(append([]work{
		{"ours", func() error { return each(ours(), all, nil) }},
		{"net/http", func() error { return each(p.plain.all(ctx, url), all, nil) }},
		{"stripe-go", func() error { return each(stripes(), all, nil) }},
	}, ifV2(work{"json/v2", func() error { return each(p.v2.all(ctx, url), all, nil) }})...)...)
	what := fmt.Sprintf("iterate %d transactions / ", all)
	return append([]line{
		slower("P13", what+"net/http + encoding/json", r, "ours", "net/http").atMost(0.70, 1.0),
		slower("P13", what+"stripe-go", r, "ours", "stripe-go").atMost(0.22, 0.46),
	}, ifV2(slower("P13", what+"net/http + encoding/json/v2 UnmarshalRead", r, "ours", "json/v2"))...)
}

// each reads a list to its end, and fails unless it has so many items.
func each[T any](list iter.Seq2[T, error], count int, use func(int, T) error) error {
	n := 0
	for item, err := range list {
		if err == nil && use != nil {
			err = use(n, item)
		}
		if err != nil {
			return err
		}
		n++
	}
	if n != count {
		return fmt.Errorf("%d items of %d", n, count)
	}
	return nil
}

// prefetching compares reading a list one page ahead with reading it page by page.
// The service takes as long for a page as the caller.
func prefetching(ctx context.Context, m plan) []line {
	p, stop := startService(ctx)
	defer stop()
	const pages = 20
	list := p.list(listURL(p.base, "slow", listPages-pages))
	read := func(list quickstream.List[quickstream.Transaction]) func() error {
		return func() error {
			return each(list.Pages(ctx), pages, func(_ int, page *quickstream.Page[quickstream.Transaction]) error {
				if len(page.Data) != pageSize {
					return fmt.Errorf("a page of %d", len(page.Data))
				}
				<-time.After(pageTime) // the caller's own work
				return nil
			})
		}
	}
	r := m.long().run(work{"one by one", read(list)}, work{"ahead", read(list.Prefetch())})
	return []line{faster("P14", "one page ahead", r, "ahead", "one by one").atLeast(1.6)}
}
