package repocheck_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ownFiles parses the Go files of this repository, by their paths, apart from
// tests and from the programs that measure something or show how it is done.
func ownFiles(t *testing.T) (*token.FileSet, map[string]*ast.File) {
	t.Helper()
	fset, files := token.NewFileSet(), map[string]*ast.File{}
	for _, path := range inRoot(t) {
		folder, _, _ := strings.Cut(path, "/")
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || folder == "bench" || folder == "examples" || strings.Contains(path, "testdata/") {
			continue
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		files[path] = file
	}
	return fset, files
}

// TestLengths holds that this code can be reviewed in pieces that fit on a screen:
// a function has at most 60 lines. A file has at most 500.
func TestLengths(t *testing.T) {
	fset, files := ownFiles(t)
	require.Contains(t, files, "client.go")
	for path, file := range files {
		lines := fset.File(file.Pos()).LineCount()
		assert.LessOrEqual(t, lines, 500, "%s is too long", path)
		for node := range ast.Preorder(file) {
			switch node.(type) {
			case *ast.FuncDecl, *ast.FuncLit:
				from, to := fset.Position(node.Pos()), fset.Position(node.End())
				assert.LessOrEqual(t, to.Line-from.Line+1, 60, "the function at %s is too long", from)
			}
		}
	}
}

// TestNoSharedState holds that two clients in one process, or two tests, have
// nothing to do with each other: what users build on has no variables that a call
// could leave changed for the next one. Free are those that stand in for constants,
// which Go does not have of errors, compiled expressions and embedded files.
func TestNoSharedState(t *testing.T) {
	_, files := ownFiles(t)
	stateless := []string{".", "internal/wire", "internal/transport", "resolve", "webhooks", "webhooks/signature", "csvreport"}
	seen := map[string]bool{}
	var variables []string
	for name, file := range files {
		dir := path.Dir(name)
		if !slices.Contains(stateless, dir) {
			continue
		}
		seen[dir] = true
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				for i, variable := range spec.(*ast.ValueSpec).Names {
					if !constant(group, spec.(*ast.ValueSpec), i) {
						variables = append(variables, name+": "+variable.Name)
					}
				}
			}
		}
	}
	assert.Len(t, seen, len(stateless))
	slices.Sort(variables)
	assert.Equal(t, []string{
		"internal/transport/table.go: Table", // the policy of retries, which is read only
		"internal/wire/decode.go: readers",   // remembers plans, as encoding/json does; only the time depends on it
		"internal/wire/encode.go: writers",   // the same
		"operations.go: operations",          // the table of operations, which is read only
	}, variables)
}

// constant reports whether a variable stands for something that never changes.
func constant(group *ast.GenDecl, spec *ast.ValueSpec, i int) bool {
	name := spec.Names[i].Name
	if name == "_" {
		return spec.Type != nil // an assertion that a type implements an interface
	}
	if i >= len(spec.Values) {
		return embedded(group.Doc) || embedded(spec.Doc)
	}
	call, ok := spec.Values[i].(*ast.CallExpr)
	if !ok {
		return false
	}
	switch types.ExprString(call.Fun) {
	case "errors.New", "fmt.Errorf":
		return strings.HasPrefix(name, "err") || strings.HasPrefix(name, "Err")
	case "regexp.MustCompile":
		return true
	default:
		return false
	}
}

func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}
