package quickstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// Cursor is a place in a list. It is opaque, belongs to the environment that it
// came from, and can carry account numbers, so that printing it shows nothing;
// Text gives what can be stored.
type Cursor struct{ hidden }

// ParseCursor returns the cursor whose Text was stored.
func ParseCursor(text string) Cursor { return Cursor{hide(text)} }

// Text returns the cursor in a form that can be stored and given to [ParseCursor].
// Treat it like an account number.
func (c Cursor) Text() string { return c.text() }

// Page is one page of a list. What to store are its items and where the next one
// begins: a page itself cannot be marshalled. One of more than 5,000 items or links, or
// 150,000 values in all, is a [DecodeError].
type Page[T any] struct {
	Links []Link `json:"links" wire:"decides"`
	// Data holds the items that could be read.
	Data []*T `json:"data" wire:"decides"`
	// Unreadable are the others, in their order. Each matches [ErrUnreadableItem].
	Unreadable []*DecodeError
	// Shifted tells that the page holds an item that was there before: the list has
	// changed while it was read, and what moved the other way may have been missed.
	Shifted bool
	// Next is where the following page begins; it is the zero [Cursor] on the last
	// page.
	Next Cursor

	envelope
}

// maxUnreadable is how many unreadable items a page may have before it is no page of
// the list.
const maxUnreadable = 100

type pageJSON struct {
	Links []pageLinkJSON `json:"links" wire:"decides"`
	Data  wire.Spans     `json:"data" wire:"decides"`
}

// pageLinkJSON decides whether a page is the last.
type pageLinkJSON struct {
	Rel           string `json:"rel" wire:"decides"`
	Href          string `json:"href" wire:"decides"`
	RequestMethod string `json:"requestMethod"`
}

// decode reads a page from a body, which it keeps, and each item as a single
// answer is read. A page without data is an error and never an empty page.
func (p *Page[T]) decode(call *call, body []byte, item func(body []byte) (*T, error)) error {
	var plain pageJSON
	if err := wire.Decode(body, &plain); err != nil {
		return err
	}
	if plain.Data == nil {
		return errors.New("the answer is not a list: it has no data")
	}
	*p = Page[T]{Data: make([]*T, 0, len(plain.Data))}
	for _, link := range plain.Links {
		p.Links = append(p.Links, linkJSON(link).link())
	}
	next, more := findLink(p.Links, "next")
	if more && next.Href() == "" {
		return errors.New("the list has a next page without an address")
	}
	p.Next = Cursor{next.href}
	for i, raw := range plain.Data {
		object, err := item(bytes.Clone(raw)) // which does not keep the page
		if err == nil {
			p.Data = append(p.Data, object)
			continue
		}
		if len(p.Unreadable) == maxUnreadable {
			return errors.New("too many items cannot be read")
		}
		p.Unreadable = append(p.Unreadable, call.unreadable(i, raw, err))
	}
	p.keep(body, reflect.TypeFor[Page[T]]())
	return nil
}

// unreadable returns the error of an item.
func (c *call) unreadable(i int, raw []byte, err error) *DecodeError {
	unread := c.decodeError(fmt.Errorf("data[%d]: %w", i, err))
	body := bytes.Clone(raw)
	unread.place, unread.body = i+1, func() []byte { return body }
	return unread
}

// each yields what is on the page, in its order.
func (p *Page[T]) each(yield func(*T, error) bool) bool {
	items, unreadable := p.Data, p.Unreadable
	for place := 1; len(items)+len(unreadable) > 0; place++ {
		if len(unreadable) > 0 && unreadable[0].place == place {
			if !yield(nil, unreadable[0]) {
				return false
			}
			unreadable = unreadable[1:]
			continue
		}
		if !yield(items[0], nil) {
			return false
		}
		items = items[1:]
	}
	return true
}

// List is a list of the service, read page by page as it is consumed. It is a
// description of the request and can be read any number of times, concurrently
// too. Every page is its own request, with its own attempts and deadline.
//
// A page that fails is an error and never the end of the list, and neither is one
// that the service no longer has: its 404 does not match [ErrNotFound]. A list can
// shift while it is read: items may be seen twice, so compare identifiers, or be
// missed, which Page.Shifted gives away. The zero List has nothing in it; [ListOf]
// makes one of given items.
type List[T any] struct {
	begin func() *call
	item  func(body []byte) (*T, error)
	id    func(*T) string
	start Cursor
	ahead bool       // one page
	items []*T       // of ListOf, which has no begin
	pages *pagesRead // of a look-up
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
	pages, items := newMemory(), newMemory()
	for cursor := l.start; ; {
		at := call.at(cursor)
		if at.ended == nil && pages.has(at.target.RawQuery) {
			yield(nil, call.decodeError(errors.New("the list leads back to a page that was already read")))
			return
		}
		page := new(Page[T])
		err := at.do(ctx, func(_ int, body []byte) error { return page.decode(at, body, l.item) })
		if l.pages != nil && at.result.Status != 0 {
			l.pages.note(at.result.Header)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, item := range page.Data {
			page.Shifted = items.has(l.id(item)) || page.Shifted
		}
		if !yield(page, nil) || page.Next.IsZero() {
			return
		}
		cursor = page.Next
	}
}

// memory is what is remembered of a list that is being read: digests, because how
// large its cursors are is the service's choice.
type memory struct {
	seed maphash.Seed
	seen map[uint64]struct{}
}

func newMemory() memory { return memory{maphash.MakeSeed(), map[uint64]struct{}{}} }

// has reports whether it was asked about a text before.
func (m memory) has(text string) bool {
	digest := maphash.String(m.seed, text)
	_, again := m.seen[digest]
	m.seen[digest] = struct{}{}
	return again
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
		err := errors.New("quickstream: reading ahead has ended before the list")
		defer func() {
			if err != nil {
				results <- result{nil, err, *response}
			}
		}()
		defer transport.Report("quickstream: reading ahead", &err)
		l.read(ctx, call, func(page *Page[T], err error) bool {
			results <- result{page, err, *response}
			return true
		})
		err = nil
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

// All yields the items of all pages. One that cannot be read, or lacks its
// identifier, is a [DecodeError] that matches [ErrUnreadableItem], and the next item
// follows. Any other error is the last. A page on which more than 100 items cannot be
// read is such an error.
func (l List[T]) All(ctx context.Context) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for page, err := range l.Pages(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !page.each(yield) {
				return
			}
		}
	}
}

// First returns the first item, or the error of the first where that cannot be
// read. When the list is empty the error matches
// [ErrEmptyList], and [ErrNotFound], because for a look-up both mean the same. Where
// "nothing in it" and "no such thing" differ, as for the batches of a payment
// file, ask for ErrEmptyList: an [APIError] that matches ErrNotFound does not match
// it.
func (l List[T]) First(ctx context.Context) (*T, error) {
	l.ahead = false
	for item, err := range l.All(ctx) {
		return item, err
	}
	return nil, fmt.Errorf("quickstream: %w (%w)", ErrEmptyList, ErrNotFound)
}

// at returns a copy of a read that asks for what follows a cursor, or for the first
// page.
func (c *call) at(cursor Cursor) *call {
	moved := *c
	if cursor.IsZero() {
		return &moved
	}
	query, err := c.follow(cursor)
	if err != nil && moved.ended == nil {
		moved.ended = c.decodeError(err)
	}
	moved.target.RawQuery, moved.later = query, true
	return &moved
}

// laterPage is the error of a page after the first. That the service does not have it
// says nothing about the list.
func laterPage(err error) error {
	api, ok := errors.AsType[*APIError](err)
	if !ok || api.Reason != ReasonNotFound {
		return err
	}
	gone := *api
	gone.Reason = ReasonInconclusive
	return &gone
}

// maxCursor bounds the text of a cursor, which goes into a request line.
const maxCursor = 8 << 10

var versionElement = regexp.MustCompile(`^v[0-9]+$`)

// follow returns the query of the page that a cursor leads to. A cursor is an address
// as the service gave it, which may be its own view of itself, behind a proxy: scheme
// and port are not compared, and nothing but the query is used. The rest has to be
// this list's.
func (c *call) follow(cursor Cursor) (query string, err error) {
	text, base := cursor.text(), c.client.base
	if len(text) > maxCursor {
		return "", errors.New("the list's next link is too long")
	}
	target, err := c.target.Parse(text)
	if err != nil {
		return "", errors.New("the list's next link is not a URL")
	}
	own := strings.TrimPrefix(c.target.Path, base.Path)
	before, isOwn := strings.CutSuffix(path.Clean(target.Path), own)
	switch {
	case target.User != nil || target.Opaque != "" || !isVisible(target.Host) || strings.ToLower(target.Hostname()) != base.Hostname():
		return "", errors.New("the list's next link leads to another host")
	case !isOwn || before != "" && before != base.Path && !versionElement.MatchString(path.Base(before)):
		return "", errors.New("the list's next link leads to something else than the list")
	}
	return target.RawQuery, nil
}

// list describes a list operation, whose query is checked unless check is nil.
// Mistakes in the query, the options or the path come out when the list is read.
func list[T, Q any, P model[T]](c *Client, name Operation, params Q, check func(*findings), opts []CallOption, ids ...string) List[T] {
	begin := func() *call {
		call := c.begin(name, opts, ids...)
		if check != nil {
			call.check(check)
		}
		call.query(params)
		return call
	}
	return List[T]{
		begin: begin,
		item: func(body []byte) (*T, error) {
			object := new(T)
			return object, read(body, P(object))
		},
		id: func(object *T) string { return P(object).identifier() },
	}
}
