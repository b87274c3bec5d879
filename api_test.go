package quickstream

import (
	"errors"
	"go/ast"
	"go/doc"
	"go/token"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documented is what a method's doc comment or a line of api.md says about the
// operations of the service that it calls.
type documented struct {
	operations []string // "METHOD /path", sorted
	variant    string   // such as "PREAUTH, INCREMENTAL"
	key        string
	result     string
}

var (
	operationText = regexp.MustCompile(`\b(GET|POST|PUT|PATCH|DELETE) (/[A-Za-z0-9/{}-]*)`)
	variantText   = regexp.MustCompile(`\(([A-Z][A-Z_, ]+)\)`)
)

// TestEveryMethodNamesItsOperation reads the doc comments of all methods that
// call the service and demands that api.md says the same, and nothing else.
func TestEveryMethodNamesItsOperation(t *testing.T) {
	methods := map[string]documented{}
	for name, m := range callingMethods(t) {
		text := strings.Join(strings.Fields(m.Doc), " ")
		d := documented{operations: operationsIn(text), result: resultOf(m.Decl)}
		if variant := variantText.FindStringSubmatch(text); variant != nil {
			d.variant = variant[1]
		}
		if d.key = "secret"; strings.Contains(text, "publishable key") {
			d.key = "publishable"
		}
		assert.NotEmpty(t, d.operations, "the comment of %s does not name verb and path", name)
		methods[name] = d
	}
	page := map[string]documented{}
	for _, row := range apiRows(t) {
		assert.NotContains(t, page, row.method)
		page[row.method] = row.documented
	}
	for name, said := range methods {
		assert.Equal(t, said, page[name], "%s: what its comment says, and what api.md does", name)
	}
	for name := range page {
		assert.Contains(t, methods, name, "api.md lists a method that does not exist")
	}
}

// TestMethodsCallWhatTheyName compares the comments with the paths, names and
// keys that stand in the methods themselves.
func TestMethodsCallWhatTheyName(t *testing.T) {
	seen := 0
	qualified := regexp.MustCompile(`^([A-Z]\w*\.)?[A-Z]\w*$`)
	for name, m := range callingMethods(t) {
		text := strings.Join(strings.Fields(m.Doc), " ")
		publishable := false
		ast.Inspect(m.Decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				value, err := strconv.Unquote(n.Value)
				if n.Kind != token.STRING || err != nil {
					return true
				}
				if strings.HasPrefix(value, "/") {
					seen++
					assert.Contains(t, routes(operationsIn(text)), value, "%s asks for a path that its comment does not name", name)
				}
				if qualified.MatchString(value) && strings.Contains(value, ".") {
					seen++
					assert.Equal(t, name, value, "the name of the operation in %s", name)
				}
			case *ast.Ident:
				publishable = publishable || n.Name == "publishableKey"
			}
			return true
		})
		assert.Equal(t, publishable, strings.Contains(text, "publishable key"), "the key of %s", name)
	}
	assert.Greater(t, seen, 20, "paths and names were found at all")
}

// TestAPIPage checks the columns of api.md that the comments do not have.
func TestAPIPage(t *testing.T) {
	methods := callingMethods(t)
	contract := contractResponses(t)
	for _, row := range apiRows(t) {
		write := false
		for _, operation := range row.operations {
			write = write || !strings.HasPrefix(operation, "GET ")
			if contract != nil {
				require.Contains(t, contract, operation, "the contract does not describe the operation of %s", row.method)
				assert.Contains(t, contract[operation], row.status, "the contract has no such success of %s", row.method)
			}
		}
		if !write {
			assert.Equal(t, "–", row.afterUnknown, row.method)
			continue
		}
		assert.Greater(t, len(row.afterUnknown), len("–"), "%s: how it is found", row.method)
		for _, name := range codeIn(row.afterUnknown) {
			if strings.Contains(name, ".") {
				assert.Contains(t, methods, name, "%s is found by a method that does not exist", row.method)
			}
		}
	}
}

// TestModelledWrites holds the writes that Do refuses against api.md.
func TestModelledWrites(t *testing.T) {
	client, err := NewClient(CustomURL("https://api.invalid/rest/v1"), Keys{Secret: NewSecretKey("S"), Publishable: NewPublishableKey("P")}, WithHTTPClient(&http.Client{Transport: refusing{}}))
	require.NoError(t, err)
	name := regexp.MustCompile(`\{\w+\}`)
	written := map[string]bool{}
	for _, row := range apiRows(t) {
		for _, operation := range row.operations {
			method, route, _ := strings.Cut(operation, " ")
			if method == http.MethodGet {
				continue
			}
			written[method+" "+strings.ToLower(name.ReplaceAllString(route, "*"))] = true
			names := len(name.FindAllString(route, -1))
			wholly := strings.Split(name.ReplaceAllString(route, "ID-1"), "/")[1:]
			for form, request := range map[string]Request{
				"as listed":      {Route: route, Path: slices.Repeat([]string{"ID-1"}, names)},
				"other names":    {Route: name.ReplaceAllString(route, "{x}"), Path: slices.Repeat([]string{"ID-1"}, names)},
				"no names":       {Route: name.ReplaceAllString(route, "ID-1")},
				"names only":     {Route: strings.Repeat("/{x}", len(wholly)), Path: wholly},
				"another case":   {Route: strings.ToUpper(name.ReplaceAllString(route, "ID-1"))},
				"odd identifier": {Route: route, Path: slices.Repeat([]string{`"*[`}, names)},
			} {
				request.Method = method
				err := client.Do(t.Context(), request, nil, WithoutRule("request.modelled"))
				invalid, ok := errors.AsType[*ValidationError](err)
				require.True(t, ok, "%s, %s: %v", operation, form, err)
				assert.Equal(t, "request.modelled", invalid.Findings[0].Rule)
			}
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(written)), modelledWrites())
}

// TestEveryServiceIsListed: where a reader looks for a service, it stands. One
// paragraph of the overview and of the README has them all; the changelog names each.
func TestEveryServiceIsListed(t *testing.T) {
	var services []string
	for field := range reflect.TypeFor[Client]().Fields() {
		if field.IsExported() {
			services = append(services, field.Name)
		}
	}
	require.Greater(t, len(services), 8)
	missing := func(text string) []string {
		return slices.DeleteFunc(slices.Clone(services), func(name string) bool { return regexp.MustCompile(`\b` + name + `\b`).MatchString(text) })
	}
	for file, blank := range map[string]string{"doc.go": "\n//\n", "README.md": "\n\n"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		fewest := services
		for paragraph := range strings.SplitSeq(string(text), blank) {
			if left := missing(paragraph); len(left) < len(fewest) {
				fewest = left
			}
		}
		assert.Empty(t, fewest, "services that %s does not list with the others", file)
	}
	text, err := os.ReadFile("CHANGELOG.md")
	require.NoError(t, err)
	assert.Empty(t, missing(strings.Join(codeIn(string(text)), "\n")), "services that CHANGELOG.md does not name")
}

type apiRow struct {
	method string
	documented
	status       string
	afterUnknown string
}

// apiRows reads the tables of api.md.
func apiRows(t *testing.T) []apiRow {
	t.Helper()
	page, err := os.ReadFile("api.md")
	require.NoError(t, err)
	var rows []apiRow
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") || strings.HasPrefix(line, "| Operation ") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		require.Len(t, cells, 5, line)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		method := codeIn(cells[2])
		require.Len(t, method, 1, line)
		status, result, _ := strings.Cut(cells[3], ", ")
		row := apiRow{method: method[0], status: status, afterUnknown: cells[4]}
		row.operations, row.key = operationsIn(cells[0]), cells[1]
		if strings.HasPrefix(result, "`") {
			row.result = strings.Trim(result, "`")
		}
		if variant := variantText.FindStringSubmatch(cells[0]); variant != nil {
			row.variant = variant[1]
		}
		rows = append(rows, row)
	}
	require.NotEmpty(t, rows)
	return rows
}

// contractResponses reads the statuses of every operation from the text of the
// OpenAPI document. It is part of another module and absent where only this one
// was downloaded; then there is nothing to compare with.
func contractResponses(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("internal/contract/openapi.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	paths, _, found := strings.Cut(string(text), "\nwebhooks:")
	require.True(t, found)
	status := regexp.MustCompile(`^\s+'(\d{3})':`)
	responses, operation := map[string][]string{}, ""
	for line := range strings.Lines(paths) {
		if _, name, ok := strings.Cut(line, "x-operation: "); ok {
			operation = strings.TrimSpace(name)
			responses[operation] = nil
		} else if code := status.FindStringSubmatch(line); code != nil {
			responses[operation] = append(responses[operation], code[1])
		}
	}
	require.Greater(t, len(responses), 20)
	return responses
}

func operationsIn(text string) []string {
	var found []string
	for _, m := range operationText.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1]+" "+m[2])
	}
	return slices.Compact(slices.Sorted(slices.Values(found)))
}

func routes(operations []string) []string {
	var found []string
	for _, operation := range operations {
		_, route, _ := strings.Cut(operation, " ")
		found = append(found, route)
	}
	return found
}

func codeIn(text string) []string {
	var found []string
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			found = append(found, part)
		}
	}
	return found
}

// resultOf names the type that a method returns besides an error.
func resultOf(method *ast.FuncDecl) string {
	switch result := method.Type.Results.List[0].Type.(type) {
	case *ast.StarExpr:
		return result.X.(*ast.Ident).Name
	case *ast.IndexExpr:
		return result.X.(*ast.Ident).Name + "[" + result.Index.(*ast.Ident).Name + "]"
	default: // error alone
		return ""
	}
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
	files := parsePackage(t, fset, true)
	pkg, err := doc.NewFromFiles(fset, files, "github.com/quickstream-go/quickstream", doc.PreserveAST)
	require.NoError(t, err)
	return pkg
}
