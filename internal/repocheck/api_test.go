// Package repocheck tests the repository itself: what it exports, which package imports which, where pages link to.
package repocheck_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/apitest"
)

// TestExportedAPI compares the public packages with their lists in the directory api.
func TestExportedAPI(t *testing.T) {
	repository(t)
	apitest.Compare(t)
}

// TestExportedNames compares the numbers in the README with the code.
func TestExportedNames(t *testing.T) {
	row, name := regexp.MustCompile("(?m)^\\| (`.*): .* \\| (\\d+) \\|$"), regexp.MustCompile("`([^`]+)`")
	rows := row.FindAllStringSubmatch(readFile(t, "README.md"), -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		names := 0
		for _, match := range name.FindAllStringSubmatch(row[1], -1) {
			names += exportedNames(t, strings.TrimPrefix(match[1], "quickstream"))
		}
		assert.Equal(t, strconv.Itoa(names), row[2], "exported names of %s in README.md", row[1])
	}
}

// exportedNames counts what a folder exports: types, functions, methods and variables.
func exportedNames(t *testing.T, folder string) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		if strings.HasSuffix(name, "_test.go") || !ast.FileExports(file) {
			continue
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv == nil || ast.IsExported(strings.TrimPrefix(types.ExprString(decl.Recv.List[0].Type), "*")) {
					n++
				}
			case *ast.GenDecl:
				if decl.Tok == token.TYPE || decl.Tok == token.VAR {
					n += len(decl.Specs)
				}
			}
		}
	}
	return n
}
