package sandbox

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox/internal/form"
)

// listBody is the wire form of every list.
type listBody struct {
	Links []form.Link `json:"links"`
	Data  []any       `json:"data"`
}

// list answers with one page of items, given newest first. A cursor names the first item of
// its page, so that new items do not shift old pages. With Paging=shifting or an unstable
// order the cursor is a position.
func list[T, B any](c *call, items []T, id func(T) string, body func(*call, T) B) answer {
	items = ordered(c, items)
	from := 0
	if cursor := c.query.Get(pageParameter); cursor != "" {
		var ok bool
		from, ok = c.openCursor(cursor, len(items), func(first string) int {
			return slices.IndexFunc(items, func(item T) bool { return id(item) == first })
		})
		if !ok {
			c.refuse(pageParameter, "", "is not a page of this list")
			return c.invalid()
		}
	}
	size := max(c.box.assume.PageSize, 1)
	if from > 0 && from <= size && c.pageIsGone() { // the second page
		return c.notFound("page")
	}
	to := min(from+size, len(items))
	out := listBody{Data: bodies(c, items[from:to], body)}
	if len(items) == 0 && c.box.assume.NothingFound == "null" {
		out.Data = nil
	}
	out.Links = c.links(pageLinks(c, items, id, from, to, size)...)
	return reply(http.StatusOK, out)
}

// bodies returns the wire forms of items, never nil.
func bodies[T, B any](c *call, items []T, body func(*call, T) B) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = body(c, item)
	}
	return out
}

func pageLinks[T any](c *call, items []T, id func(T) string, from, to, size int) (links []form.Link) {
	added := 0 // items added at the front after the first page
	if c.box.assume.Paging == "shifting" && c.query.Get(pageParameter) != "" {
		added = 1
	}
	switch {
	case to < len(items):
		links = append(links, get("next", c.pageLink(id(items[to]), to+added)))
	case c.box.assume.Paging == "lastEmpty" && to == from+size:
		links = append(links, get("next", c.pageLink("", to)))
	}
	if first := max(from-size, 0); from > 0 && first < len(items) {
		links = append(links, get("prev", c.pageLink(id(items[first]), first+added)))
	}
	return links
}

// ordered returns the items in the order of ListOrder, unless the contract promises another.
func ordered[T any](c *call, items []T) []T {
	if c.op.id == "GET /transactions/{receiptNumber}/refunds" {
		return items
	}
	switch c.box.assume.ListOrder {
	case "oldest":
		items = slices.Clone(items)
		slices.Reverse(items)
	case "unstable":
		// Every other time that the list is read, the last item of the first page and the
		// first of the second change places.
		end := max(c.box.assume.PageSize, 1)
		if c.query.Get(pageParameter) == "" {
			c.box.listsRead++
		}
		if c.query.Get(pageParameter) == "" && c.box.listsRead%2 == 1 && end < len(items) {
			items = slices.Clone(items)
			items[end-1], items[end] = items[end], items[end-1]
		}
	}
	return items
}

// pageIsGone is true every other time that a page is read, with Paging=gone.
func (c *call) pageIsGone() bool {
	if c.box.assume.Paging != "gone" {
		return false
	}
	c.box.pagesAsked[c.url.RequestURI()]++
	return c.box.pagesAsked[c.url.RequestURI()]%2 == 1
}

// pageParameter is the sandbox's own. The service's name is not public.
const pageParameter = "page"

// paged returns the parameters of a list with pages.
func paged(filters ...string) []string { return append(filters, pageParameter) }

// pageLink returns the address of the page that begins with an item, at a position.
func (c *call) pageLink(first string, place int) string {
	q := cloneQuery(c.query)
	q.Set(pageParameter, base64.RawURLEncoding.EncodeToString([]byte(c.op.id+"\x00"+strconv.Itoa(place)+"\x00"+first)))
	at := &url.URL{Path: c.url.Path, RawPath: c.url.RawPath, RawQuery: q.Encode()}
	scheme, host, _ := strings.Cut(c.origin, "://")
	switch c.box.assume.NextLinks {
	case "defaultPort":
		port := ":80"
		if scheme == "https" {
			port = ":443"
		}
		if at.Host = host; !strings.Contains(host, ":") {
			at.Host += port
		}
	case "rootRelative":
		return at.String()
	case "queryOnly":
		return "?" + at.RawQuery
	case "otherScheme":
		scheme, at.Host = map[string]string{"http": "https", "https": "http"}[scheme], host
	case "versionPrefix":
		at.Path, at.RawPath = otherPrefix(at.Path), otherPrefix(at.RawPath)
		fallthrough
	default:
		at.Host = host
	}
	at.Scheme = scheme
	return at.String()
}

func otherPrefix(path string) string {
	if rest, ok := strings.CutPrefix(path, basePath); ok {
		return "/v1" + rest
	}
	return path
}

// openCursor returns the position at which a page begins. find returns the position of an
// item by its identifier.
func (c *call) openCursor(cursor string, length int, find func(first string) int) (from int, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	parts := strings.Split(string(raw), "\x00")
	if err != nil || len(parts) != 3 || parts[0] != c.op.id {
		return 0, false
	}
	place, err := strconv.Atoi(parts[1])
	switch {
	case err != nil || place < 0:
		return 0, false
	case c.box.assume.Paging == "shifting":
		return min(max(place-1, 0), length), true // an item was added at the front
	case c.box.assume.ListOrder == "unstable":
		return min(place, length), true
	case parts[2] == "":
		return length, true
	}
	from = find(parts[2])
	return max(from, 0), from >= 0
}
