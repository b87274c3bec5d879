package sandbox

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox/internal/form"
)

// operation is an operation of the service. Its id is the method and the path template of the
// contract.
type operation struct {
	id     string
	key    keyNeed
	query  []string           // the names of its parameters
	handle func(*call) answer // runs with mu held

	method   string
	segments []string
}

// operations returns all operations; each resource lists its own.
func (b *Sandbox) operations() []operation {
	return slices.Concat(
		b.rootOperations(),
		b.customerOperations(),
		b.tokenOperations(),
		b.transactionOperations(),
		b.agreementOperations(),
		b.transactionLists(),
		b.threeDSOperations(),
		b.accountOperations(),
		b.reportOperations(),
		b.paymentFileOperations(),
		b.scheduleOperations(),
		b.businessOperations(),
		b.keyOperations(),
	)
}

type routes []*operation

func newRoutes(table []operation) routes {
	rs := make(routes, 0, len(table))
	for i := range table {
		op := &table[i]
		method, path, _ := strings.Cut(op.id, " ")
		op.method, op.segments = method, splitPath(path)
		rs = append(rs, op)
	}
	return rs
}

func splitPath(path string) []string {
	if path = strings.TrimPrefix(path, "/"); path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

func (rs routes) known(id string) bool {
	return slices.ContainsFunc(rs, func(op *operation) bool { return op.id == id })
}

// find returns the operation for a method and an escaped path. If there is none, allowed
// lists the methods of the path. A literal segment wins over a parameter.
func (rs routes) find(method, escapedPath string) (op *operation, params map[string]string, allowed []string) {
	rest, ok := strings.CutPrefix(escapedPath, basePath)
	if !ok || (rest != "" && rest[0] != '/') {
		return nil, nil, nil
	}
	given := splitPath(rest)
	for _, candidate := range rs {
		got, ok := candidate.match(given)
		if !ok {
			continue
		}
		if candidate.method != method {
			allowed = append(allowed, candidate.method)
			continue
		}
		if op == nil || len(got) < len(params) {
			op, params = candidate, got
		}
	}
	return op, params, allowed
}

// match compares segment by segment. It unescapes parameters only after the path was split,
// so that an escaped slash stays part of an identifier.
func (op *operation) match(given []string) (map[string]string, bool) {
	if len(given) != len(op.segments) {
		return nil, false
	}
	params := make(map[string]string)
	for i, want := range op.segments {
		name, isParam := strings.CutPrefix(want, "{")
		if !isParam {
			if given[i] != want {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(given[i])
		if err != nil || value == "" {
			return nil, false
		}
		params[strings.TrimSuffix(name, "}")] = value
	}
	return params, true
}

// found is a handler of the object that the path names. Without one the answer is 404.
func found[T any](what string, find func(*call) *T, handle func(*call, *T) answer) func(*call) answer {
	return func(c *call) answer {
		if object := find(c); object != nil {
			return handle(c, object)
		}
		return c.notFound(what)
	}
}

// shown is a handler that answers with the object that the path names.
func shown[T, B any](what string, find func(*call) *T, body func(*call, *T) B) func(*call) answer {
	return found(what, find, func(c *call, object *T) answer { return reply(http.StatusOK, body(c, object)) })
}

func (b *Sandbox) rootOperations() []operation {
	return []operation{{id: "GET /", key: needsEither, handle: b.getRoot}}
}

// communityCode is the code of the facility.
const communityCode = "SANDBOX"

// rootBody has the members that public client code reads. Unconfirmed.
type rootBody struct {
	Links         []form.Link `json:"links"`
	CommunityCode string      `json:"communityCode"`
	CommunityName string      `json:"communityName"`
	KeyName       string      `json:"keyName"`
}

func (b *Sandbox) getRoot(c *call) answer {
	kind, _ := b.keyOf(c.header)
	return reply(http.StatusOK, rootBody{
		Links: c.links(
			get("self", c.href()),
			get("customers", c.href("customers")),
			get("transactions", c.href("transactions")),
			form.Link{Rel: "single-use-tokens", Href: c.href("single-use-tokens"), RequestMethod: http.MethodPost},
		),
		CommunityCode: communityCode,
		CommunityName: "Sandbox Community",
		KeyName:       "Sandbox " + kind + " key",
	})
}
