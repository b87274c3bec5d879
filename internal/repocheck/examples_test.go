package repocheck_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// interfaceMethods are expected by interfaces of the standard library, which say
// how a value prints, marshals and compares. No example has to show them.
var interfaceMethods = []string{
	"String", "GoString", "Format", "LogValue", "MarshalJSON", "MarshalText", "UnmarshalJSON", "UnmarshalText",
	"EncodeValues", "Error", "Is", "Unwrap", "Timeout", "IsZero",
}

// TestEverythingHasAnExample demands a runnable example of its own for every
// method that a client offers, and for what lists and transactions do. Every
// other function and method has to be used in some example.
func TestEverythingHasAnExample(t *testing.T) {
	inRoot(t)
	pkg := packageDoc(t)
	ofItsOwn := func(typeName string) bool {
		return typeName == "Client" || typeName == "List" || typeName == "Transaction" || strings.HasSuffix(typeName, "Service")
	}
	used := namesIn(pkg)
	functions := slices.Clone(pkg.Funcs)
	missing, count := []string{}, 0
	for _, typ := range pkg.Types {
		functions = append(functions, typ.Funcs...)
		for _, m := range typ.Methods {
			switch {
			case slices.Contains(interfaceMethods, m.Name):
			case ofItsOwn(typ.Name) && m.Level == 0:
				count++
				if !slices.ContainsFunc(m.Examples, runnable) {
					missing = append(missing, "Example"+typ.Name+"_"+m.Name+" with // Output:")
				}
			case !used[m.Name]:
				missing = append(missing, typ.Name+"."+m.Name+" in any example")
			}
		}
	}
	for _, f := range functions {
		if !used[f.Name] {
			missing = append(missing, f.Name+" in any example")
		}
	}
	assert.Empty(t, missing)
	assert.Greater(t, count, 40, "methods were found at all")
	for _, e := range examplesOf(pkg) {
		assert.True(t, runnable(e), "Example%s has no // Output:", e.Name)
		assert.NotEmpty(t, e.Doc, "Example%s does not say what it shows", e.Name)
	}
	newClient := slices.IndexFunc(functions, func(f *doc.Func) bool { return f.Name == "NewClient" })
	require.GreaterOrEqual(t, newClient, 0)
	assert.NotEmpty(t, functions[newClient].Examples, "ExampleNewClient")
}

// runnable reports whether go test runs an example and compares what it prints.
func runnable(e *doc.Example) bool { return e.Output != "" }

func examplesOf(pkg *doc.Package) []*doc.Example {
	examples := slices.Clone(pkg.Examples)
	for _, f := range pkg.Funcs {
		examples = append(examples, f.Examples...)
	}
	for _, typ := range pkg.Types {
		examples = append(examples, typ.Examples...)
		for _, f := range slices.Concat(typ.Funcs, typ.Methods) {
			examples = append(examples, f.Examples...)
		}
	}
	return examples
}

// namesIn returns what the runnable examples select from the package and its
// values.
func namesIn(pkg *doc.Package) map[string]bool {
	names := map[string]bool{}
	for _, e := range examplesOf(pkg) {
		if !runnable(e) {
			continue
		}
		ast.Inspect(e.Code, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				names[selector.Sel.Name] = true
			}
			return true
		})
	}
	return names
}

// packageDoc returns the documentation of the package with its examples.
func packageDoc(t *testing.T) *doc.Package {
	t.Helper()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	fset, files := token.NewFileSet(), []*ast.File(nil)
	for _, name := range names {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, file)
	}
	pkg, err := doc.NewFromFiles(fset, files, modulePath, doc.PreserveAST)
	require.NoError(t, err)
	return pkg
}
