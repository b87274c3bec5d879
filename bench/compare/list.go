package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/bench/measure"
)

func listURL(base string, pages int) string {
	return fmt.Sprintf("%s%s&page=0&pages=%d", base, listRoute, pages)
}

// ourList returns the list that begins at an address.
func ourList(client *quickstream.Client, base string, pages int) quickstream.List[quickstream.Transaction] {
	return client.Transactions.BySettlementDate(quickstream.NewDate(2024, time.February, 3)).
		From(quickstream.ParseCursor(listURL(base, pages)))
}

// iterating compares reading a list of many pages to its end.
func iterating(ctx context.Context, s scale) (lines []line, err error) {
	base, stop, err := startService(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	pages := s.pages()
	client, err := ours(base + apiBase)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	plain := plainClient{&http.Client{Transport: pooled()}}
	stripeClient := stripes(base, &http.Client{Transport: pooled()})
	list, url := ourList(client, base+apiBase, pages), listURL(base+apiBase, pages)

	each := func(use func(*quickstream.Transaction)) error {
		for t, err := range list.All(ctx) {
			if err != nil {
				return err
			}
			use(t)
		}
		return nil
	}
	eachIntent := func(use func(*stripe.PaymentIntent)) error {
		params := new(stripe.PaymentIntentListParams)
		params.Limit = stripe.Int64(pageSize)
		params.Filters.AddFilter("pages", "", strconv.Itoa(pages))
		for p, err := range stripeClient.V1PaymentIntents.List(ctx, params).All(ctx) {
			if err != nil {
				return err
			}
			use(p)
		}
		return nil
	}
	if err := sameLists(each, func(use func(*plainTransaction)) error { return plain.each(ctx, url, use) }, eachIntent, pages*pageSize); err != nil {
		return nil, err
	}

	counting := func(read func(count func()) error) func() error {
		return func() error {
			n := 0
			if err := read(func() { n++ }); err != nil {
				return err
			}
			if n != pages*pageSize {
				return fmt.Errorf("%d items of %d", n, pages*pageSize)
			}
			return nil
		}
	}
	r, err := s.long().Run(
		measure.Case{Name: "ours", Do: counting(func(count func()) error { return each(func(*quickstream.Transaction) { count() }) })},
		measure.Case{Name: "raw", Do: counting(func(count func()) error { return plain.each(ctx, url, func(*plainTransaction) { count() }) })},
		measure.Case{Name: "stripe-go", Do: counting(func(count func()) error { return eachIntent(func(*stripe.PaymentIntent) { count() }) })},
	)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("iterate %d transactions / ", pages*pageSize)
	return []line{
		ratio("P13", what+"net/http", r.Took("ours"), r.Took("raw"), r.Ratio("ours", "raw"), gate{1.1, atMost}),
		ratio("P13", what+"stripe-go", r.Took("ours"), r.Took("stripe-go"), r.Ratio("ours", "stripe-go"), gate{0.33, atMost}),
	}, nil
}

// sameLists returns an error unless the clients read the same lists to the end.
func sameLists(each func(func(*quickstream.Transaction)) error, eachPlain func(func(*plainTransaction)) error,
	eachIntent func(func(*stripe.PaymentIntent)) error, count int,
) error {
	var mine []*quickstream.Transaction
	var theirs []*plainTransaction
	intents := 0
	var wrong error
	err := errors.Join(
		each(func(t *quickstream.Transaction) { mine = append(mine, t) }),
		eachPlain(func(t *plainTransaction) { theirs = append(theirs, t) }),
		eachIntent(func(p *stripe.PaymentIntent) {
			wrong = errors.Join(wrong, sameIntent(p, intents))
			intents++
		}),
	)
	if err = errors.Join(err, wrong); err != nil {
		return err
	}
	if len(mine) != count || len(theirs) != count || intents != count {
		return fmt.Errorf("lists of %d, %d and %d items instead of %d", len(mine), len(theirs), intents, count)
	}
	for i, t := range mine {
		if err := same(t, theirs[i]); err != nil {
			return err
		}
	}
	return nil
}

// prefetching compares reading a list one page ahead with reading it page by page,
// where the service takes as long for a page as the caller.
func prefetching(ctx context.Context, s scale) (lines []line, err error) {
	base, stop, err := startService(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	client, err := ours(base + slowBase)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	const pages = 20
	read := func(list quickstream.List[quickstream.Transaction]) func() error {
		return func() error {
			n := 0
			for page, err := range list.Pages(ctx) {
				if err != nil {
					return err
				}
				n += len(page.Data)
				<-time.After(pageTime) // the caller's own work
			}
			if n != pages*pageSize {
				return fmt.Errorf("%d items of %d", n, pages*pageSize)
			}
			return nil
		}
	}
	list := ourList(client, base+slowBase, pages)
	r, err := s.long().Run(
		measure.Case{Name: "one by one", Do: read(list)},
		measure.Case{Name: "ahead", Do: read(list.Prefetch())},
	)
	if err != nil {
		return nil, err
	}
	return []line{ratio("P14", "one page ahead: times as fast", r.Took("ahead"), r.Took("one by one"), r.Ratio("one by one", "ahead"), gate{1.6, atLeast})}, nil
}
