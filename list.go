package quickstream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// Cursor is a place in a list. It is opaque, belongs to the environment that it
// came from, and can carry account numbers, so that printing it shows nothing;
// Text gives what can be stored.
type Cursor struct{ hidden }

// ParseCursor returns the cursor whose Text was stored.
func ParseCursor(text string) Cursor { return Cursor{hide(text)} }

// Text returns the cursor in a form that can be stored and given to ParseCursor.
// Treat it like an account number.
func (c Cursor) Text() string { return c.text() }

// Page is one page of a list. What to store are its items and where the next one
// begins: a page itself cannot be marshalled.
type Page[T any] struct {
	Links []Link `json:"links"`
	Data  []*T   `json:"data"`
	// Next is where the following page begins; it is the zero Cursor on the last
	// page.
	Next Cursor

	envelope
}

type pageJSON struct {
	Links []Link      `json:"links"`
	Data  []wire.Span `json:"data"`
}

// decode reads a page from a body, which it keeps, and each item as a single
// answer is read. A page without data, or with null in it, is an error and never
// an empty page.
func (p *Page[T]) decode(body []byte, item func(body []byte) (*T, error)) error {
	var plain pageJSON
	if err := wire.Decode(body, &plain); err != nil {
		return err
	}
	if plain.Data == nil {
		return errors.New("the answer is not a list: it has no data")
	}
	next, more := findLink(plain.Links, "next")
	if more && next.Href() == "" {
		return errors.New("the list has a next page without an address")
	}
	*p = Page[T]{Links: plain.Links, Data: make([]*T, len(plain.Data)), Next: Cursor{next.href}}
	for i, raw := range plain.Data {
		var err error
		if p.Data[i], err = item(raw); err != nil {
			return fmt.Errorf("data[%d]: %w", i, err)
		}
	}
	p.keep(body, reflect.TypeFor[Page[T]]())
	return nil
}

// List is a list of the service, read page by page as it is consumed. It is a
// description of the request and can be read any number of times, concurrently
// too. Every page is its own request, with its own attempts and deadline.
//
// A page that fails is an error and never the end of the list. A list that the
// service sorts newest first can shift while it is read: items may be seen
// twice, so compare identifiers. The zero List has nothing in it; ListOf makes one
// of given items.
type List[T any] struct {
	begin func() *call
	item  func(body []byte) (*T, error)
	start Cursor
	ahead bool // one page
	items []*T // of ListOf, which has no begin
}

// ListOf returns a list of the given items, as one page and without a request: for
// tests of what takes lists.
func ListOf[T any](items ...*T) List[T] {
	return List[T]{items: append([]*T{}, items...)}
}

// From returns the same list beginning at a cursor.
func (l List[T]) From(cursor Cursor) List[T] {
	l.start = cursor
	return l
}

// Prefetch returns the same list, read one page ahead: while the loop works on a
// page, the next one is already asked for. That helps where the work takes about
// as long as the service does. It costs a request in vain when the loop is left
// early, and the page that is waiting can be as old as the work on the one before
// it.
//
// Pages and errors come in the same order as without it. A loop that is left
// cancels the request that is under way and waits for its end, so that nothing is
// left running. First never reads ahead.
func (l List[T]) Prefetch() List[T] {
	l.ahead = true
	return l
}

// Pages yields the pages. It stops after the first error.
func (l List[T]) Pages(ctx context.Context) iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		switch {
		case l.begin != nil && l.ahead:
			l.readAhead(ctx, l.begin(), yield)
		case l.begin != nil:
			l.read(ctx, l.begin(), yield)
		case l.items != nil:
			yield(&Page[T]{Data: slices.Clone(l.items)}, nil)
		}
	}
}

// read yields the pages one by one.
func (l List[T]) read(ctx context.Context, call *call, yield func(*Page[T], error) bool) {
	seen := map[string]bool{}
	for cursor := l.start; ; {
		page, err := l.fetch(ctx, call, cursor)
		if !yield(page, err) || err != nil || page.Next.IsZero() {
			return
		}
		if cursor = page.Next; seen[cursor.text()] {
			yield(nil, call.decodeError(errors.New("the list leads back to a page that was already read")))
			return
		}
		seen[cursor.text()] = true
	}
}

// readAhead yields what read yields. The other goroutine has the next page in its
// hands while the caller works on one, and reads no further.
func (l List[T]) readAhead(ctx context.Context, call *call, yield func(*Page[T], error) bool) {
	type result struct {
		page     *Page[T]
		err      error
		response Response
	}
	// What WithResponseInto asks for belongs to the page at hand, not to the next.
	into, response := call.config.response, new(Response)
	call.config.response = response

	ctx, cancel := context.WithCancel(ctx)
	results := make(chan result)
	go func() {
		defer close(results)
		l.read(ctx, call, func(page *Page[T], err error) bool {
			results <- result{page, err, *response}
			return true
		})
	}()
	// Once cancelled, reading ends with an error by itself, and nobody waits for
	// what was read until then.
	defer func() {
		cancel()
		for range results {
		}
	}()
	for r := range results {
		if into != nil {
			*into = r.response
		}
		if !yield(r.page, r.err) {
			return
		}
	}
}

// All yields the items of all pages. It stops after the first error.
func (l List[T]) All(ctx context.Context) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for page, err := range l.Pages(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range page.Data {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// First returns the first item. When the list is empty the error matches
// ErrEmptyList, and ErrNotFound, because for a look-up both mean the same. Where
// "nothing in it" and "no such thing" differ, as for the batches of a payment
// file, ask for ErrEmptyList: an APIError that matches ErrNotFound does not match
// it.
func (l List[T]) First(ctx context.Context) (*T, error) {
	l.ahead = false
	for item, err := range l.All(ctx) {
		return item, err
	}
	return nil, fmt.Errorf("quickstream: %w (%w)", ErrEmptyList, ErrNotFound)
}

func (l List[T]) fetch(ctx context.Context, call *call, cursor Cursor) (*Page[T], error) {
	if !cursor.IsZero() {
		call = call.at(cursor)
	}
	page := new(Page[T])
	err := call.do(ctx, func(_ int, body []byte) error { return page.decode(body, l.item) })
	if err != nil {
		return nil, err
	}
	return page, nil
}

// follow judges where a cursor leads. The key goes along, so that nothing but
// the service's own address will do.
func (c *Client) follow(cursor Cursor) (*url.URL, error) {
	target, err := url.Parse(cursor.text())
	switch {
	case err != nil:
		return nil, errors.New("the list's next link is not a URL")
	case target.Scheme != c.base.Scheme || !strings.EqualFold(target.Host, c.base.Host) || target.User != nil:
		return nil, errors.New("the list's next link leads to another host")
	case !strings.HasPrefix(path.Clean(target.Path)+"/", c.base.Path+"/"):
		return nil, errors.New("the list's next link leads outside the service's base path")
	}
	target.Fragment = ""
	return target, nil
}

// list describes a list operation, whose query is checked unless check is nil.
// Mistakes in the query, the options or the path come out when the list is read.
func list[T, Q any, P model[T]](c *Client, op operation, params Q, check func(*findings), opts []CallOption, ids ...string) List[T] {
	begin := func() *call {
		call := c.begin(op, opts, ids...)
		if check != nil {
			call.check(check)
		}
		call.query(params)
		return call
	}
	return List[T]{begin: begin, item: func(body []byte) (*T, error) {
		object := new(T)
		return object, unmarshal[T, P](body, object) // which does not keep the page
	}}
}
