package quickstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// ruleCase holds two requests, as changes of a valid one; nil is no change. The first keeps a rule
// as closely to its boundary as possible. The second breaks that rule and no other.
type ruleCase[T any] struct {
	rule string
	pass func(*T)
	fail func(*T)
}

// ruleTable holds the cases of a request type.
type ruleTable[T any] struct {
	// send passes a request to its method.
	send  func(*Client, T, ...CallOption) (any, error)
	valid func() T
	cases []ruleCase[T]
	// wire is the body of the request. elsewhere has the paths of rules that are not members of it:
	// parameters of the address, and members that it must not have.
	wire      any
	elsewhere []string
}

type tested interface {
	problems() []string
	// refusals returns the errors of the failing requests of the cases.
	refusals() []error
}

// ruleTables are the tables of all request types.
func ruleTables() map[string]tested {
	return map[string]tested{
		"SingleUseTokens.Create":       singleUseTokenTable(),
		"SingleUseTokens.Authenticate": threeDSTable(),
		"Accounts.Register":            accountRegisterTable(),
		"Customers.Create":             customerCreateTable(),
		"PayIDs.Register":              payIDTable(),

		"Transactions.Pay":                    payTable(),
		"Transactions.Preauthorise":           preauthoriseTable(),
		"Transactions.VerifyAccount":          verifyAccountTable(),
		"Transactions.TopUp":                  topUpTable(),
		"Transactions.Reauthorise":            reauthoriseTable(),
		"Transactions.Extend":                 extendTable(),
		"Transactions.Capture":                captureTable(),
		"Transactions.CancelPreauthorisation": cancelPreauthorisationTable(),
		"Transactions.Refund":                 refundTable(),

		"PayTo.Collect":            collectTable(),
		"PayTo.Create":             agreementCreateTable(),
		"PayTo.Suspend and others": statusAmendmentTable(),
		"PayTo.AmendUnilaterally":  unilateralAmendmentTable(),
		"PayTo.AmendBilaterally":   bilateralAmendmentTable(),

		"PaymentFiles.Upload": paymentFileUploadTable(),

		"Businesses.CardScheme": cardSchemeTable(),

		"Transactions.DownloadReport":   transactionReportTable(),
		"Transactions.ByReference":      referenceQueryTable(),
		"Transactions.BySettlementDate": settlementDateQueryTable(),
		"Transactions.ByAccount":        accountTokenQueryTable(),
		"Transactions.ByCreditCard":     creditCardQueryTable(),
		"Transactions.ByBankAccount":    bankAccountQueryTable(),
		"Transactions.ByNZBankAccount":  nzBankAccountQueryTable(),
		"Transactions.Suspended":        suspendedListTable(),
		"Transactions.OpenPreauths":     openPreauthListTable(),
		"Transactions.Returned":         returnedListTable(),
	}
}

// TestRules checks every rule of every request type with its cases. It runs in a bubble, whose
// clock begins with the year 2000.
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

func (table ruleTable[T]) refusals() []error {
	var errs []error
	for _, c := range table.cases {
		errs = append(errs, table.judge(table.changed(c.fail)))
	}
	return errs
}

// problems returns the errors in the rules of a request type.
func (table ruleTable[T]) problems() []string {
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }

	if broken := table.breaks(table.valid()); len(broken) > 0 {
		add("the valid request breaks %v", broken)
	}
	for i, c := range table.cases {
		if broken := table.breaks(table.changed(c.pass)); len(broken) > 0 {
			add("%s: the passing value of case %d breaks %v", c.rule, i, broken)
		}
		failing := table.changed(c.fail)
		if broken := table.breaks(failing); !slices.Equal(broken, []string{c.rule}) {
			add("%s: the failing value of case %d breaks %v", c.rule, i, broken)
		}
		if broken := table.breaks(failing, c.rule); len(broken) > 0 {
			add("%s: without the rule case %d breaks %v", c.rule, i, broken)
		}
	}
	return found
}

func (table ruleTable[T]) changed(change func(*T)) T {
	request := table.valid()
	if change != nil {
		change(&request)
	}
	return request
}

// breaks returns the findings of a request, with some rules switched off, in order, each followed
// by any error in it. A request without findings has to reach the service, unless a rule that would
// have stopped it is switched off.
func (table ruleTable[T]) breaks(request T, without ...string) []string {
	err := table.judge(request, without...)
	invalid, ok := errors.AsType[*ValidationError](err)
	if !ok {
		if _, answered := errors.AsType[*APIError](err); !answered && len(without) == 0 {
			return []string{fmt.Sprintf("nothing and does not reach the service: %v", err)}
		}
		return nil
	}
	members := map[string]bool{}
	if table.wire != nil {
		members = memberPaths(reflect.TypeOf(table.wire), "")
	}
	var ids []string
	for i, f := range invalid.Findings {
		ids = append(ids, f.Rule)
		if !members[f.Path] && !slices.Contains(table.elsewhere, f.Path) && !strings.HasPrefix(f.Path, "(") {
			ids = append(ids, f.Path+" is not a member of the request")
		}
		if f.Rule == "" || f.Path == "" || f.Message == "" || strings.ContainsAny(f.Message, "%\n") {
			ids = append(ids, f.Rule+" lacks an id, a path or a plain message")
		}
		if slices.Contains(invalid.Findings[:i], f) {
			ids = append(ids, f.Rule+" is found twice")
		}
	}
	for _, value := range canaries() {
		if strings.Contains(err.Error(), value) {
			ids = append(ids, invalid.Findings[0].Rule+" or another shows a value")
		}
	}
	return ids
}

// judge gives a request to a client whose service refuses everything.
func (table ruleTable[T]) judge(request T, without ...string) error {
	client, err := NewClient(CustomURL("https://api.invalid"), Keys{Secret: NewSecretKey("S"), Publishable: NewPublishableKey("P")}, WithHTTPClient(&http.Client{Transport: refusing{}}))
	if err != nil {
		return err
	}
	_, err = table.send(client, request, WithoutRule(without...))
	return err
}

// refusing is a service that refuses everything.
type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) {
	body := io.NopCloser(strings.NewReader(`{"developerMessage":"No."}`))
	return &http.Response{StatusCode: http.StatusUnprocessableEntity, Body: body}, nil
}

// sends returns a function that passes requests to a method of the transactions.
func sends[T any](method func(*TransactionsService, context.Context, T, ...CallOption) (*Transaction, error)) func(*Client, T, ...CallOption) (any, error) {
	return func(c *Client, request T, opts ...CallOption) (any, error) {
		return method(c.Transactions, context.Background(), request, opts...)
	}
}

// reading returns a function that asks a list of transactions for its first item.
func reading[T any](list func(*TransactionsService, T, ...CallOption) List[Transaction]) func(*Client, T, ...CallOption) (any, error) {
	return func(c *Client, query T, opts ...CallOption) (any, error) {
		return list(c.Transactions, query, opts...).First(context.Background())
	}
}

// memberPaths returns the members of a wire struct and of the structs in it, in
// the service's names.
func memberPaths(t reflect.Type, prefix string) map[string]bool {
	paths := map[string]bool{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(cmp.Or(field.Tag.Get("json"), field.Tag.Get("url")), ",")
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "" && inner.Kind() == reflect.Struct: // whose members stand among the others
			maps.Copy(paths, memberPaths(inner, prefix+field.Tag.Get("prefix")))
			continue
		case name == "" && t == reflect.TypeFor[ThreeDSAddress]():
			name = field.Name
		case name == "" || name == "-":
			continue
		}
		paths[prefix+name] = true
		if inner.Kind() == reflect.Struct {
			maps.Copy(paths, memberPaths(inner, prefix+name+"."))
		}
	}
	return paths
}

// canaries are values in the requests of the cases that no text may show.
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

// set is the change that puts a value into a field.
func set[T, V any](field func(*T) *V, value V) func(*T) {
	return func(request *T) { *field(request) = value }
}

// all makes several changes.
func all[T any](changes ...func(*T)) func(*T) {
	return func(request *T) {
		for _, change := range changes {
			change(request)
		}
	}
}

// member is a field that request types share, by its name.
func member[T, V any](name string) func(*T) *V {
	return func(request *T) *V {
		return reflect.ValueOf(request).Elem().FieldByName(name).Addr().Interface().(*V)
	}
}

// digitRows are the cases of a text of so many digits.
func digitRows[T any, S ~string](rule string, shortest, longest int, field func(*T) *S) []ruleCase[T] {
	of := func(digit string, n int, more string) func(*T) { return set(field, S(strings.Repeat(digit, n)+more)) }
	return []ruleCase[T]{
		{rule: rule, pass: of("0", shortest, ""), fail: of("0", shortest-1, "")},
		{rule: rule, pass: of("9", longest, ""), fail: of("9", longest+1, "")},
		{rule: rule, pass: of("1", shortest, ""), fail: of("1", shortest-1, "x")},
	}
}

// letters is a text of n characters, each of two bytes.
func letters(n int) string { return strings.Repeat("é", n) }

// ascii is a text of n characters of one byte.
func ascii(n int) string { return strings.Repeat("x", n) }

func paymentFileUploadTable() ruleTable[UploadPaymentFileParams] {
	type params = UploadPaymentFileParams
	name := func(p *params) *string { return &p.FileName }
	size := func(p *params) *int64 { return &p.Size }
	cases := []ruleCase[params]{
		{rule: "paymentFile.fileName", pass: set(name, ascii(256)), fail: set(name, "")},
		{rule: "paymentFile.fileName", pass: set(name, "a b.csv"), fail: set(name, "a\rb")},
		{rule: "paymentFile.fileName", pass: set(name, `"löhne" 7月.csv`), fail: set(name, "a\x00")},
		{rule: "paymentFile.format.required", pass: func(p *params) { p.Format = "NEW" }, fail: func(p *params) { p.Format = "" }},
		{rule: "paymentFile.content.required", fail: func(p *params) { p.Content = nil }},
		{rule: "paymentFile.size.positive", pass: set(size, 1), fail: set(size, 0)},
		{rule: "paymentFile.size.positive", pass: set(size, 1), fail: set(size, -1)},
	}
	for _, bad := range []string{".", "..", "a/b", `a\b`, "../a.csv", "a\"\r\nX-Evil: 1\r\nX: \"", "é\xff", "a\nb", "a\x7f", "a\u0085"} {
		cases = append(cases, ruleCase[params]{rule: "paymentFile.fileName", pass: set(name, "..."), fail: set(name, bad)})
	}
	return ruleTable[params]{
		send: func(c *Client, p params, opts ...CallOption) (any, error) {
			return c.PaymentFiles.Upload(context.Background(), p, opts...)
		},
		wire: struct {
			File   string `json:"file"`
			Format string `json:"format"`
		}{},
		valid: func() params {
			return params{FileName: "payments-1.csv", Format: PaymentFileFormatCSV2, Content: strings.NewReader("H"), Size: 1}
		},
		cases: cases,
	}
}
