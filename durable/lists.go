package durable

import (
	"context"
	"errors"
	"iter"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// pagesAtOnce is how many pages of a list are read until what the list remembers of them,
// to tell that it moves, is let go.
const pagesAtOnce = 64

var errCircle = errors.New("durable: the list leads back to a page that was already read")

// pages yields the pages of a list of any length in constant memory. One that is empty may
// be a 404 in the service's error body on the first page. Any other 404 is an error: it may be a gateway's, and
// what the list holds would be missed.
func pages(ctx context.Context, list quickstream.List[quickstream.Transaction]) iter.Seq2[*quickstream.Page[quickstream.Transaction], error] {
	return func(yield func(*quickstream.Page[quickstream.Transaction], error) bool) {
		var next quickstream.Cursor
		tortoise, begun := "", false
		for steps, limit := 1, 1; ; steps++ {
			read := 0
			for page, err := range list.From(next).Pages(ctx) {
				if !begun && isNone(err) || !yield(page, err) || err != nil {
					return
				}
				next, begun = page.Next, true
				if read++; read == pagesAtOnce {
					break
				}
			}
			switch {
			case next.IsZero() || read < pagesAtOnce:
				return
			case next.Text() == tortoise: // Brent's algorithm
				yield(nil, errCircle)
				return
			case steps == limit:
				tortoise, steps, limit = next.Text(), 0, 2*limit
			}
		}
	}
}

// isNone reports whether a list is empty, which a 404 in the service's error body may say.
func isNone(err error) bool { return errors.Is(err, quickstream.ErrNotFound) && isOwn(err) }

// isOwn reports whether an error is that of an answer in the service's error body, and not a gateway's.
func isOwn(err error) bool { return errors.Is(err, wire.ErrOwn) }
