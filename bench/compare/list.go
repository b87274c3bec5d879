package main

import (
	"context"
	"errors"
	"fmt"
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
func iterating(ctx context.Context, s scale) ([]line, error) {
	return withService(ctx, apiBase, func(p peers) ([]line, error) {
		pages := s.pages()
		list := ourList(p.ours, p.base+apiBase, pages)
		each := func(use func(*quickstream.Transaction)) error {
			for t, err := range list.All(ctx) {
				if err != nil {
					return err
				}
				use(t)
			}
			return nil
		}
		eachPlain := func(use func(*plainTransaction)) error {
			return p.plain.each(ctx, listURL(p.base+apiBase, pages), use)
		}
		eachIntent := func(use func(*stripe.PaymentIntent)) error {
			params := new(stripe.PaymentIntentListParams)
			params.Limit = stripe.Int64(pageSize)
			params.Filters.AddFilter("pages", "", strconv.Itoa(pages))
			for intent, err := range p.stripe.V1PaymentIntents.List(ctx, params).All(ctx) {
				if err != nil {
					return err
				}
				use(intent)
			}
			return nil
		}
		if err := sameLists(each, eachPlain, eachIntent); err != nil {
			return nil, err
		}
		r, err := s.long().Run(
			measure.Case{Name: "ours", Do: counting(each, pages*pageSize)},
			measure.Case{Name: "net/http", Do: counting(eachPlain, pages*pageSize)},
			measure.Case{Name: "stripe-go", Do: counting(eachIntent, pages*pageSize)},
		)
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("iterate %d transactions / ", pages*pageSize)
		return []line{slower("P13", what+"net/http", r, "ours", "net/http").atMost(1.1), slower("P13", what+"stripe-go", r, "ours", "stripe-go").atMost(0.33)}, nil
	})
}

// counting reads a list to its end, and fails unless it has so many items.
func counting[T any](each func(func(T)) error, count int) func() error {
	return func() error {
		n := 0
		if err := each(func(T) { n++ }); err != nil {
			return err
		}
		if n != count {
			return fmt.Errorf("%d items of %d", n, count)
		}
		return nil
	}
}

// sameLists returns an error unless the clients read the same lists to the end.
func sameLists(each func(func(*quickstream.Transaction)) error, eachPlain func(func(*plainTransaction)) error, eachIntent func(func(*stripe.PaymentIntent)) error) error {
	var theirs []*plainTransaction
	read, intents := 0, 0
	err := eachPlain(func(t *plainTransaction) { theirs = append(theirs, t) })
	err = errors.Join(err, each(func(t *quickstream.Transaction) {
		if read < len(theirs) {
			err = errors.Join(err, same(t, theirs[read]))
		}
		read++
	}), eachIntent(func(p *stripe.PaymentIntent) {
		err = errors.Join(err, sameIntent(p, intents))
		intents++
	}))
	if read != len(theirs) || intents != len(theirs) {
		err = errors.Join(err, fmt.Errorf("lists of %d, %d and %d items", read, len(theirs), intents))
	}
	return err
}

// prefetching compares reading a list one page ahead with reading it page by page,
// where the service takes as long for a page as the caller.
func prefetching(ctx context.Context, s scale) ([]line, error) {
	return withService(ctx, slowBase, func(p peers) ([]line, error) {
		const pages = 20
		read := func(list quickstream.List[quickstream.Transaction]) func() error {
			return counting(func(use func(*quickstream.Transaction)) error {
				for page, err := range list.Pages(ctx) {
					if err != nil {
						return err
					}
					for _, t := range page.Data {
						use(t)
					}
					<-time.After(pageTime) // the caller's own work
				}
				return nil
			}, pages*pageSize)
		}
		list := ourList(p.ours, p.base+slowBase, pages)
		r, err := s.long().Run(measure.Case{Name: "one by one", Do: read(list)}, measure.Case{Name: "ahead", Do: read(list.Prefetch())})
		if err != nil {
			return nil, err
		}
		return []line{faster("P14", "one page ahead", r, "ahead", "one by one").atLeast(1.6)}, nil
	})
}
