package durable

import (
	"context"
	"errors"
	"iter"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// pages yields the pages of a list. An empty list may be a 404 in the service's error body on the first page. Any other 404
// is an error: it may be a gateway's, and the entries of the list would be missed.
func pages(ctx context.Context, list quickstream.List[quickstream.Transaction]) iter.Seq2[*quickstream.Page[quickstream.Transaction], error] {
	return func(yield func(*quickstream.Page[quickstream.Transaction], error) bool) {
		first := true
		for page, err := range list.Pages(ctx) {
			if first && isNone(err) || !yield(page, err) || err != nil {
				return
			}
			first = false
		}
	}
}

// isNone reports whether a list is empty, which a 404 in the service's error body may say.
func isNone(err error) bool { return errors.Is(err, quickstream.ErrNotFound) && isOwn(err) }

// isOwn reports whether an error comes from an answer in the service's error body, and not from a gateway's.
func isOwn(err error) bool { return errors.Is(err, wire.ErrFromService) }
