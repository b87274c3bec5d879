package sandbox

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// call is one request, cut loose from its connection: it can be carried out
// after the caller has gone.
type call struct {
	box            *Sandbox
	op             *operation
	method         string
	url            *url.URL
	origin         string // scheme and host that the caller used
	header         http.Header
	query          url.Values
	params         map[string]string
	body           []byte
	idempotencyKey string
	now            time.Time // when it is carried out

	opened   []*fields
	findings []fieldError
}

// answer is what the service says. The body is a wire struct, raw bytes of
// another media type, or nil for none.
type answer struct {
	status int
	header http.Header
	body   any
	raw    []byte // rendered JSON, or text of the type in header
}

func reply(status int, body any) answer { return answer{status: status, body: body} }

func (a answer) with(name, value string) answer {
	a.header = a.header.Clone()
	if a.header == nil {
		a.header = make(http.Header)
	}
	a.header.Set(name, value)
	return a
}

func (a answer) succeeded() bool { return a.status >= 200 && a.status < 300 }

// link is the wire form of a link.
type link struct {
	Rel           string `json:"rel"`
	Href          string `json:"href"`
	RequestMethod string `json:"requestMethod"`
}

// href makes an absolute address on the host the caller used. Forwarding
// headers are not believed.
func (c *call) href(segments ...string) string {
	var sb strings.Builder
	sb.WriteString(c.origin + basePath)
	for _, s := range segments {
		sb.WriteString("/" + url.PathEscape(s))
	}
	return sb.String()
}

// links returns a list of links, never null.
func (c *call) links(list ...link) []link {
	if c.box.assume.UnknownEnumValues {
		list = append(list, link{Rel: unknownEnumValue, Href: c.href(), RequestMethod: http.MethodGet})
	}
	if list == nil {
		list = []link{}
	}
	return list
}

// related returns the links of an object to others, or none.
func (c *call) related(list ...link) []link {
	if !c.box.assume.RelatedLinks {
		list = nil
	}
	return c.links(list...)
}

func get(rel, href string) link { return link{Rel: rel, Href: href, RequestMethod: http.MethodGet} }
