package quickstream_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listedRule is a row of rules.md, or a rule of the code, whose texts are patterns
// then: what is no literal can be anything.
type listedRule struct{ id, member, message string }

// TestRulesPage holds rules.md against the rules of the code, both ways.
func TestRulesPage(t *testing.T) {
	rows, rules := ruleRows(t), rulesInCode(t)
	require.Greater(t, len(rules), 100)
	listed := map[string]bool{}
	for _, row := range rows {
		assert.False(t, listed[row.id], "%s stands in rules.md twice", row.id)
		listed[row.id] = true
		assert.True(t, anyOf(rules, func(rule listedRule) bool { return rule.describes(row) }), "no rule is as rules.md says: %s", row)
	}
	for _, rule := range rules {
		assert.True(t, anyOf(rows, rule.describes), "rules.md has no such rule: %s", rule)
	}
}

func anyOf(rules []listedRule, is func(listedRule) bool) bool {
	for _, rule := range rules {
		if is(rule) {
			return true
		}
	}
	return false
}

// describes reports whether the rule of the code is that of the row. A member may
// stand in a part of the request, which its check does not know.
func (r listedRule) describes(row listedRule) bool {
	fits := func(pattern, text string) bool { return regexp.MustCompile("^(" + pattern + ")$").MatchString(text) }
	return fits(r.id, row.id) && fits(`(.+\.)?`+r.member, row.member) && fits(r.message, row.message)
}

// ruleRows reads the tables of rules.md.
func ruleRows(t *testing.T) []listedRule {
	t.Helper()
	page, err := os.ReadFile("rules.md")
	require.NoError(t, err)
	var rows []listedRule
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 || !strings.HasPrefix(cells[0], "| `") {
			continue
		}
		rows = append(rows, listedRule{
			strings.Trim(cells[0], "| `"), strings.Trim(cells[1], "`"), strings.TrimSuffix(cells[2], " |"),
		})
	}
	return rows
}

// rulesInCode finds what require is given, and the findings that are made without
// it.
func rulesInCode(t *testing.T) []listedRule {
	t.Helper()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var rules []listedRule
	add := func(id, member, message ast.Expr) {
		if rule := (listedRule{pattern(id), pattern(member), pattern(message)}); rule.id != anything {
			rules = append(rules, rule)
		}
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "require" {
					add(n.Args[1], n.Args[2], n.Args[3])
				}
			case *ast.CompositeLit:
				if of := members(n); of["Rule"] != nil {
					add(of["Rule"], of["Path"], of["Message"])
				}
			}
			return true
		})
	}
	return rules
}

func members(literal *ast.CompositeLit) map[string]ast.Expr {
	values := map[string]ast.Expr{}
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				values[key.Name] = pair.Value
			}
		}
	}
	return values
}

const anything = ".+"

func pattern(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return regexp.QuoteMeta(text)
		}
	case *ast.BinaryExpr:
		return pattern(e.X) + pattern(e.Y)
	}
	return anything
}
