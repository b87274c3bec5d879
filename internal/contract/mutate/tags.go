package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mutant is one field tag broken in one way.
type mutant struct {
	file   string // below the root of the repository
	owner  string // struct type, or the function that a struct stands in
	field  string
	key    string // json or url
	change string // removed or renamed
	start  int    // of the tag in the file
	end    int
	tag    string // what stands there instead
}

// String names the mutant in reports and in the list of equivalents.
func (m mutant) String() string {
	return fmt.Sprintf("%s %s.%s %s %s", m.file, m.owner, m.field, m.key, m.change)
}

// The two ways to break a tag.
const (
	removed = "removed"
	renamed = "renamed"
)

// source returns the file with the mutant in it.
func (m mutant) source(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.file)) //nolint:gosec // found there by find
	if err != nil {
		return nil, err
	}
	return slices.Concat(text[:m.start], []byte(m.tag), text[m.end:]), nil
}

// find lists the mutants of the directories below a root, test files excepted.
func find(root string, dirs []string) ([]mutant, error) {
	var out []mutant
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name) //nolint:gosec // source code of the directories named
			if err != nil {
				return nil, err
			}
			found, err := findIn(filepath.ToSlash(filepath.Join(dir, filepath.Base(name))), text)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

func findIn(name string, text []byte) ([]mutant, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []mutant
	for _, decl := range file.Decls {
		owner := ""
		if f, ok := decl.(*ast.FuncDecl); ok {
			owner = f.Name.Name
		}
		ast.Inspect(decl, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.TypeSpec:
				owner = n.Name.Name
			case *ast.Field:
				if n.Tag != nil {
					place := mutant{
						file: name, owner: owner, field: fieldName(n),
						start: files.Position(n.Tag.Pos()).Offset, end: files.Position(n.Tag.End()).Offset,
					}
					out = append(out, place.broken(n.Tag.Value)...)
				}
			}
			return true
		})
	}
	return out, nil
}

func fieldName(f *ast.Field) string {
	if len(f.Names) > 0 {
		return f.Names[0].Name
	}
	if embedded, ok := f.Type.(*ast.Ident); ok {
		return embedded.Name
	}
	return "(embedded)"
}

var wireKey = regexp.MustCompile(`(json|url):"([^",]*)((?:,[^"]*)?)"`)

// broken returns the ways to break a tag.
func (m mutant) broken(tag string) []mutant {
	var out []mutant
	for _, at := range wireKey.FindAllStringSubmatchIndex(tag, -1) {
		m.key = tag[at[2]:at[3]]
		member := tag[at[4]:at[5]]
		without := strings.TrimSpace(strings.Trim(tag[:at[0]]+tag[at[1]:], "`"))
		m.change, m.tag = removed, "`"+without+"`"
		if without == "" {
			m.tag = ""
		}
		out = append(out, m)
		if cmp.Or(member, "-") != "-" {
			m.change, m.tag = renamed, tag[:at[5]]+"X"+tag[at[5]:]
			out = append(out, m)
		}
	}
	return out
}
