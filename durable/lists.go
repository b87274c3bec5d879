package durable

import (
	"context"
	"errors"
	"iter"

	"github.com/quickstream-go/quickstream"
)

// pagesAtOnce is how many pages of a list are read until what the list remembers of them,
// to tell that it moves, is let go.
const pagesAtOnce = 64

var errCircle = errors.New("durable: the list leads back to a page that was already read")

// pages yields the pages of a list of any length in constant memory. One that is empty
// may end with a 404.
func pages(ctx context.Context, list quickstream.List[quickstream.Transaction]) iter.Seq2[*quickstream.Page[quickstream.Transaction], error] {
	return func(yield func(*quickstream.Page[quickstream.Transaction], error) bool) {
		var next quickstream.Cursor
		tortoise := ""
		for steps, limit := 1, 1; ; steps++ {
			read := 0
			for page, err := range list.From(next).Pages(ctx) {
				if isNone(err) || !yield(page, err) || err != nil {
					return
				}
				next = page.Next
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

// isNone reports whether a list has ended, as one that is empty may do with a 404.
func isNone(err error) bool { return errors.Is(err, quickstream.ErrNotFound) }
