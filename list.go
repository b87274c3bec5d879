package quickstream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// Cursor is a position in a list of one environment. It is opaque and can contain account numbers,
// so printing it shows nothing. Store its Text.
type Cursor struct{ hidden }

// ParseCursor returns the cursor for a stored Text; empty text is the beginning. Reading the list checks it.
func ParseCursor(text string) Cursor { return Cursor{hide(text)} }

// Text returns the cursor for [ParseCursor]. Protect it like an account number.
func (c Cursor) Text() string { return c.text() }

// Page is one page of a list. Store its items and Next; it cannot be marshalled. More than 5,000
// items or links, or 150,000 values, are a [DecodeError].
type Page[T any] struct {
	Links []Link `json:"links" wire:"decides"`
	// Data holds the items that could be read.
	Data []*T `json:"data" wire:"decides"`
	// Unreadable are the other items, in order. Each matches [ErrUnreadableItem].
	Unreadable []*DecodeError
	// Next is the following page; the zero [Cursor] on the last page.
	Next Cursor

	envelope
}

const maxUnreadable = 100

type pageJSON struct {
	Links []pageLinkJSON `json:"links" wire:"decides"`
	Data  wire.Spans     `json:"data" wire:"decides"`
	// Errors in an empty list mean that items may be missing.
	Errors wire.Span `json:"errors"`
}

func (p pageJSON) reportsErrors() bool { return strings.Trim(string(p.Errors), "[]{}\" \t\r\n") != "" }

// pageLinkJSON decides whether a page is the last.
type pageLinkJSON struct {
	Rel           string `json:"rel" wire:"decides"`
	Href          string `json:"href" wire:"decides"`
	RequestMethod string `json:"requestMethod"`
}

// decode reads a page from a body, which it keeps. A page without data is an error, not an empty
// page.
func (p *Page[T]) decode(call *call, status int, body []byte, item func(body []byte) (*T, error)) error {
	var plain pageJSON
	if err := wire.Decode(body, &plain); err != nil {
		return err
	}
	if plain.Data == nil {
		return errors.New("the answer is not a list: it has no data")
	}
	if status == http.StatusPartialContent || len(plain.Data) == 0 && (status != http.StatusOK || plain.reportsErrors()) {
		return errors.New("the answer may be a part of the list")
	}
	*p = Page[T]{Data: make([]*T, 0, len(plain.Data))}
	for _, link := range plain.Links {
		p.Links = append(p.Links, linkJSON(link).Value())
	}
	next, more := findLink(p.Links, "next")
	if more && next.Href() == "" {
		return errors.New("the list has a next page without an address")
	}
	p.Next = Cursor{next.href}
	for i, raw := range plain.Data {
		object, err := item(raw) // item copies raw, so it does not keep the page
		if err == nil {
			p.Data = append(p.Data, object)
			continue
		}
		if len(p.Unreadable) == maxUnreadable {
			return errors.New("too many items cannot be read")
		}
		p.Unreadable = append(p.Unreadable, call.unreadable(i, raw, err))
	}
	p.keep(func() ([]byte, reflect.Type) { return body, reflect.TypeFor[Page[T]]() })
	return nil
}

func (c *call) unreadable(i int, raw []byte, err error) *DecodeError {
	unread := c.decodeError(fmt.Errorf("data[%d]: %w", i, err))
	body := bytes.Clone(raw)
	unread.place, unread.body = i+1, func() []byte { return body }
	return unread
}

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

// List is a list of the service, read page by page. It can be read any number of times, also
// concurrently. Each page is a request with its own attempts and deadline. A failed page is an
// error, never the end of the list; a 404 on a later page does not match [ErrNotFound]. If a list
// changes while it is read, items may repeat or be missed: [List.ReadAll] detects that. The zero
// List is empty; [ListOf] makes one from items.
type List[T any] struct {
	begin func() *call
	item  func(body []byte) (*T, error)
	id    func(*T) string
	start Cursor
	ahead bool // one page
	items []*T // of ListOf, which has no begin
}

// ListOf returns a list of these items, as one page without a request, for tests.
func ListOf[T any](items ...*T) List[T] {
	return List[T]{items: append([]*T{}, items...)}
}

// From returns the same list, beginning at a cursor.
func (l List[T]) From(cursor Cursor) List[T] {
	l.start = cursor
	return l
}

// Prefetch returns the same list, read one page ahead while the loop works, with the same order and
// errors. A loop that stops early cancels one request and waits for its end. A page can be as old
// as the work on the previous page took. First never reads ahead.
func (l List[T]) Prefetch() List[T] {
	l.ahead = true
	return l
}

// Pages yields the pages and stops after the first error.
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

func (l List[T]) read(ctx context.Context, call *call, yield func(*Page[T], error) bool) {
	seen := map[string]bool{} // queries of pages
	for cursor := l.start; ; {
		at := call.at(cursor)
		if at.ended == nil && seen[at.target.RawQuery] {
			yield(nil, call.decodeError(errors.New("the list leads back to a page that was already read")))
			return
		}
		seen[at.target.RawQuery] = true
		page := new(Page[T])
		err := at.do(ctx, func(status int, body []byte) error { return page.decode(at, status, body, l.item) })
		if err != nil {
			yield(nil, err)
			return
		}
		if !yield(page, nil) || page.Next.IsZero() {
			return
		}
		cursor = page.Next
	}
}

// readAhead yields the same as read. Its goroutine holds one page while the caller works on
// another.
func (l List[T]) readAhead(ctx context.Context, call *call, yield func(*Page[T], error) bool) {
	type result struct {
		page     *Page[T]
		err      error
		response Response
	}
	// WithResponseInto has to show the current page, not the next.
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
	// After cancelling, reading ends with an error, and its results are dropped.
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

// ofParent returns the same list, in which an item that shows another parent is unreadable.
func (l List[T]) ofParent(parent string, shown func(*T) string) List[T] {
	item := l.item
	l.item = func(body []byte) (*T, error) {
		object, err := item(body)
		if err != nil {
			return nil, err
		}
		if other := shown(object); other != "" && !sameText(other, parent) {
			return nil, errNotAsked
		}
		return object, nil
	}
	return l
}

// All yields the items of all pages. An item that cannot be read, has no identifier or shows
// another customer is a [DecodeError] that matches [ErrUnreadableItem], and the next item follows.
// Any other error ends the list, as do more than 100 unreadable items on a page.
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

// ReadAll returns all items of a list that may change while it is read. It reads the list at most
// four times, until the list has one page or two readings agree: an empty one after another does not.
// Otherwise, if an item cannot be read, or after 1,000 pages, it returns an error and no items.
func (l List[T]) ReadAll(ctx context.Context) ([]*T, error) {
	var before []string
	last := errShifts
	for reading := range 4 {
		items, pages, err := l.readOnce(ctx)
		var ids []string
		for _, item := range items {
			if l.id != nil {
				ids = append(ids, l.id(item))
			}
		}
		slices.Sort(ids)
		switch {
		case errors.Is(err, errEndless), err != nil && len(items) == 0 && reading == 0:
			return nil, err
		case err != nil:
			last = err
		case pages <= 1 && reading == 0 || before != nil && slices.Equal(ids, before):
			return items, nil
		default:
			before, last = ids, errShifts
		}
	}
	return nil, last
}

var errShifts = errors.New("quickstream: the list changes from one reading to the next, so that nothing can be said about what is not in it")

// mostPages is how many pages ReadAll holds in memory.
const mostPages = 1000

var errEndless = fmt.Errorf("quickstream: the list has more than %d pages", mostPages)

// readOnce returns the items and the number of pages of one reading, and the first error.
func (l List[T]) readOnce(ctx context.Context) (items []*T, pages int, err error) {
	for page, failed := range l.Pages(ctx) {
		if failed != nil {
			return items, pages, cmp.Or(err, failed)
		}
		if pages == mostPages {
			return nil, pages, errEndless
		}
		items, pages = append(items, page.Data...), pages+1
		if len(page.Unreadable) > 0 {
			err = cmp.Or(err, error(page.Unreadable[0]))
		}
	}
	return items, pages, err
}

// First returns the first item, or its error if it cannot be read. For an empty list the error
// matches [ErrNotFound]; if the list does not exist, it is also an [APIError].
func (l List[T]) First(ctx context.Context) (*T, error) {
	l.ahead = false
	for item, err := range l.All(ctx) {
		return item, err
	}
	return nil, fmt.Errorf("quickstream: the list is empty: %w", ErrNotFound)
}

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

// laterPage changes the error of a page after the first: its 404 says nothing about the list.
func laterPage(err error) error {
	api, ok := errors.AsType[*APIError](err)
	if !ok || api.Reason != ReasonNotFound {
		return err
	}
	gone := *api
	gone.Reason = ReasonInconclusive
	return &gone
}

// maxCursor bounds a cursor, which becomes part of a request line.
const maxCursor = 8 << 10

var versionElement = regexp.MustCompile(`^v[0-9]+$`)

// follow returns the query of a cursor's page. A cursor is an address from the service, which may
// be behind a proxy: only its query is used. Its path has to be this list's.
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
	if !isOwn || before != "" && before != base.Path && !versionElement.MatchString(path.Base(before)) {
		return "", errors.New("the list's next link leads to something else than the list")
	}
	return target.RawQuery, nil
}

// list describes a list operation. Its query is a struct with url tags, url.Values or nil. Errors in the query,
// the options or the path are returned when the list is read.
func list[T any, P model[T]](c *Client, name Operation, params any, check func(*findings), opts []CallOption, ids ...string) List[T] {
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
			err := read(bytes.Clone(body), P(object)) // a copy, which does not keep the page
			c.config.explain(object)
			return object, err
		},
		id: func(object *T) string { return P(object).identifier() },
	}
}
