package clienttest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// modulePath is the module that is tested.
const modulePath = "github.com/quickstream-go/quickstream"

// baseURL is where a client of a service leads; nothing is there.
const baseURL = "https://api.invalid/rest/v1"

// service answers requests in place of the real one.
type service func(*http.Request) (*http.Response, error)

func (s service) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

// says returns a service that answers everything alike.
func says(status int, body string) service {
	return func(*http.Request) (*http.Response, error) { return answer(status, body), nil }
}

func answer(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

func testKeys() quickstream.Keys {
	return quickstream.Keys{Secret: quickstream.NewSecretKey("SECRET_KEY_1"), Publishable: quickstream.NewPublishableKey("PUBLISHABLE_KEY_1")}
}

// clientOf returns a client that sends to a service.
func clientOf(t testing.TB, s service, opts ...quickstream.ClientOption) *quickstream.Client {
	t.Helper()
	opts = append([]quickstream.ClientOption{quickstream.WithHTTPClient(&http.Client{Transport: s})}, opts...)
	client, err := quickstream.NewClient(quickstream.CustomURL(baseURL), testKeys(), opts...)
	require.NoError(t, err)
	return client
}

// operation is an exported method of a client or of one of its services. Its
// call returns what the method does: an object or nil, and an error. A list is
// asked for its first item.
type operation struct {
	name   string // as in errors, such as "Transactions.Pay"
	method func(*quickstream.Client) reflect.Value
}

// operations finds every operation by itself, so that none is forgotten. An
// operation with a parameter of a new type needs a valid value in validArguments.
func operations() []operation {
	var found []operation
	client := reflect.TypeFor[quickstream.Client]()
	for i := range client.NumField() {
		if field := client.Field(i); field.IsExported() {
			for j := range field.Type.NumMethod() {
				if ofIntents(field.Type.Method(j).Name) {
					continue
				}
				found = append(found, operation{field.Name + "." + field.Type.Method(j).Name, func(c *quickstream.Client) reflect.Value {
					return reflect.ValueOf(c).Elem().Field(i).Method(j)
				}})
			}
		}
	}
	return append(
		found,
		operation{"Root", func(c *quickstream.Client) reflect.Value { return reflect.ValueOf(c.Root) }},
		operation{"Check", func(c *quickstream.Client) reflect.Value { return reflect.ValueOf(c.Check) }},
		operation{"Do", func(c *quickstream.Client) reflect.Value {
			return reflect.ValueOf(func(ctx context.Context, r quickstream.Request, opts ...quickstream.CallOption) error {
				return c.Do(ctx, r, new(map[string]any), opts...)
			})
		}},
	)
}

// ofIntents reports whether a method is about stored intents: it makes no request, or
// those of other operations, and has tests of its own.
func ofIntents(method string) bool {
	return strings.HasPrefix(method, "Plan") || strings.HasPrefix(method, "Resume") || method == "Submit"
}

// making is the operation that makes a transaction of parameters.
func making(t *testing.T, params quickstream.TransactionParams) operation {
	t.Helper()
	for _, op := range operations() {
		if quickstream.Operation(op.name).IsTransaction() && op.method(new(quickstream.Client)).Type().In(1) == reflect.TypeOf(params) {
			return op
		}
	}
	t.Fatalf("nothing makes %T", params)
	return operation{}
}

var errNotTaken = errors.New("the operation does not take these parameters")

// call calls the operation with valid arguments and id for its identifiers.
func (op operation) call(ctx context.Context, c *quickstream.Client, id string, opts ...quickstream.CallOption) (any, error) {
	return op.callWith(ctx, c, id, reflect.Value{}, opts...)
}

// callWith replaces the argument that has the type of params.
func (op operation) callWith(ctx context.Context, c *quickstream.Client, id string, params reflect.Value, opts ...quickstream.CallOption) (any, error) {
	out, err := op.results(ctx, c, id, params, opts)
	if err != nil {
		return nil, err
	}
	if first := out[0].MethodByName("First"); first.IsValid() { // a list
		out = first.Call([]reflect.Value{reflect.ValueOf(ctx)})
	}
	err, _ = out[len(out)-1].Interface().(error)
	if len(out) == 1 || out[0].IsZero() {
		return nil, err
	}
	return out[0].Interface(), err
}

// results returns what the method does.
func (op operation) results(ctx context.Context, c *quickstream.Client, id string, params reflect.Value, opts []quickstream.CallOption) ([]reflect.Value, error) {
	method, digits, taken := op.method(c), digitArguments[op.name], !params.IsValid()
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		var arg any
		switch of := method.Type().In(i); {
		case of == reflect.TypeFor[context.Context]():
			arg = ctx
		case of == reflect.TypeFor[[]quickstream.CallOption]():
			arg = opts
		case params.IsValid() && of == params.Type():
			arg, taken = params.Interface(), true
		case len(digits) > 0 && of.Kind() == reflect.String:
			arg, digits = digits[0], digits[1:]
		case of == reflect.TypeFor[quickstream.Secret]() && op.name == "Businesses.QueryCardSurcharge":
			arg = approvedCard().CardNumber
		default:
			arg = validArguments(id)[of]
			if arg == nil {
				return nil, fmt.Errorf("%s: validArguments has no %s", op.name, of)
			}
		}
		in = append(in, reflect.ValueOf(arg))
	}
	if !taken {
		return nil, errNotTaken
	}
	return method.CallSlice(in), nil
}

// digitArguments are texts that have to be digits.
var digitArguments = map[string][]string{
	"Transactions.ByCreditCard":    {"411111", "111"},
	"Transactions.ByNZBankAccount": {"01", "0001"},
	"Businesses.CardScheme":        {"424242"},
}

// validArguments holds a valid value for every type of parameter.
func validArguments(id string) map[reflect.Type]any {
	agreement := &quickstream.Agreement{
		AgreementToken: id, Status: quickstream.AgreementStatusActive,
		PaymentDetails: &quickstream.AgreementPaymentDetails{AutomaticRenewal: true},
		PaymentTerms:   &quickstream.AgreementTerms{Frequency: quickstream.AgreementFrequencyWeekly, Type: quickstream.AgreementTypeVariable},
		PayeeDetails:   &quickstream.AgreementPayee{SupplierBusinessCode: "SHOP"},
	}
	details, _ := agreement.Details() // nil, as the terms are, without an id
	terms, _ := agreement.Terms()
	ten := decimal.New(1050, -2)
	stored := &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual}
	pay := payment()
	values := []any{
		id, quickstream.NewSecret("9999940"),
		quickstream.Date{Year: 2026, Month: time.March, Day: 2},
		agreement, pay, payToPayment("A-1", "10.50"),

		quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Ann"},
		quickstream.ListCustomersParams{},
		quickstream.RegisterPayIDParams{SupplierBusinessCode: "SHOP", PayID: quickstream.NewSecret("pay@example.com"), Use: quickstream.PayIDUseStatic},
		quickstream.UpdateCustomerParams{CustomerName: new("Bob")},
		quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: "SHOP", Account: approvedCard()},
		quickstream.RefundParams{OriginalReceiptNumber: "R-1", PrincipalAmount: ten, Currency: "AUD"},
		quickstream.PreauthoriseParams{
			SupplierBusinessCode: "SHOP", Source: quickstream.FromCard(approvedCard()), PrincipalAmount: ten, Currency: "AUD",
			ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), StoredCredential: stored,
		},
		quickstream.VerifyAccountParams{
			SupplierBusinessCode: "SHOP", Source: quickstream.FromCard(approvedCard()),
			ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), StoredCredential: stored,
		},
		quickstream.TopUpParams{OriginalReceiptNumber: "R-1", PrincipalAmount: ten, Currency: "AUD"},
		quickstream.ReauthoriseParams{OriginalReceiptNumber: "R-1", PrincipalAmount: ten, Currency: "AUD"},
		quickstream.ExtendParams{OriginalReceiptNumber: "R-1", Currency: "AUD"},
		quickstream.CaptureParams{OriginalReceiptNumber: "R-1", PrincipalAmount: ten, Currency: "AUD", StoredCredential: stored},
		quickstream.CancelPreauthorisationParams{OriginalReceiptNumber: "R-1", Type: quickstream.CancellationTypeFull, PrincipalAmount: ten, Currency: "AUD"},
		quickstream.ListTransactionsParams{},
		quickstream.ListAgreementsParams{},
		quickstream.MonthParams{SupplierBusinessCode: "SHOP", Month: thisMonth()},
		quickstream.ReturnedParams{Date: quickstream.Date{Year: 2026, Month: time.March, Day: 2}},
		quickstream.CreateAgreementParams{
			SupplierBusinessCode: "SHOP", PayeeReference: "PAYEE-1",
			Payment: quickstream.AgreementPaymentDetails{
				Purpose: quickstream.AgreementPurposeRetail, Description: "Goods", StartDate: quickstream.Date{Year: 2026, Month: time.March, Day: 2}, AutomaticRenewal: true,
			},
			Terms: quickstream.AgreementTermsParams{Frequency: quickstream.AgreementFrequencyWeekly, Type: quickstream.AgreementTypeVariable},
			Payer: quickstream.AgreementPayerParams{
				Type: quickstream.PayerTypePerson, ID: "PAYER-1", Name: "Ann", PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret("ann@example.com"),
			},
		},
		quickstream.AgreementStatusActive,
		quickstream.ReportParams{SettlementDate: quickstream.Date{Year: 2026, Month: time.March, Day: 2}},
		time.Minute,
		quickstream.RegisterAccountParams{ReceiptNumber: "R-1"},
		quickstream.UploadPaymentFileParams{FileName: "payments.txt", Format: "DEC", Content: strings.NewReader("x"), Size: 1},
		quickstream.AuthenticateParams{MessageCategory: quickstream.ThreeDSMessageCategoryStoring, Purpose: quickstream.ThreeDSPurposeAddCard},
		quickstream.AgreementReason{Code: quickstream.AgreementReasonInitiatingParty},
		details, terms,
		quickstream.Request{Method: "POST", Route: "/customers/{customerId}/notes", Path: []string{id}, Body: map[string]any{"note": callCard}},
	}
	byType := map[reflect.Type]any{reflect.TypeFor[io.Writer](): io.Discard}
	for _, value := range values {
		byType[reflect.TypeOf(value)] = value
	}
	return byType
}

// thisMonth is a month that is neither past nor to come in any time zone.
func thisMonth() quickstream.YearMonth {
	now := time.Now()
	return quickstream.YearMonth{Year: now.Year(), Month: now.Month()}
}

// TestOperations: with these arguments every operation gets as far as the
// service, which the tests that go through all operations rely on.
func TestOperations(t *testing.T) {
	all := operations()
	require.Greater(t, len(all), 40)
	for _, op := range all {
		sent := 0
		client := clientOf(t, func(*http.Request) (*http.Response, error) {
			sent++
			return answer(422, errorBody), nil
		})
		_, err := op.call(t.Context(), client, "ID-1")
		refused, ok := errors.AsType[*quickstream.APIError](err)
		require.True(t, ok, "%s: %v", op.name, err)
		require.Equal(t, 1, sent, op.name)
		require.NotEmpty(t, refused.Operation)
	}
}
