package apitest

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// exported lists what a package exports, one line for each name, without the names of parameters.
func exported(pkg *types.Package) []string {
	l := listing{pkg: pkg}
	for _, name := range pkg.Scope().Names() {
		if !token.IsExported(name) {
			continue
		}
		switch obj := pkg.Scope().Lookup(name).(type) {
		case *types.Const:
			l.add("const %s %s = %s", name, l.text(obj.Type()), obj.Val().ExactString())
		case *types.Var:
			l.add("var %s %s", name, l.text(obj.Type()))
		case *types.Func:
			l.add("func %s%s", name, l.signature(obj))
		case *types.TypeName:
			l.typeName(obj)
		}
	}
	slices.Sort(l.lines)
	return slices.Compact(l.lines)
}

type listing struct {
	pkg   *types.Package
	lines []string
}

func (l *listing) add(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// text returns a type as the package itself writes it.
func (l *listing) text(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == l.pkg {
			return ""
		}
		return p.Name()
	})
}

func (l *listing) signature(f *types.Func) string {
	unnamed := func(tuple *types.Tuple) *types.Tuple {
		var vars []*types.Var
		for v := range tuple.Variables() {
			vars = append(vars, types.NewParam(token.NoPos, nil, "", v.Type()))
		}
		return types.NewTuple(vars...)
	}
	s := f.Signature()
	text := l.text(types.NewSignatureType(nil, nil, nil, unnamed(s.Params()), unnamed(s.Results()), s.Variadic()))
	parameters, _, _ := strings.Cut(strings.TrimPrefix(l.text(s), "func"), "(") // of the type, in brackets
	return parameters + strings.TrimPrefix(text, "func")
}

func (l *listing) typeName(obj *types.TypeName) {
	named, defined := obj.Type().(*types.Named)
	if !defined || obj.IsAlias() {
		l.add("type %s = %s", obj.Name(), l.text(types.Unalias(obj.Type())))
		return
	}
	name := l.text(named)
	switch under := named.Underlying().(type) {
	case *types.Struct:
		l.add("type %s struct", name)
		l.fields(name, under)
	case *types.Interface:
		l.methods(name, under)
		return
	default:
		l.add("type %s %s", name, l.text(under))
	}
	values := types.NewMethodSet(named)
	for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		receiver := types.Type(named)
		if values.Lookup(m.Obj().Pkg(), m.Obj().Name()) == nil {
			receiver = types.NewPointer(named)
		}
		if m.Obj().Exported() {
			l.add("method (%s) %s%s", l.text(receiver), m.Obj().Name(), l.signature(m.Obj().(*types.Func)))
		}
	}
}

// methods lists the methods of an interface, with embedded ones.
func (l *listing) methods(name string, i *types.Interface) {
	l.add("type %s interface", name)
	for m := range i.Methods() {
		if m.Exported() {
			l.add("type %s interface, %s%s", name, m.Name(), l.signature(m))
		} else {
			l.add("type %s interface, with methods that are not exported", name)
		}
	}
}

// fields lists the fields of a struct.
func (l *listing) fields(name string, s *types.Struct) {
	for f := range s.Fields() {
		switch {
		case f.Exported() && f.Embedded():
			l.add("type %s struct, embeds %s", name, l.text(f.Type()))
		case f.Exported():
			l.add("type %s struct, %s %s", name, f.Name(), l.text(f.Type()))
		}
	}
}
