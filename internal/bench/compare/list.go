package main

import (
	"context"
	"fmt"
	"iter"
	"strconv"
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
	const pages = 100
	url := listURL(p.base, pages, "fast")
	params := new(stripe.PaymentIntentListParams)
	params.Limit = stripe.Int64(pageSize)
	params.Filters.AddFilter("pages", "", strconv.Itoa(pages))

	ours := func() iter.Seq2[*quickstream.Transaction, error] { return p.list(url).All(ctx) }
	stripes := func() iter.Seq2[*stripe.PaymentIntent, error] {
		return iter.Seq2[*stripe.PaymentIntent, error](p.stripe.V1PaymentIntents.List(ctx, params).All(ctx))
	}
	var theirs []*plainTransaction
	check(each(p.plain.all(ctx, url), pages*pageSize, func(_ int, t *plainTransaction) error { theirs = append(theirs, t); return nil }))
	check(each(ours(), pages*pageSize, func(i int, t *quickstream.Transaction) error { return same(t, theirs[i]) }))
	check(each(stripes(), pages*pageSize, func(i int, intent *stripe.PaymentIntent) error { return sameIntent(intent, i) }))
	theirs = nil

	r := m.long().run(append([]work{
		{"ours", func() error { return each(ours(), pages*pageSize, nil) }},
		{"net/http", func() error { return each(p.plain.all(ctx, url), pages*pageSize, nil) }},
		{"stripe-go", func() error { return each(stripes(), pages*pageSize, nil) }},
	}, ifV2(work{"json/v2", func() error { return each(p.v2.all(ctx, url), pages*pageSize, nil) }})...)...)
	what := fmt.Sprintf("iterate %d transactions / ", pages*pageSize)
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

// prefetching compares reading a list one page ahead with reading it page by page,
// where the service takes as long for a page as the caller.
func prefetching(ctx context.Context, m plan) []line {
	p, stop := startService(ctx)
	defer stop()
	const pages = 20
	list := p.list(listURL(p.base, pages, "slow"))
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
