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

// source is what the tests read from the client's source because reflection
// cannot tell it.
type source struct {
	// constants are the values of the enumerations, by the name of their type.
	constants map[string][]string
	// makers are the ways to make a value of a sealed interface, by its name:
	// exported functions that return it, and exported types that are one.
	makers map[string][]string
	// sealedBy are the sealed interfaces by the method that seals them.
	sealedBy map[string]string
}

func readSource(t testing.TB) source {
	t.Helper()
	decls := declarations(t, "")
	s := source{constants: map[string][]string{}, makers: map[string][]string{}, sealedBy: map[string]string{}}
	for _, decl := range decls {
		if d, ok := decl.(*ast.GenDecl); ok {
			s.declared(d)
		}
	}
	for _, decl := range decls {
		if d, ok := decl.(*ast.FuncDecl); ok {
			s.makes(d)
		}
	}
	return s
}

// declarations are those of a directory below the root, test files excepted.
func declarations(t testing.TB, dir string) []ast.Decl {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../../..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var decls []ast.Decl
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		decls = append(decls, file.Decls...)
	}
	return decls
}

func (s source) declared(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			kind, typed := spec.Type.(*ast.Ident)
			if d.Tok != token.CONST || !typed || len(spec.Values) != 1 {
				continue
			}
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if value, err := strconv.Unquote(literal.Value); err == nil {
					s.constants[kind.Name] = append(s.constants[kind.Name], value)
				}
			}
		case *ast.TypeSpec:
			if shape, ok := spec.Type.(*ast.InterfaceType); ok && spec.Name.IsExported() {
				for _, method := range shape.Methods.List {
					if len(method.Names) == 1 && !method.Names[0].IsExported() {
						s.sealedBy[method.Names[0].Name] = spec.Name.Name
					}
				}
			}
		}
	}
}

func (s source) makes(d *ast.FuncDecl) {
	switch {
	case d.Recv != nil:
		union, seals := s.sealedBy[d.Name.Name]
		if receiver, ok := d.Recv.List[0].Type.(*ast.Ident); ok && seals && receiver.IsExported() {
			s.makers[union] = append(s.makers[union], receiver.Name)
		}
	case d.Name.IsExported() && d.Type.Results != nil && len(d.Type.Results.List) == 1:
		if result, ok := d.Type.Results.List[0].Type.(*ast.Ident); ok {
			s.makers[result.Name] = append(s.makers[result.Name], d.Name.Name)
		}
	}
}
