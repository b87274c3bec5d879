package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// constants are the values of the client's enumerations, by the name of their type. Reflection cannot
// tell them, so they are read from its source.
func constants(t testing.TB) map[string][]string {
	t.Helper()
	names, err := filepath.Glob("../../../*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for node := range ast.Preorder(file) {
			spec, isValue := node.(*ast.ValueSpec)
			if !isValue || len(spec.Values) != 1 {
				continue
			}
			kind, typed := spec.Type.(*ast.Ident)
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok && typed && literal.Kind == token.STRING {
				if value, err := strconv.Unquote(literal.Value); err == nil {
					found[kind.Name] = append(found[kind.Name], value)
				}
			}
		}
	}
	return found
}
