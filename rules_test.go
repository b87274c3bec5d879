package quickstream

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ruleCase holds two requests, as changes of a valid one, nil being no change.
// The first keeps to a rule as closely to its boundary as can be; the second
// breaks that rule, those in also, and no other.
type ruleCase[T any] struct {
	rule string
	pass func(*T)
	fail func(*T)
	also []string
}

// ruleTable is the rule table of a request type with what it is tested by.
type ruleTable[T any] struct {
	rules []rule[T]
	valid func() T
	cases []ruleCase[T]
	// worst is one request that breaks many rules, and broken are their ids in the
	// order of the table.
	worst  T
	broken []string
	// wire is what the request becomes, and elsewhere are the paths of rules that
	// are not members of it: parameters of the path, and members that it must not
	// have.
	wire      any
	elsewhere []string
}

// ruleTables are the rule tables of all request types, by their variables' names.
func ruleTables() map[string]interface{ problems() []string } {
	return map[string]interface{ problems() []string }{
		"singleUseTokenRules":  singleUseTokenTable(),
		"threeDSRules":         threeDSTable(),
		"accountRegisterRules": accountRegisterTable(),
		"customerCreateRules":  customerCreateTable(),
		"customerUpdateRules":  customerUpdateTable(),

		"payRules":                    payTable(),
		"preauthoriseRules":           preauthoriseTable(),
		"verifyAccountRules":          verifyAccountTable(),
		"preauthFollowUpRules":        preauthFollowUpTable(),
		"extendRules":                 extendTable(),
		"captureRules":                captureTable(),
		"cancelPreauthorisationRules": cancelPreauthorisationTable(),
		"refundRules":                 refundTable(),

		"agreementCreateRules":     agreementCreateTable(),
		"statusAmendmentRules":     statusAmendmentTable(),
		"unilateralAmendmentRules": unilateralAmendmentTable(),
		"bilateralAmendmentRules":  bilateralAmendmentTable(),

		"transactionReportRules": transactionReportTable(),
		"paymentFileUploadRules": paymentFileUploadTable(),

		"referenceQueryRules":      referenceQueryTable(),
		"settlementDateQueryRules": settlementDateQueryTable(),
		"accountTokenQueryRules":   accountTokenQueryTable(),
		"creditCardQueryRules":     creditCardQueryTable(),
		"bankAccountQueryRules":    bankAccountQueryTable(),
		"nzBankAccountQueryRules":  nzBankAccountQueryTable(),
		"suspendedListRules":       suspendedListTable(),
		"openPreauthListRules":     openPreauthListTable(),
		"returnedListRules":        returnedListTable(),
	}
}

// TestRules holds every rule of every request type against its cases. It runs in
// a bubble, whose clock stands at the beginning of the year 2000.
func TestRules(t *testing.T) {
	tables := ruleTables()
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, problem := range tables[name].problems() {
					t.Error(problem)
				}
			})
		})
	}
}

// problems returns everything that is wrong with a table.
func (table ruleTable[T]) problems() []string {
	found := table.formProblems()
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }

	if broken := table.breaks(table.valid()); len(broken) > 0 {
		add("the valid request breaks %v", broken)
	}
	judged := map[string]bool{}
	for _, r := range table.rules {
		if r.kind != service {
			judged[r.id] = false
		}
	}
	for i, c := range table.cases {
		if _, known := judged[c.rule]; !known {
			add("case %d names no rule that is judged here: %s", i, c.rule)
			continue
		}
		judged[c.rule] = true
		if broken := table.breaks(table.changed(c.pass)); len(broken) > 0 {
			add("%s: the passing value of case %d breaks %v", c.rule, i, broken)
		}
		failing := table.changed(c.fail)
		want := append([]string{c.rule}, c.also...)
		if broken := table.breaks(failing); !sameElements(broken, want) {
			add("%s: the failing value of case %d breaks %v, not %v", c.rule, i, broken, want)
		}
		if broken := table.breaks(failing, c.rule); !sameElements(broken, c.also) {
			add("%s: without the rule case %d breaks %v, not %v", c.rule, i, broken, c.also)
		}
		if broken := table.breaks(failing, want...); len(broken) > 0 {
			add("%s: with all its rules switched off case %d breaks %v", c.rule, i, broken)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(judged)) {
		if !judged[id] {
			add("%s has no case", id)
		}
	}
	if broken := table.breaks(table.worst); len(broken) < 1 || !slices.Equal(broken, table.broken) {
		add("the worst request breaks %q, not %q", broken, table.broken)
	}
	return found
}

// formProblems returns what is wrong with the rules themselves.
func (table ruleTable[T]) formProblems() []string {
	var found []string
	add := func(r rule[T], text string) { found = append(found, fmt.Sprintf("%s (%s) %s", r.id, r.path, text)) }
	seen := map[[2]string]bool{}
	members := memberPaths(reflect.TypeOf(table.wire), "")
	for _, r := range table.rules {
		if !members[r.path] && !slices.Contains(table.elsewhere, r.path) && !strings.HasPrefix(r.path, "(") {
			add(r, "has a path that is not a member of the request")
		}
		if seen[[2]string{r.id, r.path}] {
			add(r, "stands in the table twice")
		}
		seen[[2]string{r.id, r.path}] = true
		if r.id == "" || r.path == "" || r.message == "" || strings.ContainsAny(r.message, "%\n") {
			add(r, "lacks an id, a path or a plain message")
		}
		switch r.kind {
		case service:
			if r.broken != nil {
				add(r, "is the service's and has a function")
			}
		case local, given:
			if r.broken == nil {
				add(r, "is judged here and has no function")
			}
		default:
			add(r, "is of no kind")
		}
	}
	return found
}

// memberPaths returns the members of a wire struct and of the structs in it, in
// the service's names.
func memberPaths(t reflect.Type, prefix string) map[string]bool {
	paths := map[string]bool{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(cmp.Or(field.Tag.Get("json"), field.Tag.Get("url")), ",")
		if name == "" || name == "-" {
			continue
		}
		paths[prefix+name] = true
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			maps.Copy(paths, memberPaths(inner, prefix+name+"."))
		}
	}
	return paths
}

func (table ruleTable[T]) changed(change func(*T)) T {
	request := table.valid()
	if change != nil {
		change(&request)
	}
	return request
}

// breaks returns what a request breaks, with some rules switched off, in the
// order of the findings. A finding that shows more than its rule's own text is
// one of its own.
func (table ruleTable[T]) breaks(request T, without ...string) []string {
	var config callConfig
	if err := WithoutRule(without...).applyCall(&config); err != nil {
		return []string{err.Error()}
	}
	err := check(&call{op: operation{name: "Test"}, config: config}, request, table.rules)
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*ValidationError](err)
	if !ok || len(invalid.Findings) == 0 {
		return []string{fmt.Sprintf("%T without findings", err)}
	}
	var ids []string
	for _, f := range invalid.Findings {
		ids = append(ids, f.Rule)
		if !slices.ContainsFunc(table.rules, func(r rule[T]) bool {
			return r.id == f.Rule && r.path == f.Path && r.message == f.Message
		}) {
			ids = append(ids, f.Rule+" with a text of its own")
		}
	}
	for _, value := range canaries() {
		if strings.Contains(err.Error(), value) {
			ids = append(ids, invalid.Findings[0].Rule+" or another that shows a value")
		}
	}
	return ids
}

// canaries are values that the requests of the cases hold and no text may show.
func canaries() []string {
	return []string{
		canaryCard, canaryAccount, canaryNZAccount, canaryPayID, canaryReference,
		canaryReceipt, canaryAgreement, canaryToken, canaryCustomer, canaryBusiness,
	}
}

const (
	canaryCard      = "4242424242424242"
	canaryAccount   = "123465"
	canaryNZAccount = "0000001"
	canaryPayID     = "payer@example.com"
	canaryReference = "order-4711"
	canaryReceipt   = "1000999888"
	canaryAgreement = "agreement-1a2b"
	canaryToken     = "token-3c4d"
	canaryCustomer  = "customer-5e6f"
	canaryBusiness  = "SANDBOX01"
)

func sameElements(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// set is the change that puts a value into a field.
func set[T, V any](field func(*T) *V, value V) func(*T) {
	return func(request *T) { *field(request) = value }
}

// letters is a text of n characters, each of two bytes.
func letters(n int) string { return strings.Repeat("é", n) }

// ascii is a text of n characters of one byte.
func ascii(n int) string { return strings.Repeat("x", n) }

// TestRuleProblemsAreFound shows that the check of the tables can fail: each
// faulty table is reported for what is wrong with it.
func TestRuleProblemsAreFound(t *testing.T) {
	short := rule[string]{"short", local, "text", "must be short", func(s string) bool { return len(s) > 2 }}
	lower := rule[string]{"lower", local, "text", "must be lower case", func(s string) bool { return s != strings.ToLower(s) }}
	with := func(id string, change func(*rule[string])) rule[string] {
		r := short
		r.id = id
		change(&r)
		return r
	}
	to := func(text string) func(*string) { return func(s *string) { *s = text } }
	good := ruleCase[string]{rule: "short", pass: to("ab"), fail: to("abc")}
	for want, table := range map[string]ruleTable[string]{
		"short (text) stands in the table twice": {rules: []rule[string]{short, short}, cases: []ruleCase[string]{good}},
		"lower has no case":                      {rules: []rule[string]{short, lower}, cases: []ruleCase[string]{good}},
		"case 1 names no rule that is judged here: upper": {
			rules: []rule[string]{short}, cases: []ruleCase[string]{good, {rule: "upper"}},
		},
		"theirs (text) is the service's and has a function": {
			rules: []rule[string]{short, with("theirs", func(r *rule[string]) { r.kind = service })}, cases: []ruleCase[string]{good},
		},
		"ours (text) is judged here and has no function": {
			rules: []rule[string]{short, with("ours", func(r *rule[string]) { r.broken = nil })}, cases: []ruleCase[string]{good, {rule: "ours"}},
		},
		"odd (text) is of no kind": {
			rules: []rule[string]{short, with("odd", func(r *rule[string]) { r.kind = "" })}, cases: []ruleCase[string]{good},
		},
		"mute (text) lacks an id, a path or a plain message": {
			rules: []rule[string]{with("mute", func(r *rule[string]) { r.message = "" })}, cases: []ruleCase[string]{good},
		},
		"short: the passing value of case 0 breaks [short]": {
			rules: []rule[string]{short}, cases: []ruleCase[string]{{rule: "short", pass: to("abc"), fail: to("abc")}},
		},
		"short: the failing value of case 0 breaks [], not [short]": {
			rules: []rule[string]{short}, cases: []ruleCase[string]{{rule: "short", fail: to("ab")}},
		},
		"short: the failing value of case 0 breaks [short lower], not [short]": {
			rules: []rule[string]{short, lower}, cases: []ruleCase[string]{{rule: "short", fail: to("ABC")}, {rule: "lower", fail: to("A")}},
		},
		"short: the failing value of case 0 breaks [short short or another that shows a value], not [short]": {
			rules: []rule[string]{with("short", func(r *rule[string]) { r.message = "is too long: " + canaryCard })}, cases: []ruleCase[string]{good},
		},
		"the worst request breaks [\"short\" \"lower\"], not [\"short\"]": {
			rules: []rule[string]{short, lower}, cases: []ruleCase[string]{good, {rule: "lower", fail: to("A")}}, worst: "ABC", broken: []string{"short"},
		},
		"stray (body.text) has a path that is not a member of the request": {
			rules: []rule[string]{short, with("stray", func(r *rule[string]) { r.path = "body.text" })}, cases: []ruleCase[string]{good},
		},
		"the worst request breaks [], not []": {rules: []rule[string]{short}, cases: []ruleCase[string]{good}},
	} {
		table.valid, table.wire = func() string { return "a" }, struct {
			Text string `json:"text"`
		}{}
		assert.Contains(t, table.problems(), want)
	}
	sound := ruleTable[string]{
		rules: []rule[string]{short}, cases: []ruleCase[string]{good}, worst: "abc", broken: []string{"short"},
		valid: func() string { return "a" }, elsewhere: []string{"text"}, wire: struct{}{},
	}
	assert.Empty(t, sound.problems())
}

// TestEveryRuleTableIsTested finds the tables that the methods of the services
// check their requests with, and demands cases for each.
func TestEveryRuleTableIsTested(t *testing.T) {
	used := map[string]bool{}
	for _, file := range parsePackage(t, token.NewFileSet(), false) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if name := calledName(call); name == "within" || name == "Concat" {
				return false // parts of tables
			}
			for _, arg := range call.Args {
				if table, ok := arg.(*ast.Ident); ok && strings.HasSuffix(table.Name, "Rules") {
					used[table.Name] = true
				}
			}
			return true
		})
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(used)), slices.Collect(maps.Keys(ruleTables())))
}

func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// parsePackage parses the files of the package, with or without its tests.
func parsePackage(t *testing.T, fset *token.FileSet, tests bool) []*ast.File {
	t.Helper()
	names, err := fs.Glob(os.DirFS("."), "*.go")
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") && !tests {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, file)
	}
	require.NotEmpty(t, files)
	return files
}
