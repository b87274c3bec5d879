package repocheck_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const budgetHead = `# The most that this repository may hold. TestBudget fails above a number.
# UPDATE_BUDGET=1 go test -v -run TestBudget ./internal/repocheck writes the present numbers, those of
# lines and words rounded up to fifty, so that a mended sentence needs no new number.
# A commit that raises a number says why in its message.
#
# code, tests: lines of Go files; core is the root folder, webhooks, resolve and csvreport
# files: Go files of one folder
# exported: types, functions, methods and variables of a package; constants are not counted
# words: of Markdown that is written by hand, as wc -w counts them
`

// TestBudget compares the size of the repository with budget.txt.
func TestBudget(t *testing.T) {
	const file = "internal/repocheck/budget.txt"
	now := count(t, inRoot(t))
	most := map[string]int{}
	for line := range strings.Lines(readFile(t, file)) {
		if name, number, found := cutLast(line); found {
			n, err := strconv.Atoi(number)
			require.NoError(t, err, line)
			most[name] = n
		}
	}
	if os.Getenv("UPDATE_BUDGET") != "" {
		var text strings.Builder
		text.WriteString(budgetHead)
		for _, name := range slices.Sorted(maps.Keys(now)) {
			allowed := now[name]
			if !strings.HasPrefix(name, "files ") && !strings.HasPrefix(name, "exported ") {
				allowed = (allowed + 49) / 50 * 50
			}
			fmt.Fprintf(&text, "%-40s %6d\n", name, allowed)
			if allowed != most[name] {
				t.Logf("%s: %d, was %d", name, allowed, most[name])
			}
		}
		for name := range most {
			if _, there := now[name]; !there {
				t.Logf("%s: gone", name)
			}
		}
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if now[name] > most[name] {
			t.Errorf("%s: %d, and at most %d are allowed. Remove something, or raise the number in %s: the commit that raises a number says why.", name, now[name], most[name], file)
		}
	}
}

// cutLast splits a row into its name and its number.
func cutLast(line string) (name, number string, found bool) {
	line = strings.TrimSpace(line)
	i := strings.LastIndex(line, " ")
	if i < 0 || strings.HasPrefix(line, "#") {
		return "", "", false
	}
	return strings.TrimSpace(line[:i]), line[i+1:], true
}

// count returns the rows of the budget.
func count(t *testing.T, files []string) map[string]int {
	t.Helper()
	rows := map[string]int{}
	for _, file := range files {
		switch dir := path.Dir(file); {
		case strings.HasSuffix(file, ".md"):
			if !slices.Contains([]string{"api.md", "rules.md", "conform/questions.md"}, file) { // which tests write
				rows["words"] += len(strings.Fields(readFile(t, file)))
			}
		case strings.HasSuffix(file, ".go"):
			kind := "code"
			if strings.HasSuffix(file, "_test.go") {
				kind = "tests"
			}
			if dir == "." || dir == "sandbox" {
				rows["files "+strings.Replace(dir, ".", "root", 1)+" "+kind]++
			}
			lines := strings.Count(readFile(t, file), "\n")
			rows[kind+" "+folder(file, kind)] += lines
			rows[kind] += lines
			if first, _, _ := strings.Cut(file, "/"); kind == "code" && !strings.Contains("/"+file, "/internal/") && !slices.Contains([]string{"cmd", "examples", "bench", "shop"}, first) {
				if name, n := exportedNames(t, file); name != "main" {
					rows["exported "+strings.Replace(dir, ".", "root", 1)] += n
				}
			}
		}
	}
	return rows
}

// folder names the row of a Go file: core, or its first folder, or the second below
// internal.
func folder(file, kind string) string {
	first, rest, nested := strings.Cut(file, "/")
	second, _, _ := strings.Cut(rest, "/")
	switch {
	case kind == "code" && (!nested || slices.Contains([]string{"webhooks", "resolve", "csvreport"}, first)):
		return "core"
	case !nested:
		return "root"
	case first == "internal":
		return first + "/" + second
	default:
		return first
	}
}

// exportedNames counts what a file exports.
func exportedNames(t *testing.T, name string) (pkg string, n int) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Name.IsExported() && (decl.Recv == nil || ast.IsExported(receiver(decl.Recv.List[0].Type))) {
				n++
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						n++
					}
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						if decl.Tok == token.VAR && name.IsExported() {
							n++
						}
					}
				}
			}
		}
	}
	return file.Name.Name, n
}

// receiver is the name of a method's type.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	default:
		return ""
	}
}
