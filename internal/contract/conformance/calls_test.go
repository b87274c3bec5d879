package conformance

import (
	"cmp"
	"context"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream"
)

// run is what a call of the client is made with.
type run struct {
	ctx    context.Context
	client *quickstream.Client
	*values
	// agreement and transaction are as they were read before.
	agreement   *quickstream.Agreement
	transaction *quickstream.Transaction
}

// clientCall is one way to call a method of the client.
type clientCall struct {
	method    string // of the client, such as "Transactions.Pay"
	operation string // that it is made with
	form      string // which form of it, where there are several
	do        func(*run) (any, error)
}

// id is the value of a path parameter.
func id(parameter string) string { return cmp.Or(formats[parameter], parameter+"-1") }

// choice is one value of a union, named by what makes it.
type choice[T any] struct {
	maker string
	value func(*run) T
}

// composed are the methods that make their requests through others, or none.
var composed = map[string]string{
	"Do":                       "none: it is for what has no method",
	"PayTo.Resume":             "PayTo.List",
	"PayTo.ResumeChange":       "PayTo.Get",
	"Customers.GetByNumber":    "Customers.List",
	"Transactions.AwaitReport": "Transactions.DownloadReport",
	"Transactions.Resume":      "Transactions.Get, ByReference and Refunds",
	"Transactions.Submit":      "the method that made the intent",
	"Transactions.Plan":        "nothing",
	"Transactions.PlanVoid":    "nothing",
}

// row is a row of docs/api.md: one operation, and the method that calls it.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)`(?: \\([A-Z_, ]+\\))? \\| \\w+ \\| `([^`]+)` \\|")

// clientCalls returns every way to call the client that sends a request of its own: each
// method as its types say, or in each of the forms that exclude each other.
func clientCalls(t testing.TB) []clientCall {
	t.Helper()
	page, err := os.ReadFile("../../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	calls := slices.Concat(tokenCalls(), accountCalls(), agreementCalls(), amendmentCalls(), paymentCalls(), cardOnlyCalls(), otherCalls())
	formed := map[string]bool{}
	for _, call := range calls {
		formed[call.method] = true
	}
	for _, match := range row.FindAllStringSubmatch(string(page), -1) {
		operation, method := match[1], match[2]
		if _, isComposed := composed[method]; isComposed || formed[method] {
			continue
		}
		op, ok := document(t).Operation(operation)
		if !ok {
			t.Errorf("%s: %s is not documented", method, operation)
			continue
		}
		calls = append(calls, clientCall{method, operation, "", func(r *run) (any, error) { return r.plain(op, method) }})
	}
	return calls
}

// plain calls a method with what its parameters' types say, and the operation's parameters
// in their order.
func (r *run) plain(op *Operation, method string) (any, error) {
	service, name, grouped := strings.Cut(method, ".")
	at := reflect.ValueOf(r.client)
	if grouped {
		at = at.Elem().FieldByName(service)
	} else {
		name = service
	}
	call := at.MethodByName(name)
	parameters := slices.DeleteFunc(slices.Clone(op.Parameters), func(p Parameter) bool { return p.In == "header" })
	next := func() string {
		if len(parameters) == 0 {
			return formats["CardNumber"] // of a body
		}
		name := parameters[0].Name
		parameters = parameters[1:]
		return id(name)
	}
	var args []reflect.Value
	for i := range call.Type().NumIn() - 1 { // without the options
		switch kind := call.Type().In(i); kind {
		case reflect.TypeFor[context.Context]():
			args = append(args, reflect.ValueOf(r.ctx))
		case reflect.TypeFor[io.Writer]():
			args = append(args, reflect.ValueOf(io.Discard))
		case reflect.TypeFor[string]():
			args = append(args, reflect.ValueOf(next()))
		case reflect.TypeFor[quickstream.Secret]():
			args = append(args, reflect.ValueOf(quickstream.NewSecret(next())))
		default:
			params := reflect.New(kind).Elem()
			r.set(params, place{path: kind.Name()})
			args = append(args, params)
		}
	}
	return r.result(call.Call(args)...)
}

// result is what a method returned; of a list its pages.
func (r *run) result(out ...reflect.Value) (any, error) {
	if list := out[0].MethodByName("Pages"); list.IsValid() {
		var pages []any
		for page, err := range list.Call([]reflect.Value{reflect.ValueOf(r.ctx)})[0].Seq2() {
			if !err.IsNil() {
				return nil, err.Interface().(error)
			}
			pages = append(pages, page.Interface())
		}
		return pages, nil
	}
	err, _ := out[len(out)-1].Interface().(error)
	if len(out) == 1 {
		return nil, err
	}
	return out[0].Interface(), err
}

// withoutWallet is a card for what does not take the number of a wallet.
func withoutWallet(d *quickstream.CardDetails) {
	d.WalletProvider, d.Cryptogram = "", quickstream.Secret{}
}

func tokenAccounts() []choice[quickstream.TokenAccount] {
	return []choice[quickstream.TokenAccount]{
		{"CardDetails", func(r *run) quickstream.TokenAccount { return fill(r.values, withoutWallet) }},
		{"BankAccountDetails", func(r *run) quickstream.TokenAccount { return fill[quickstream.BankAccountDetails](r.values) }},
		{"NZBankAccountDetails", func(r *run) quickstream.TokenAccount { return fill[quickstream.NZBankAccountDetails](r.values) }},
	}
}

func tokenCalls() []clientCall {
	var calls []clientCall
	for _, account := range tokenAccounts() {
		calls = append(calls, clientCall{"SingleUseTokens.Create", "POST /single-use-tokens", account.maker, func(r *run) (any, error) {
			return r.client.SingleUseTokens.Create(r.ctx, fill(r.values, func(p *quickstream.CreateSingleUseTokenParams) {
				p.Account = account.value(r)
				if account.maker != "CardDetails" {
					p.ThreeDS = nil
				}
			}))
		}})
	}
	return calls
}

func accountCalls() []clientCall {
	var calls []clientCall
	for name, only := range map[string]func(p, all *quickstream.RegisterAccountParams){
		"FromSingleUseToken": func(p, all *quickstream.RegisterAccountParams) { p.SingleUseTokenID = all.SingleUseTokenID },
		"of a receipt":       func(p, all *quickstream.RegisterAccountParams) { p.ReceiptNumber = all.ReceiptNumber },
		"a card":             func(p, all *quickstream.RegisterAccountParams) { p.Card = all.Card },
		"a bank account":     func(p, all *quickstream.RegisterAccountParams) { p.BankAccount = all.BankAccount },
		"an NZ bank account": func(p, all *quickstream.RegisterAccountParams) { p.NZBankAccount = all.NZBankAccount },
	} {
		calls = append(calls, clientCall{"Accounts.Register", "POST /customers/{customerId}/accounts", name, func(r *run) (any, error) {
			return r.client.Accounts.Register(r.ctx, id("customerId"), fill(r.values, func(p *quickstream.RegisterAccountParams) {
				all := *p
				all.Card.Cryptogram = quickstream.Secret{} // which only payments take
				*p = quickstream.RegisterAccountParams{ThreeDS2: authenticated(name)}
				only(p, &all)
			}))
		}})
	}
	return append(calls, clientCall{"Accounts.RegisterWithoutCustomer", "POST /accounts", "", func(r *run) (any, error) {
		return r.client.Accounts.RegisterWithoutCustomer(r.ctx, id("singleUseTokenId"), quickstream.WithExtraField("threeDS2", true))
	}})
}

// otherCalls are those of methods with parameters that have to fit something.
func otherCalls() []clientCall {
	return []clientCall{
		{"PayIDs.Register", "POST /customers/{customerId}/payids", "", func(r *run) (any, error) {
			return nil, r.client.PayIDs.Register(r.ctx, id("customerId"), fill(r.values, func(p *quickstream.RegisterPayIDParams) {
				p.Use = quickstream.PayIDUseSingle // of which an amount is
			}))
		}},
		{"PaymentFiles.Upload", "POST /payment-files", "", func(r *run) (any, error) {
			return r.client.PaymentFiles.Upload(r.ctx, fill(r.values, func(p *quickstream.UploadPaymentFileParams) {
				p.Content, p.Size = strings.NewReader("content"), int64(len("content"))
			}))
		}},
		{"Transactions.DownloadReport", "GET /transactions/csv", "", func(r *run) (any, error) {
			return r.client.Transactions.DownloadReport(r.ctx, io.Discard, fill(r.values, func(p *quickstream.ReportParams) {
				p.TransactionStatus = quickstream.TransactionStatusApproved
			}))
		}},
		{"Transactions.Suspended", "GET /transactions/suspended", "", func(r *run) (any, error) {
			return r.result(reflect.ValueOf(r.client.Transactions.Suspended(fill(r.values, func(p *quickstream.MonthParams) {
				now := time.Now().UTC() // never a month ahead of Sydney
				p.Month = quickstream.YearMonth{Year: now.Year(), Month: now.Month()}
			}))))
		}},
	}
}
