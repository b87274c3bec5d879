package quickstream

import (
	"bytes"
	"errors"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const apiPageHead = `# Operations

Every operation that this package carries out: verb and path below the environment's address, the kind of key it needs, the Go method, and
what that returns. The methods are those of a ` + "`quickstream.Client`" + `; their documentation has the details and a runnable example each.

The last column is for writes: how to find out what became of one that ended in an ` + "`UnknownOutcomeError`" + `. Until then it is neither a
success nor a failure, and is not to be made again with new data. Reads change nothing and can be repeated; only APIKeys.Renew may make a key.

## With Client.Do

What is not listed can be called with ` + "`Client.Do`" + `, which refuses the writes that are. The vendor's public pages name these, and show no path or no body:

| Resource | What is missing |
|---|---|
| PayIDs: read, deregister, their transactions and notifications | paths |
| accounts: enable, disable, make the default | verb and body |
| recurring payments: create, change | body |
| a customer's transactions | path: probably ` + "`GET /customers/{customerId}/transactions`" + `, as a list |
| PayTo payers and wallets in single-use tokens | members: ` + "`OtherAccount`" + ` makes a token of any kind |
| the CSV report of PayTo agreements | path: probably ` + "`GET /payto-agreements/csv`" + `, into a writer |

This page is made of the table in operations.go and of the doc comments: ` + "`UPDATE_API=1 go test -run TestAPIPage .`" + `
`

// TestAPIPage compares docs/api.md with what the table of operations and the doc comments say.
// UPDATE_API=1 writes it.
func TestAPIPage(t *testing.T) {
	methods := callingMethods(t)
	page := bytes.NewBufferString(apiPageHead)
	section := ""
	for _, row := range operations {
		method := methods[string(row.name)]
		require.NotNil(t, method, "%s is no method", row.name)
		service, _, grouped := strings.Cut(string(row.name), ".")
		if !grouped {
			service = "Client"
		}
		if service != section {
			section = service
			page.WriteString("\n## " + service + "\n\n| Operation | Key | Go method | Result | After an unknown outcome |\n|---|---|---|---|---|\n")
		}
		text := strings.Join(strings.Fields(method.Doc), " ")
		called := "`" + strings.Join(operationsIn(text), "`, `") + "`"
		if variant := variantText.FindStringSubmatch(text); variant != nil {
			called += " (" + variant[1] + ")"
		}
		key := map[keyKind]string{secretKey: "secret", publishableKey: "publishable"}[row.key]
		found := "–"
		if row.findOut != "" {
			found = methodText.ReplaceAllString(row.findOut, "`$0`")
		}
		page.WriteString("| " + strings.Join([]string{called, key, "`" + string(row.name) + "`", resultOf(method.Decl), found}, " | ") + " |\n")
	}
	if os.Getenv("UPDATE_API") != "" {
		require.NoError(t, os.WriteFile("docs/api.md", page.Bytes(), 0o600))
	}
	written, err := os.ReadFile("docs/api.md")
	require.NoError(t, err)
	assert.Equal(t, page.String(), string(written), "to write it again: UPDATE_API=1 go test -run TestAPIPage .")
}

// TestOperations compares the table with the methods and their doc comments. That the contract has its
// operations is tested where they are made.
func TestOperations(t *testing.T) {
	methods := callingMethods(t)
	names := map[string]bool{}
	for _, row := range operations {
		name := string(row.name)
		require.False(t, names[name], "%s stands twice", name)
		names[name] = true
		require.Contains(t, methods, name, "there is no such method")
		text := strings.Join(strings.Fields(methods[name].Doc), " ")
		said := operationsIn(text)
		if name != "Transactions.Resume" { // which reads at several places
			assert.Equal(t, []string{row.method + " " + row.route}, said, "the comment of %s", name)
		}
		assert.Equal(t, row.key == publishableKey, strings.Contains(text, "publishable key"), "the comment of %s", name)
		assert.Equal(t, row.method != http.MethodGet, row.findOut != "", "%s: how it is found", name)
		sends := row.method == http.MethodPost && (row.route == "/transactions" || strings.HasSuffix(row.route, "/void"))
		assert.Equal(t, sends && name != "Transactions.Submit", row.name.IsTransaction(), name)
		for _, other := range methodText.FindAllString(row.findOut, -1) {
			assert.Contains(t, methods, other, "%s is found by a method that does not exist", name)
		}
	}
	for name := range methods {
		assert.Contains(t, names, name, "the table lacks a method")
	}
}

// TestModelledWrites: Do refuses the writes of the table, in every form of their path.
func TestModelledWrites(t *testing.T) {
	client, err := NewClient(CustomURL("https://api.invalid/rest/v1"), Keys{Secret: NewSecretKey("S"), Publishable: NewPublishableKey("P")}, WithHTTPClient(&http.Client{Transport: refusing{}}))
	require.NoError(t, err)
	name := regexp.MustCompile(`\{\w+\}`)
	seen := 0
	for _, row := range operations {
		if row.method == http.MethodGet {
			continue
		}
		seen++
		names := len(name.FindAllString(row.route, -1))
		wholly := strings.Split(name.ReplaceAllString(row.route, "ID-1"), "/")[1:]
		for form, request := range map[string]Request{
			"as listed":      {Route: row.route, Path: slices.Repeat([]string{"ID-1"}, names)},
			"other names":    {Route: name.ReplaceAllString(row.route, "{x}"), Path: slices.Repeat([]string{"ID-1"}, names)},
			"no names":       {Route: name.ReplaceAllString(row.route, "ID-1")},
			"names only":     {Route: strings.Repeat("/{x}", len(wholly)), Path: wholly},
			"another case":   {Route: strings.ToUpper(name.ReplaceAllString(row.route, "ID-1"))},
			"odd identifier": {Route: row.route, Path: slices.Repeat([]string{`"*[`}, names)},
		} {
			request.Method = row.method
			err := client.Do(t.Context(), request, nil, WithoutRule("request.modelled"))
			invalid, ok := errors.AsType[*ValidationError](err)
			require.True(t, ok, "%s, %s: %v", row.name, form, err)
			assert.Equal(t, "request.modelled", invalid.Findings[0].Rule)
		}
	}
	assert.Greater(t, seen, 20)
}

var (
	operationText = regexp.MustCompile(`\b(GET|POST|PUT|PATCH|DELETE) (/[A-Za-z0-9/{}-]*)`)
	variantText   = regexp.MustCompile(`\(([A-Z][A-Z_, ]+)\)`)
	methodText    = regexp.MustCompile(`\b[A-Z]\w*\.[A-Z]\w*\b`)
)

func operationsIn(text string) []string {
	found := operationText.FindAllString(text, -1)
	return slices.Compact(slices.Sorted(slices.Values(found)))
}

// resultOf names what a method returns besides an error.
func resultOf(method *ast.FuncDecl) string {
	switch result := method.Type.Results.List[0].Type.(type) {
	case *ast.StarExpr:
		return "`" + result.X.(*ast.Ident).Name + "`"
	case *ast.IndexExpr:
		return "`" + result.X.(*ast.Ident).Name + "[" + result.Index.(*ast.Ident).Name + "]`"
	case *ast.Ident:
		if result.Name == "int64" {
			return "the report"
		}
	}
	return "–"
}

// callingMethods are the methods that call the service, named as a caller
// reaches them from a client: those of the services, and the client's own that
// take a context.
func callingMethods(t *testing.T) map[string]*doc.Func {
	t.Helper()
	pkg := packageDoc(t)
	fields := map[string]string{} // of the client, by their type
	methods := map[string]*doc.Func{}
	for _, typ := range pkg.Types {
		if typ.Name != "Client" {
			continue
		}
		for _, field := range typ.Decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType).Fields.List {
			if pointer, ok := field.Type.(*ast.StarExpr); ok && len(field.Names) == 1 {
				fields[pointer.X.(*ast.Ident).Name] = field.Names[0].Name
			}
		}
		for _, m := range typ.Methods {
			// Do has no operation of its own.
			if params := m.Decl.Type.Params.List; len(params) > 0 && isContext(params[0].Type) && m.Name != "Do" {
				methods[m.Name] = m
			}
		}
	}
	for _, typ := range pkg.Types {
		if !strings.HasSuffix(typ.Name, "Service") {
			continue
		}
		require.Contains(t, fields, typ.Name, "the client has no such service")
		for _, m := range typ.Methods {
			if !strings.HasPrefix(m.Name, "Plan") { // which sends nothing
				methods[fields[typ.Name]+"."+m.Name] = m
			}
		}
	}
	require.Greater(t, len(methods), 30)
	return methods
}

func isContext(e ast.Expr) bool {
	selector, ok := e.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == "Context"
}

// packageDoc returns the package's documentation with its examples.
func packageDoc(t *testing.T) *doc.Package {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, file)
	}
	pkg, err := doc.NewFromFiles(fset, files, "github.com/quickstream-go/quickstream", doc.PreserveAST)
	require.NoError(t, err)
	return pkg
}
