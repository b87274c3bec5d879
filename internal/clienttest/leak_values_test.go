package clienttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/printtest"
)

// secretLink is a link whose address carries all canaries.
func secretLink() quickstream.Link {
	var link quickstream.Link
	data, _ := json.Marshal(map[string]string{"rel": "next", "href": secretAddress(), "requestMethod": "GET"})
	_ = json.Unmarshal(data, &link)
	return link
}

func secretAddress() string {
	address := "https://api.invalid/rest/v1/transactions/for-bank-account?x=1"
	for _, canary := range canaries() {
		address += "&accountNumber=" + canary
	}
	return address
}

// secretSources returns every kind of account, with canaries in all its secrets.
func secretCard() quickstream.CardDetails {
	c := canaries()
	return quickstream.CardDetails{
		CardholderName: "Ann", CardNumber: quickstream.NewSecret(c[0]), CVN: quickstream.NewSecret(c[1]), Cryptogram: quickstream.NewSecret(c[2]),
		Expiry: quickstream.YearMonth{Year: 2035, Month: time.March}, WalletProvider: quickstream.WalletProviderApplePay,
	}
}

func secretBank() quickstream.BankAccountDetails {
	return quickstream.BankAccountDetails{AccountName: "Ann", BSB: "032-999", AccountNumber: quickstream.NewSecret(canaries()[2])}
}

func secretNZBank() quickstream.NZBankAccountDetails {
	return quickstream.NZBankAccountDetails{AccountName: "Ann", BankCode: "01", AccountNumber: quickstream.NewSecret(canaries()[2])}
}

func secretPayer() quickstream.PayToPayerParams {
	return quickstream.PayToPayerParams{BSB: "032999", AccountNumber: quickstream.NewSecret(canaries()[2]), PayID: quickstream.NewSecret(canaries()[3])}
}

// variants are the values of the types that cannot be filled field by field.
func variants() map[reflect.Type][]any {
	c := canaries()
	cards := []any{quickstream.FromCard(secretCard()), quickstream.FromSingleUseToken("T-1")}
	keys := quickstream.Keys{Secret: quickstream.NewSecretKey(c[4]), Publishable: quickstream.NewPublishableKey(c[5])}
	rotate := func(context.Context) (quickstream.Keys, error) { return keys, nil }
	return map[reflect.Type][]any{
		reflect.TypeFor[quickstream.Secret]():         {quickstream.NewSecret(c[0]), quickstream.NewSecret(c[1]), quickstream.NewSecret(c[3])},
		reflect.TypeFor[quickstream.SecretKey]():      {keys.Secret},
		reflect.TypeFor[quickstream.PublishableKey](): {keys.Publishable},
		reflect.TypeFor[quickstream.Cursor]():         {quickstream.ParseCursor(secretAddress())},
		reflect.TypeFor[quickstream.Link]():           {secretLink()},
		reflect.TypeFor[quickstream.CardSource]():     cards,
		reflect.TypeFor[quickstream.AccountSource](): append([]any{
			quickstream.FromBankAccount(secretBank()), quickstream.FromNZBankAccount(secretNZBank()),
		}, cards...),
		reflect.TypeFor[quickstream.PayToSource](): {
			quickstream.FromPayToWithAgreement(quickstream.PayToPaymentWithAgreement{Payer: secretPayer()}),
			quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: "A-1"}),
		},
		reflect.TypeFor[quickstream.TokenAccount](): {secretCard(), secretBank(), secretNZBank(), quickstream.OtherAccount("NEW", map[string]any{"token": c[1]})},
		reflect.TypeFor[quickstream.RegistrationSource](): {
			quickstream.RegistrationFromCard(secretCard()), quickstream.RegistrationFromBankAccount(secretBank()), quickstream.RegistrationFromNZBankAccount(secretNZBank()),
		},
		reflect.TypeFor[quickstream.ClientOption](): {quickstream.WithKeySource(rotate), quickstream.WithHTTPClient(&http.Client{})},
		reflect.TypeFor[quickstream.CallOption]():   {quickstream.WithExtraField("cardNumber", c[0]), quickstream.WithIdempotencyKey("k")},
		reflect.TypeFor[quickstream.Option]():       {quickstream.WithoutResend()},
		reflect.TypeFor[error]():                    {errors.New("cause")},
		reflect.TypeFor[decimal.Decimal]():          {decimal.New(1050, -2)},
		reflect.TypeFor[time.Time]():                {time.Unix(1, 0)},
		reflect.TypeFor[json.RawMessage]():          {json.RawMessage(`{}`)},
	}
}

// filledValues returns values of a type that hold secrets wherever one can be.
func filledValues(t *testing.T, of reflect.Type) []any {
	t.Helper()
	if values, ok := variants()[of]; ok {
		return values
	}
	if _, ok := reflect.PointerTo(of).MethodByName("Pages"); ok || isService(of) {
		return serviceValues(t, of)
	}
	if of.Kind() == reflect.Interface {
		return nil // its values are of other types
	}
	var values []any
	for n, most := 0, 1; n < most; n++ { // with each variant of its members
		var value any
		value, most = filled(t, of, n)
		values = append(values, value)
	}
	return values
}

func isService(of reflect.Type) bool {
	client := reflect.TypeFor[quickstream.Client]()
	for i := range client.NumField() {
		if client.Field(i).Type == reflect.PointerTo(of) && client.Field(i).IsExported() {
			return true
		}
	}
	return of == client
}

// serviceValues returns clients, services and lists that were made with secrets,
// of a client that has been used.
func serviceValues(t *testing.T, of reflect.Type) []any {
	t.Helper()
	c := canaries()
	client, err := quickstream.NewClient(quickstream.CustomURL(baseURL), quickstream.Keys{
		Secret: quickstream.NewSecretKey(c[4]), Publishable: quickstream.NewPublishableKey(c[5]),
	}, quickstream.WithHTTPClient(&http.Client{Transport: says(404, "")}))
	require.NoError(t, err)
	err = client.Check(t.Context())
	require.Error(t, err)
	candidates := []any{
		client, client.Transactions.ByBankAccount("032-999", quickstream.NewSecret("9999940")).From(quickstream.ParseCursor(secretAddress())),
		client.Customers.List(quickstream.ListCustomersParams{}).From(quickstream.ParseCursor(secretAddress())),
	}
	fields := reflect.ValueOf(client).Elem()
	for i := range fields.NumField() {
		if fields.Type().Field(i).IsExported() {
			candidates = append(candidates, fields.Field(i).Interface())
		}
	}
	var values []any
	for _, candidate := range candidates {
		if is := reflect.TypeOf(candidate); is == of || is == reflect.PointerTo(of) {
			values = append(values, candidate)
		}
	}
	if values == nil { // a list of something else
		list := reflect.New(of).Elem()
		values = append(values, list.MethodByName("From").Call([]reflect.Value{reflect.ValueOf(quickstream.ParseCursor(secretAddress()))})[0].Interface())
	}
	return values
}

// filled returns a value with ordinary texts and secret secrets. Of members that
// have variants it takes the n-th, and says how many the one with the most has.
func filled(t *testing.T, of reflect.Type, n int) (any, int) {
	t.Helper()
	value := reflect.New(of)
	if value.Type().Implements(reflect.TypeFor[response]()) { // and keeps its source
		found := models(t)
		m := found[slices.IndexFunc(found, func(m model) bool { return m.of == of })]
		answered, err := m.read(strings.ReplaceAll(sample(of, "x"), "https://api.invalid/rest/v1/x", secretAddress()))
		require.NoError(t, err, of)
		value = reflect.ValueOf(answered)
	}
	most := fillSecrets(value.Elem(), n, 0)
	return value.Elem().Interface(), most
}

func fillSecrets(v reflect.Value, n, depth int) (most int) {
	if !v.CanSet() || depth > 6 {
		return 1
	}
	if values := variants()[v.Type()]; len(values) > 0 {
		v.Set(reflect.ValueOf(values[n%len(values)]))
		return len(values)
	}
	most = 1
	switch v.Kind() {
	case reflect.String:
		v.SetString("ordinary")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		most = fillSecrets(v.Elem(), n, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			most = fillSecrets(v.Index(i), n, depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		if v.Type().Elem().Kind() == reflect.String {
			v.SetMapIndex(reflect.ValueOf("own").Convert(v.Type().Key()), reflect.ValueOf("ordinary").Convert(v.Type().Elem()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			most = max(most, fillSecrets(v.Field(i), n, depth+1))
		}
	}
	return most
}

// TestAttack60DumpsOfARunningCall looks into a process in the middle of a payment: its
// goroutines and their labels show nothing of it. The naive program labels its work with what the work is about.
func TestAttack60DumpsOfARunningCall(t *testing.T) {
	arrived, done := make(chan bool), make(chan bool)
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		arrived <- true
		<-done
		return answer(422, ""), nil
	})
	go func() {
		_, err := client.Transactions.Pay(context.Background(), payment())
		assert.Error(t, err)
		arrived <- true
	}()
	<-arrived
	dumps := func() []string {
		stack := make([]byte, 1<<20)
		texts := []string{string(stack[:runtime.Stack(stack, true)])}
		for _, debug := range []int{1, 2} { // 1 shows labels
			var b bytes.Buffer
			require.NoError(t, pprof.Lookup("goroutine").WriteTo(&b, debug))
			texts = append(texts, b.String())
		}
		return texts
	}
	texts := dumps()
	pprof.Do(t.Context(), pprof.Labels("card", callCard), func(context.Context) {
		assert.NotEmpty(t, secretIn(strings.Join(dumps(), "")), "the naive program's labels show it")
	})
	close(done)
	<-arrived
	for _, text := range texts {
		assert.Contains(t, text, "TransactionsService")
		assert.Empty(t, secretIn(text))
	}
}

// TestAttack61PrintedClient prints a client that has been used, by every route: the
// buffers of its open connections hold what was sent last, and dumps in test output
// follow pointers. They must not arrive there.
func TestAttack61PrintedClient(t *testing.T) {
	client, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, approvedBody)
	}, plain)
	_, err := client.Transactions.Pay(t.Context(), payment())
	require.NoError(t, err)
	assert.False(t, leaks(client))
	assert.False(t, printtest.Reachable(client, callCard, callCard[:8], "Authorizat"), "a hex dump shows 16 characters in a line")
}
