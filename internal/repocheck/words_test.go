package repocheck_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goneWord is a row of words.txt.
type goneWord struct {
	name, better string
	form         *regexp.Regexp
	namesOnly    bool
}

// TestWords looks for the words of words.txt and fails where there are more than its
// exceptions allow.
func TestWords(t *testing.T) {
	const file = "internal/repocheck/words.txt"
	files := inRoot(t)
	list, exceptions, found := strings.Cut(readFile(t, file), "never raises one.\n")
	require.True(t, found)
	allowed := map[string]int{}
	for line := range strings.Lines(exceptions) {
		if name, number, found := cutLast(line); found {
			n, err := strconv.Atoi(number)
			require.NoError(t, err, line)
			allowed[strings.Join(strings.Fields(name), " ")] = n
		}
	}
	words := goneWords(list)
	require.NotEmpty(t, words)
	hits := map[string][]string{} // places by folder and word
	for _, file := range files {
		where := wordsFolder(file)
		if where == "" {
			continue
		}
		for _, text := range prose(t, file) {
			for _, word := range words {
				if word.namesOnly && !text.isName {
					continue
				}
				for range word.form.FindAllString(text.text, -1) {
					name := where + " " + word.name
					hits[name] = append(hits[name], fmt.Sprintf("%s:%d (%s)", file, text.line, word.better))
				}
			}
		}
	}
	if os.Getenv("UPDATE_WORDS") != "" {
		text := list + "never raises one.\n\n"
		for _, name := range slices.Sorted(maps.Keys(allowed)) {
			left := min(allowed[name], len(hits[name]))
			if left != allowed[name] {
				t.Logf("%s: %d, was %d", name, left, allowed[name])
			}
			if left > 0 {
				text += fmt.Sprintf("%-40s %4d\n", name, left)
			}
		}
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	for _, name := range slices.Sorted(maps.Keys(hits)) {
		places := hits[name]
		assert.LessOrEqual(t, len(places), allowed[name], "%s: these places, better words in brackets\n%s", name, strings.Join(places, "\n"))
	}
}

// goneWords reads the rows of words: the forms of each, and what is better.
func goneWords(list string) []goneWord {
	var words []goneWord
	for line := range strings.Lines(list) {
		forms, better, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		forms, namesOnly := strings.CutPrefix(forms, "name ")
		name, _, _ := strings.Cut(forms, ",")
		words = append(words, goneWord{namesOnly: namesOnly, name: name, better: better, form: regexp.MustCompile(`(?i)\b(` + strings.ReplaceAll(forms, ", ", "|") + `)\b`)})
	}
	return words
}

// wordsFolder names what a file belongs to in the exceptions; it is empty for files
// that are not looked at.
func wordsFolder(file string) string {
	first, _, nested := strings.Cut(file, "/")
	example := strings.HasPrefix(path.Base(file), "example_")
	switch {
	case strings.HasSuffix(file, "_test.go") && !example, !strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, ".md"):
		return ""
	case !nested && strings.HasSuffix(file, ".md"):
		return file
	case !nested:
		return "core"
	case slices.Contains([]string{"webhooks", "resolve", "csvreport", "internal", "sandbox", "docs"}, first):
		return first
	default:
		return ""
	}
}

// passage is a comment, a text, a paragraph or the words of a name, on one line.
type passage struct {
	line   int
	text   string
	isName bool
}

// prose returns what a file says to people, and each of its names once.
func prose(t *testing.T, name string) []passage {
	t.Helper()
	var found []passage
	add := func(line int, text string) {
		found = append(found, passage{line: line, text: strings.Join(strings.Fields(text), " ")})
	}
	if strings.HasSuffix(name, ".md") {
		line := 1
		for paragraph := range strings.SplitSeq(readFile(t, name), "\n\n") {
			add(line, paragraph)
			line += strings.Count(paragraph, "\n") + 2
		}
		return found
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, group := range file.Comments {
		add(fset.Position(group.Pos()).Line, group.Text())
	}
	names, humps := map[string]bool{}, regexp.MustCompile(`([a-z0-9])([A-Z])`)
	for node := range ast.Preorder(file) {
		line := fset.Position(node.Pos()).Line
		switch node := node.(type) {
		case *ast.BasicLit:
			if node.Kind == token.STRING {
				text, err := strconv.Unquote(node.Value)
				require.NoError(t, err)
				add(line, text)
			}
		case *ast.Ident:
			if !names[node.Name] {
				names[node.Name] = true
				found = append(found, passage{line, humps.ReplaceAllString(node.Name, "$1 $2"), true})
			}
		}
	}
	return found
}
