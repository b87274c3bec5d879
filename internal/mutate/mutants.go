package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// A mutant is one change of the code.
type mutant struct {
	file string
	line int
	// text has the code and the change. It names the mutant in the list of survivors.
	text string
}

func (m mutant) String() string { return m.file + ": " + m.text }

func (m mutant) place() string { return fmt.Sprintf("%s:%d: %s", m.file, m.line, m.text) }

// mutator writes a file with all its mutants, each behind a switch of its own.
type mutator struct {
	fset    *token.FileSet
	source  []byte
	file    string
	mutants []mutant
	first   int               // the number of mutants in other files
	bare    map[ast.Expr]bool // conditions
	steps   map[ast.Stmt]bool // the last parts of for clauses, which no if can replace
}

// mutate returns a file with switches for its mutants, which are counted from first.
func mutate(file string, source []byte, first int) (string, []mutant, error) {
	m := mutator{
		fset: token.NewFileSet(), source: source, file: file, first: first,
		bare: map[ast.Expr]bool{}, steps: map[ast.Stmt]bool{},
	}
	parsed, err := parser.ParseFile(m.fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		return "", nil, err
	}
	return string(m.source[:m.offset(parsed.Pos())]) + m.inside(parsed), m.mutants, nil
}

func (m *mutator) offset(p token.Pos) int { return m.fset.Position(p).Offset }

func (m *mutator) code(from, to token.Pos) string {
	return string(m.source[m.offset(from):m.offset(to)])
}

// on adds a mutant, and returns the condition that it is to run.
func (m *mutator) on(n ast.Node, change string) string {
	text := strings.Join(strings.Fields(m.code(n.Pos(), n.End())), " ")
	m.mutants = append(m.mutants, mutant{m.file, m.fset.Position(n.Pos()).Line, "`" + text + "` " + change})
	return fmt.Sprintf("mutantOn(%d)", m.first+len(m.mutants))
}

// inside returns the code of a node with mutants in all of its parts.
func (m *mutator) inside(n ast.Node) string {
	var out strings.Builder
	at := n.Pos()
	ast.Inspect(n, func(c ast.Node) bool {
		if c == nil || c == n {
			return c == n
		}
		text, changed := m.changed(c)
		if changed {
			out.WriteString(m.code(at, c.Pos()) + text)
			at = c.End()
		}
		return !changed
	})
	return out.String() + m.code(at, n.End())
}

func (m *mutator) text(n ast.Node) string {
	if text, changed := m.changed(n); changed {
		return text
	}
	return m.inside(n)
}

// changed returns the code of a node that has mutants itself.
func (m *mutator) changed(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.GenDecl:
		return m.code(n.Pos(), n.End()), n.Tok == token.CONST || n.Tok == token.IMPORT
	case *ast.IfStmt:
		m.bare[n.Cond] = true
	case *ast.ForStmt:
		m.bare[n.Cond], m.steps[n.Post] = true, true
	case *ast.SwitchStmt:
		return m.tagged(n)
	case *ast.IncDecStmt:
		if !m.steps[n] {
			other := map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok]
			return fmt.Sprintf("if %s { %s%s } else { %s }", m.on(n, "as "+other), m.code(n.X.Pos(), n.X.End()), other, m.inside(n)), true
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			return "(!" + m.text(n.X) + " != " + m.on(n, "negated") + ")", true
		}
	case *ast.BinaryExpr:
		return m.binary(n)
	}
	if e, is := n.(ast.Expr); is && m.bare[e] {
		delete(m.bare, e)
		return "(" + m.text(e) + " != " + m.on(e, "negated") + ")", true
	}
	return "", false
}

// tagged writes a switch with conditions in place of a tag, so that each case can be removed.
func (m *mutator) tagged(n *ast.SwitchStmt) (string, bool) {
	tag := ""
	if n.Tag != nil {
		tag = m.text(n.Tag)
	}
	out := "switch "
	switch {
	case n.Init != nil:
		out += m.text(n.Init) + "; "
	case tag != "":
		name := fmt.Sprintf("tag%d", m.offset(n.Pos()))
		out += name + " := " + tag + "; "
		tag = name
	}
	out += "{\n"
	for _, stmt := range n.Body.List {
		clause := stmt.(*ast.CaseClause)
		at := clause.Pos()
		for _, e := range clause.List {
			condition := m.text(e)
			if tag != "" {
				condition = "(" + tag + " == " + condition + ")"
			}
			out += m.code(at, e.Pos()) + condition + " && !" + m.on(e, "as a case removed")
			at = e.End()
		}
		out += m.body(at, clause.Colon, clause.Body, clause.End())
	}
	return out + "}", true
}

// body writes the statements of a clause.
func (m *mutator) body(at, colon token.Pos, body []ast.Stmt, end token.Pos) string {
	out := m.code(at, colon+1) + "\n"
	at = colon + 1
	for _, stmt := range body {
		out += m.code(at, stmt.Pos()) + m.text(stmt)
		at = stmt.End()
	}
	return out + m.code(at, end) + "\n"
}

func (m *mutator) binary(n *ast.BinaryExpr) (string, bool) {
	if !slices.Contains([]token.Token{
		token.LAND, token.LOR, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ,
		token.ADD, token.SUB, token.MUL, token.QUO, token.REM,
	}, n.Op) || n.Op == token.ADD && hasText(n) {
		return "", false
	}
	x, y, op := m.text(n.X), m.text(n.Y), " "+n.Op.String()+" "
	whole := x + op + y
	switch n.Op {
	case token.LAND, token.LOR:
		other, keep := "||", " || "
		if n.Op == token.LOR {
			other, keep = "&&", " && !"
		}
		swap := m.on(n, "with "+other)
		x = "(" + x + " != " + swap + ")"
		if left, is := n.X.(*ast.BinaryExpr); !is || left.Op != n.Op {
			x = "(" + x + keep + m.on(n, "without its left side") + ")"
		}
		y = "(" + "(" + y + " != " + swap + ")" + keep + m.on(n, "without its right side") + ")"
		return "((" + x + op + y + ") != " + swap + ")", true
	case token.LSS, token.GTR:
		whole = fmt.Sprintf("(%s || %s && %s == %s)", whole, m.on(n, "with ="), x, y)
	case token.LEQ, token.GEQ:
		whole = fmt.Sprintf("(%s && !(%s && %s == %s))", whole, m.on(n, "without ="), x, y)
	case token.SUB:
		return fmt.Sprintf("mutantPick(%s, %s + %s, %s)", m.on(n, "with +"), x, y, whole), true
	case token.ADD, token.MUL, token.QUO, token.REM:
		return fmt.Sprintf("mutantPick(%s, %s, %s)", m.on(n, "without its right side"), x, whole), true
	default: // == and !=
	}
	return "((" + whole + ") != " + m.on(n, "negated") + ")", true
}

// hasText reports whether a sum has a literal text, so that it is no number.
func hasText(n *ast.BinaryExpr) bool {
	for part := range ast.Preorder(n) {
		if literal, is := part.(*ast.BasicLit); is && literal.Kind == token.STRING {
			return true
		}
	}
	return false
}
