package quickstream

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// Link points to a related resource. Its address can contain account numbers: printing omits it,
// Href returns it, and marshalling drops its query, or all of it above 8 KiB.
type Link struct {
	_ wire.Via[linkJSON, Link]

	Rel           string
	RequestMethod string
	href          hidden
}

type linkJSON struct {
	Rel           string `json:"rel,omitempty"`
	Href          string `json:"href,omitempty"`
	RequestMethod string `json:"requestMethod,omitempty"`
}

const maxLinkText = 64

// Href returns the address as the service sent it.
func (l Link) Href() string { return l.href.text() }

// UnmarshalJSON reads a link.
func (l *Link) UnmarshalJSON(data []byte) error {
	var read Link
	err := wire.Decode(data, &read)
	if err == nil {
		*l = read
	}
	return err
}

// Value returns the link.
func (l linkJSON) Value() Link {
	return Link{Rel: wire.Shown(l.Rel, maxLinkText), RequestMethod: wire.Shown(l.RequestMethod, maxLinkText), href: hide(l.Href)}
}

// MarshalJSON writes the link without the query of its address.
func (l Link) MarshalJSON() ([]byte, error) {
	return wire.Marshal(linkJSON{l.Rel, withoutQuery(l.Href()), l.RequestMethod})
}

// Format writes the relationship, for every verb.
func (l Link) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "Link("+l.Rel+")") }

// LogValue returns the relationship.
func (l Link) LogValue() slog.Value { return slog.StringValue(l.Rel) }

// withoutQuery cuts the text itself: writing the address anew would escape the braces of a template.
func withoutQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" || len(address) > maxCursor {
		return ""
	}
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address = address[:end]
	}
	if u.User != nil {
		scheme, rest, _ := strings.Cut(address, "//")
		authority, _, _ := strings.Cut(rest, "/")
		address = scheme + "//" + rest[strings.LastIndex(authority, "@")+1:]
	}
	return address
}

// findLink returns the first link with a relationship. A link may have several, with blanks around
// them.
func findLink(links []Link, rel string) (Link, bool) {
	for _, l := range links {
		for one := range strings.FieldsSeq(l.Rel) {
			if wire.SameFold(one, rel) {
				return l, true
			}
		}
	}
	return Link{}, false
}
