package walk_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/sandbox"
)

// letter is what one attempt meets.
type letter struct {
	name   string
	kind   sandbox.FaultKind
	unsent bool // it keeps the request from being sent
	// late is how long the request is under way.
	late time.Duration
}

// sent and unsent name letters.
func sent(name string, kind sandbox.FaultKind) letter { return letter{name: name, kind: kind} }

func unsent(kind sandbox.FaultKind) letter {
	return letter{name: kind.String(), kind: kind, unsent: true}
}

func late(d time.Duration) letter {
	return letter{name: "late by " + d.String(), kind: sandbox.CommitLate(d), late: d}
}

// lost are letters after which a payment may be sent again, one for each possible end of an
// attempt.
func lost() []letter {
	return []letter{
		unsent(sandbox.Unreachable(sandbox.ConnectionRefused)),
		sent("reset before", sandbox.ResetBeforeCommit()), sent("reset after", sandbox.ResetAfterCommit()), late(10 * time.Second),
	}
}

// slow are the letters that make the caller wait for good.
func slow() []letter {
	return []letter{
		sent("hang before", sandbox.HangBeforeCommit()), sent("hang after", sandbox.HangAfterCommit()),
		sent("very slow to act", sandbox.DelayBeforeCommit(10*time.Minute)), sent("very slow to answer", sandbox.DelayAfterCommit(10*time.Minute)),
	}
}

// endings are letters that end a call, each in its own way. No letter at all is another end.
func endings() []letter {
	return []letter{
		unsent(sandbox.Unreachable(sandbox.UnknownHost)), sent("garbage", sandbox.Garbage(sandbox.HTML)),
		sent("500 after", sandbox.StatusAfterCommit(500, sandbox.ServiceError)), sent("408 after", sandbox.StatusAfterCommit(408, sandbox.Empty)),
		sent("503", sandbox.Status(503, sandbox.ServiceError)), sent("422", sandbox.Status(422, sandbox.ServiceError)),
	}
}

// honest are the answers that the client believes, given only if nothing was done, and the
// letters without an answer. None of them lies about any operation.
func honest() []letter {
	return append(
		append(lost(), slow()...),
		unsent(sandbox.Unreachable(sandbox.UnknownHost)), unsent(sandbox.Unreachable(sandbox.UntrustedCertificate)), unsent(sandbox.Unreachable(sandbox.ProxyAuthRequired)),
		sent("slow to act", sandbox.DelayBeforeCommit(time.Second)), sent("slow to answer", sandbox.DelayAfterCommit(time.Second)),
		late(20*time.Minute), late(20*time.Hour), late(47*time.Hour),
		sent("slow body", sandbox.SlowBody(1)), sent("truncated", sandbox.TruncatedBody(60)), sent("duplicates", sandbox.Garbage(sandbox.DuplicateMembers)),
		sent("garbage", sandbox.Garbage(sandbox.HTML)), sent("garbage, empty", sandbox.Garbage(sandbox.Empty)),
		sent("garbage, broken", sandbox.Garbage(sandbox.BrokenJSON)), sent("garbage, an error", sandbox.Garbage(sandbox.ServiceError)),
		sent("400", sandbox.Status(400, sandbox.ServiceError)), sent("401", sandbox.Status(401, sandbox.ServiceError)),
		sent("403", sandbox.Status(403, sandbox.ServiceError)), sent("404", sandbox.Status(404, sandbox.ServiceError)),
		sent("405", sandbox.Status(405, sandbox.ServiceError)), sent("409", sandbox.Status(409, sandbox.ServiceError)),
		sent("422", sandbox.Status(422, sandbox.ServiceError)), sent("503", sandbox.Status(503, sandbox.ServiceError)),
		sent("429", sandbox.RateLimited("1")), sent("307", sandbox.Redirect(307, "http://elsewhere.localhost/")),
	)
}

// lies are failures reported of an operation that was carried out. Answers that the service
// defines as not carried out, in its own words, are not among them; a gateway may say the
// same. A conflict lies if the request may still be under way.
func lies(class transport.Class) []letter {
	type status struct {
		code int
		body sandbox.BodyKind
		name string
	}
	all := []status{
		{401, sandbox.HTML, "401 of a gateway after"},
		{403, sandbox.HTML, "403 of a gateway after"},
		{404, sandbox.Empty, "404 of a gateway after"},
		{407, sandbox.HTML, "407 after"},
		{408, sandbox.Empty, "408 after"},
		{422, sandbox.ErrorList, "422 of a gateway after"},
		{425, sandbox.Empty, "425 after"},
		{429, sandbox.GatewayError, "429 of a gateway after"},
		{460, sandbox.HTML, "460 after"},
		{499, sandbox.Empty, "499 after"},
		{500, sandbox.ServiceError, "500 after"},
		{502, sandbox.HTML, "502 after"},
		{503, sandbox.HTML, "503 of a gateway after"},
		{504, sandbox.Empty, "504 after"},
	}
	if class != transport.Change {
		all = append(all, status{409, sandbox.ServiceError, "409 after"})
	}
	var letters []letter
	for _, s := range all {
		letters = append(letters, sent(s.name, sandbox.StatusAfterCommit(s.code, s.body)))
	}
	return letters
}

// inject arms letters, one for each attempt in order. Faults that keep a request from being
// sent count attempts, the others count arrivals.
func inject(t *testing.T, box *sandbox.Sandbox, operation string, letters []letter) {
	t.Helper()
	arrived := 0
	for i, l := range letters {
		nth := i + 1
		if !l.unsent {
			arrived++
			nth = arrived
		}
		require.NoError(t, box.Inject(sandbox.Fault{Operation: operation, Kind: l.kind, Nth: nth}))
	}
}

// kindsOfFault reads the names of all kinds from the sandbox's source, so that a new one is
// not forgotten here.
func kindsOfFault(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../sandbox/faults.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var names []string
	isA := func(expr ast.Expr, name string) bool {
		ident, ok := expr.(*ast.Ident)
		return ok && ident.Name == name
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Type.Results != nil && isA(d.Type.Results.List[0].Type, "FaultKind") && d.Name.Name != "Unreachable" {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl: // the reasons of Unreachable have the names of its kinds
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && isA(v.Type, "DialError") {
					names = append(names, v.Names[0].Name)
				}
			}
		}
	}
	slices.Sort(names)
	require.Greater(t, len(names), 15)
	return names
}
