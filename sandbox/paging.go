package sandbox

import (
	"encoding/base64"
	"net/http"
	"net/url"
)

// listBody is the wire form of every list.
type listBody struct {
	Links []link `json:"links"`
	Data  []any  `json:"data"`
}

// list is an answer with one page of items, in the order given. The cursor names
// the item that a page begins with, so that new items do not shift old pages.
func list[T any](c *call, items []T, id func(T) string, body func(T) any) answer {
	from := 0
	if cursor := c.query.Get(pageParameter); cursor != "" {
		first, ok := c.openCursor(cursor)
		for from = range items {
			if id(items[from]) == first {
				break
			}
		}
		if !ok || len(items) == 0 || id(items[from]) != first {
			c.refuse(pageParameter, "", "is not a page of this list")
			return c.invalid()
		}
	}
	size := max(c.box.assume.PageSize, 1)
	to := min(from+size, len(items))
	out := listBody{Data: make([]any, 0, to-from)}
	for _, item := range items[from:to] {
		out.Data = append(out.Data, body(item))
	}
	var links []link
	if to < len(items) {
		links = append(links, get("next", c.pageLink(id(items[to]))))
	}
	if from > 0 {
		links = append(links, get("prev", c.pageLink(id(items[max(from-size, 0)]))))
	}
	out.Links = c.links(links...)
	return reply(http.StatusOK, out)
}

// pageParameter is the sandbox's own; the service's is not public.
const pageParameter = "page"

// paged are the parameters of a list with pages.
func paged(filters ...string) []string { return append(filters, pageParameter) }

func (c *call) pageLink(first string) string {
	q := cloneQuery(c.query)
	q.Set(pageParameter, base64.RawURLEncoding.EncodeToString([]byte(c.op.id+"\x00"+first)))
	return c.origin + (&url.URL{Path: c.url.Path, RawPath: c.url.RawPath, RawQuery: q.Encode()}).String()
}

func (c *call) openCursor(cursor string) (first string, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	prefix := c.op.id + "\x00"
	if err != nil || len(raw) <= len(prefix) || string(raw[:len(prefix)]) != prefix {
		return "", false
	}
	return string(raw[len(prefix):]), true
}
