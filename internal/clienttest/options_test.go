package clienttest_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

func TestRefusedOptions(t *testing.T) {
	env := quickstream.CustomURL(baseURL)
	proxy := quickstream.WithProxy(http.ProxyFromEnvironment)
	ownTransport := quickstream.WithHTTPClient(&http.Client{Transport: &http.Transport{}})
	for name, opts := range map[string][]quickstream.ClientOption{
		"nil":                      {nil},
		"wrong of several":         {quickstream.WithMaxAttempts(2), quickstream.WithMaxAttempts(0)},
		"nil client":               {quickstream.WithHTTPClient(nil)},
		"nil clock":                {quickstream.WithClock(nil)},
		"nil source":               {quickstream.WithKeySource(nil)},
		"keys twice":               {quickstream.WithKeySource(func(context.Context) (quickstream.Keys, error) { return testKeys(), nil })},
		"proxy and own transport":  {proxy, ownTransport},
		"own transport and proxy":  {ownTransport, proxy},
		"roots and own transport":  {quickstream.WithRootCAs(x509.NewCertPool()), ownTransport},
		"attempt timeout":          {quickstream.WithAttemptTimeout(0)},
		"negative attempt timeout": {quickstream.WithAttemptTimeout(-1)},
		"timeout":                  {quickstream.WithTimeout(0)},
		"no attempts":              {quickstream.WithMaxAttempts(0)},
		"too many attempts":        {quickstream.WithMaxAttempts(11)},
		"wait":                     {quickstream.WithRetryWait(0, 1)},
		"wait out of order":        {quickstream.WithRetryWait(2, 1)},
	} {
		client, err := quickstream.NewClient(env, testKeys(), opts...)
		assert.Error(t, err, name)
		assert.Nil(t, client, name)
	}
	for name, opts := range map[string][]quickstream.ClientOption{
		"proxy":                {proxy},
		"proxy and own client": {proxy, quickstream.WithHTTPClient(&http.Client{Timeout: time.Minute})},
		"roots and own client": {quickstream.WithHTTPClient(&http.Client{}), quickstream.WithRootCAs(x509.NewCertPool())},
		"nothing of anything":  {quickstream.WithLogger(nil), quickstream.WithProxy(nil), quickstream.WithRootCAs(nil), quickstream.WithObserver(quickstream.Observer{})},
	} {
		_, err := quickstream.NewClient(env, testKeys(), opts...)
		assert.NoError(t, err, name)
	}

	// The same for calls, by every operation.
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was sent", r.URL)
		return answer(422, errorBody), nil
	})
	for name, opt := range map[string]quickstream.CallOption{
		"nil": nil, "timeout": quickstream.WithTimeout(0), "response": quickstream.WithResponseInto(nil), "key": quickstream.WithIdempotencyKey(""),
		"header": quickstream.WithHeader("", ""), "extra": quickstream.WithExtraField("", 1), "hook": quickstream.WithBeforeSend(nil), "metadata": quickstream.WithIntentMetadata("a b"), "business": quickstream.WithSupplierBusinessCode(""),
	} {
		for _, op := range operations() {
			result, err := op.call(t.Context(), client, "ID-1", opt)
			assert.Error(t, err, "%s, %s", op.name, name)
			assert.Nil(t, result)
		}
	}
}

// TestOptions: options are applied in their order, and a call's after the client's.
func TestOptions(t *testing.T) {
	nine, header, once := quickstream.WithMaxAttempts(9), quickstream.WithHeader("X-Own", "a"), quickstream.WithMaxAttempts(1)
	var seen http.Header
	attempts := 0
	count := func(r *http.Request) (*http.Response, error) {
		attempts, seen = attempts+1, r.Header
		return answer(500, ""), nil
	}
	call := func(client *quickstream.Client, opts ...quickstream.CallOption) {
		attempts = 0
		_, err := client.Customers.Get(t.Context(), "ID-1", opts...)
		require.Error(t, err)
		assert.Equal(t, 1, attempts)
		assert.Equal(t, "a", seen.Get("X-Own"))
	}
	call(clientOf(t, count, nine, header, once))
	call(clientOf(t, count), nine, header, once)
	call(clientOf(t, count, nine, header), once)
}

// TestWithHeader: what the client itself decides cannot be decided by a header.
func TestWithHeader(t *testing.T) {
	for name, value := range map[string]string{
		"": "x", "Authorization": "x", "authorization": "x", "AUTHORIZATION": "x", "Idempotency-Key": "x", "idempotency-key": "x", "Content-Type": "x",
		"content-length": "1", "Host": "evil.invalid", "Accept": "x", "Transfer-Encoding": "chunked", "Connection": "close", "Prevent-CSRF": "x",
		// net/http repeats a POST by itself that carries this one.
		"X-Idempotency-Key": "x",
		// A caller's own value stops net/http from decompressing the answer.
		"Accept-Encoding": "gzip",
		"X Own":           "x", "X-Own:": "x", "X-Own\n": "x", "X-Öwn": "x", "X(Own)": "x", "Authorization:": "x", "X-Own\x00": "x", "X/Own": "x", `X"`: "x",
	} {
		_, err := quickstream.NewClient(quickstream.CustomURL(baseURL), testKeys(), quickstream.WithHeader(name, value))
		assert.Error(t, err, "%q: %q", name, value)
	}
	var seen http.Header
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		seen = r.Header
		return answer(422, errorBody), nil
	}, quickstream.WithHeader("x-own", "client"), quickstream.WithHeader("X-Other", ""))
	for range 2 { // a call's header is not the next call's
		_, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithHeader("X-Own", "a b"), quickstream.WithHeader("Traceparent", "00-x"))
		require.ErrorIs(t, err, quickstream.ErrInvalid)
		assert.Equal(t, []string{"client", "a b"}, seen.Values("X-Own"))
		assert.Equal(t, []string{""}, seen.Values("X-Other"))
		assert.Equal(t, "00-x", seen.Get("Traceparent"))
	}
	err := client.Check(t.Context())
	require.Error(t, err)
	assert.Equal(t, []string{"client"}, seen.Values("X-Own"))
}

// TestWithExtraField: an extra member is sent beside those of the client, and cannot be read as
// one that was checked.
func TestWithExtraField(t *testing.T) {
	pay := func(opts ...quickstream.CallOption) (map[string]any, error) {
		body, err := sentBody(t, func(c *quickstream.Client, opts ...quickstream.CallOption) error {
			return second(c.Transactions.Pay(t.Context(), payment(), opts...))
		}, opts...)
		if errors.Is(err, errNothingSent) {
			return nil, err
		}
		return decodedTree(t, []byte(body)), err
	}
	sent, err := pay(quickstream.WithExtraField("newMember", []int{1}), quickstream.WithExtraField("creditCard.newMember", map[string]any{"a": nil}),
		quickstream.WithExtraField("new.deep.member", "<&>"), quickstream.WithExtraField("new.deep.other", true), quickstream.WithExtraField("newObject.NEW", 1))
	require.ErrorIs(t, err, quickstream.ErrInvalid)
	assert.Equal(t, []any{json.Number("1")}, sent["newMember"])
	assert.Equal(t, map[string]any{"a": nil}, sent["creditCard"].(map[string]any)["newMember"])
	assert.Equal(t, map[string]any{"deep": map[string]any{"member": "<&>", "other": true}}, sent["new"])
	assert.Equal(t, json.Number("10.50"), sent["principalAmount"])

	refused := map[string]any{
		"": 1, ".": 1, "a.": 1, ".a": 1, "a..b": 1, "x": func() {}, "y": make(chan int), "z": quickstream.NewSecret("4111111111111111"),
		"principalAmount": 99, "creditCard.cardNumber": "x", "creditCard": nil, "currency.code": "AUD", "transactionType": "REFUND",
		"currency": "NZD", "customerReferenceNumber": "x", "paymentReferenceNumber": "x", "originalReceiptNumber": "x", "singleUseTokenId": "x", "accountToken": "x",
		"customerId": "x", "payToData.agreementToken": "x", "authorisationType": "x", "bankAccount.accountNumber": "x", "metadata": "x", "storedCredentialData": nil,
	}
	for _, name := range []string{
		"PRINCIPALAMOUNT", "PrincipalAmount", "principalamount", "tran\u017factionType", "CREDITCARD.cvn", "creditCard.CVN", "creditcard.new", "creditCard.cardHolderName",
		"creditCard.WalletProvider", "threeds2", "metaData.x",
	} {
		refused[name] = 1
	}
	for name, value := range refused {
		sent, err := pay(quickstream.WithExtraField(name, value))
		require.ErrorIs(t, err, quickstream.ErrNotSent, name)
		assert.Nil(t, sent, "%s was sent", name)
		assert.NotContains(t, err.Error(), "4111111111111111")
	}
	for _, name := range []string{"statusAmendment.reasonCode", "statusAmendment.reasonDescription", "bilateralAmendment.paymentTerms.currency", "updateType"} {
		sent, err := sentBody(t, func(c *quickstream.Client, opts ...quickstream.CallOption) error {
			return c.PayTo.Reactivate(t.Context(), "A-1", quickstream.AgreementReason{}, opts...)
		}, quickstream.WithExtraField(name, "MCFC"))
		require.ErrorIs(t, err, quickstream.ErrNotSent, name)
		assert.Empty(t, sent)
	}
	_, err = pay(quickstream.WithExtraField("a", 1), quickstream.WithExtraField("a", 2))
	assert.ErrorContains(t, err, "already")
	sent, err = pay(quickstream.WithExtraField("new", 1), quickstream.WithExtraField("NEW", 2))
	assert.ErrorIs(t, err, quickstream.ErrNotSent, "nor as each other")
	assert.Nil(t, sent)
	client := clientOf(t, says(422, ""))
	err = client.Do(t.Context(), quickstream.Request{Method: "POST", Route: "/notes", Body: map[string]int{"a": 1}}, nil, quickstream.WithExtraField("A", 2))
	assert.ErrorIs(t, err, quickstream.ErrNotSent)
	err = client.Check(t.Context(), quickstream.WithExtraField("a", 1))
	assert.ErrorContains(t, err, "no body of JSON")
}

// TestPlannedExtraField: an intent holds the names of extra members, and no value. Submit needs the same ones again.
func TestPlannedExtraField(t *testing.T) {
	params := payment()
	params.Source = quickstream.FromAccount("A-1", quickstream.AccountTypeCreditCard)
	intent, err := clientOf(t, gone).Transactions.Plan(t.Context(), params, quickstream.WithExtraField("new.member", "4242"))
	require.NoError(t, err)
	stored, err := json.Marshal(intent)
	require.NoError(t, err)
	assert.NotContains(t, string(stored), "4242")
	submit := func(c *quickstream.Client, opts ...quickstream.CallOption) error {
		return second(c.Transactions.Submit(t.Context(), intent, func(context.Context) error { return nil }, opts...))
	}
	for _, opts := range [][]quickstream.CallOption{nil, {quickstream.WithExtraField("new.other", "4242")}} {
		_, err := sentBody(t, submit, opts...)
		require.ErrorIs(t, err, errNothingSent)
	}
	sent, err := sentBody(t, submit, quickstream.WithExtraField("new.member", "4242"))
	require.ErrorIs(t, err, quickstream.ErrInvalid)
	assert.Contains(t, sent, `"new":{"member":"4242"}`)
}

// TestWithIdempotencyKey: a POST carries the caller's key, and what carries none
// takes none.
func TestWithIdempotencyKey(t *testing.T) {
	for _, op := range operations() {
		method, key := "", ""
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			method, key = r.Method, strings.Join(r.Header["idempotency-key"], ",") //nolint:staticcheck // not canonical on purpose
			assert.NotContains(t, r.Header, "Idempotency-Key", "under this name net/http would repeat the request")
			return answer(422, errorBody), nil
		})
		_, err := op.call(t.Context(), client, "ID-1")
		require.Error(t, err)
		assert.Equal(t, method == http.MethodPost, key != "", op.name)
		isPost := method == http.MethodPost
		method = ""
		_, err = op.call(t.Context(), client, "ID-1", quickstream.WithIdempotencyKey("my-key"))
		require.Error(t, err)
		if isPost {
			assert.Equal(t, "my-key", key, op.name)
		} else {
			assert.Empty(t, method, "%s was sent", op.name)
			assert.ErrorContains(t, err, "WithIdempotencyKey", op.name)
		}
	}
	for _, bad := range []string{"", "a b", "a\n", "é", "\x00", strings.Repeat("x", 256)} {
		_, err := clientOf(t, says(422, "")).Transactions.Pay(t.Context(), payment(), quickstream.WithIdempotencyKey(bad))
		assert.ErrorContains(t, err, "WithIdempotencyKey", "%q", bad)
	}
}

func TestWithResponseInto(t *testing.T) {
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		resp := answer(422, "")
		resp.Header.Set("X-Request-Id", "r1")
		return resp, nil
	})
	var resp quickstream.Response
	_, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithResponseInto(&resp), quickstream.WithIdempotencyKey("k"))
	require.Error(t, err)
	refused := resp
	_, err = client.Transactions.Pay(t.Context(), quickstream.PayParams{}, quickstream.WithResponseInto(&refused))
	require.ErrorIs(t, err, quickstream.ErrNotSent)
	assert.Zero(t, refused, "nothing was answered")
	assert.Equal(t, quickstream.Response{StatusCode: 422, Header: http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"r1"}}, Attempts: 1, IdempotencyKey: "k"}, resp)
	_, err = clientOf(t, func(*http.Request) (*http.Response, error) { return nil, io.EOF }).
		Transactions.Pay(t.Context(), payment(), quickstream.WithoutResend(), quickstream.WithResponseInto(&resp))
	require.Equal(t, unknown, ending(err))
	assert.Zero(t, resp.StatusCode, "nothing of the call before is left")
	assert.Nil(t, resp.Header)
}

// TestCallersClientIsNotChanged: an http.Client may serve others.
func TestCallersClientIsNotChanged(t *testing.T) {
	follow := func(*http.Request, []*http.Request) error { return nil }
	own := &http.Client{Transport: says(307, ""), CheckRedirect: follow, Timeout: time.Hour}
	before := *own
	client, err := quickstream.NewClient(quickstream.CustomURL(baseURL), testKeys(), quickstream.WithHTTPClient(own))
	require.NoError(t, err)
	_, err = client.Transactions.Pay(t.Context(), payment())
	assert.Equal(t, unknown, ending(err))
	assert.Equal(t, reflect.ValueOf(before.CheckRedirect).Pointer(), reflect.ValueOf(own.CheckRedirect).Pointer())
	assert.Equal(t, before.Timeout, own.Timeout)
	assert.Equal(t, reflect.ValueOf(before.Transport).Pointer(), reflect.ValueOf(own.Transport).Pointer())
	own.Transport = service(func(*http.Request) (*http.Response, error) { return nil, errors.New("changed later") })
	err = client.Check(t.Context())
	_, answered := errors.AsType[*quickstream.APIError](err)
	assert.True(t, answered, "the client has its own copy")
}

// TestConcurrentUse: one client, all operations, many goroutines. The race
// detector is the judge.
func TestConcurrentUse(t *testing.T) {
	var sent, answered atomic.Int64
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		sent.Add(1)
		if r.Body != nil {
			_, err := io.Copy(io.Discard, r.Body)
			assert.NoError(t, err)
		}
		return answer(422, errorBody), nil
	}, quickstream.WithHeader("X-Own", "1"), quickstream.WithoutRule("none"), quickstream.WithObserver(quickstream.Observer{
		End: func(context.Context, quickstream.CallInfo, quickstream.EndInfo) { answered.Add(1) },
	}))
	shared := client.Transactions.ByReference("REF-1", quickstream.WithHeader("X-List", "1"))
	pay := payment()
	pay.Metadata = map[string]string{"a": "b"}
	all := operations()
	var wg sync.WaitGroup
	for range 8 {
		for _, op := range all {
			wg.Go(func() {
				_, err := op.call(context.Background(), client, "ID-1", quickstream.WithHeader("X-Call", "1"), quickstream.WithoutRule("x"))
				assert.Error(t, err)
			})
		}
		wg.Go(func() {
			_, err := shared.First(context.Background())
			assert.Error(t, err)
			_, err = client.Transactions.Pay(context.Background(), pay, quickstream.WithExtraField("x", 1))
			assert.Error(t, err)
			client.CloseIdleConnections()
		})
	}
	wg.Wait()
	assert.Equal(t, int64(8*(len(all)+2)), sent.Load())
	assert.Equal(t, sent.Load(), answered.Load())
}

// TestWithSupplierBusinessCode fills in every request that has a business and was given
// none, except for transactions that follow another, and nothing else.
func TestWithSupplierBusinessCode(t *testing.T) {
	var sent *http.Request
	var body []byte
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		sent = r
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
		}
		return answer(422, errorBody), nil
	}, quickstream.WithSupplierBusinessCode("DEFAULT-1"))
	filled := map[string]bool{}
	for _, op := range operations() {
		for of, value := range validArguments("ID-1") {
			params := reflect.New(of).Elem()
			params.Set(reflect.ValueOf(value))
			has := false
			if of.Kind() == reflect.Struct {
				if field := params.FieldByName("SupplierBusinessCode"); field.IsValid() {
					has = field.Kind() == reflect.String && !params.FieldByName("OriginalReceiptNumber").IsValid()
					field.SetZero()
				}
			}
			sent, body = nil, nil
			if _, err := op.callWith(t.Context(), client, "ID-1", params); errors.Is(err, errNotTaken) || sent == nil {
				continue
			}
			assert.Equal(t, has && sent.Method == http.MethodPost, strings.Contains(string(body), `"supplierBusinessCode":"DEFAULT-1"`), op.name)
			assert.NotContains(t, sent.URL.String(), "DEFAULT-1", op.name)
			if has && sent.Method == http.MethodPost {
				filled[op.name] = true
			}
		}
	}
	assert.Equal(t, map[string]bool{
		"Transactions.Pay": true, "Transactions.Preauthorise": true, "Transactions.VerifyAccount": true,
		"PayTo.Create": true, "PayTo.Collect": true, "SingleUseTokens.Create": true, "Customers.Create": true, "PayIDs.Register": true,
	}, filled)
	_, err := quickstream.NewClient(quickstream.CustomURL(baseURL), testKeys(), quickstream.WithSupplierBusinessCode(""))
	assert.Error(t, err)
	for _, code := range []string{"A B", "é", strings.Repeat("B", 60)} { // as the parameters take it
		_, err := client.Transactions.Pay(t.Context(), bankDebit(""), quickstream.WithSupplierBusinessCode(code))
		require.ErrorIs(t, err, quickstream.ErrInvalid)
		assert.Contains(t, string(body), `"supplierBusinessCode":"`+code+`"`)
	}
}

// bankDebit is a payment from a bank account.
func bankDebit(business string) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: business, PrincipalAmount: decimal.RequireFromString("10.50"), Currency: quickstream.CurrencyAUD,
		Source: quickstream.FromBankAccount(quickstream.BankAccountDetails{AccountName: "Ann", BSB: "032999", AccountNumber: quickstream.NewSecret("999994")}),
	}
}

// A pre-authorisation takes a wallet's number without a cryptogram, and Do what no method of this package makes.
func TestNoRuleOfOurs(t *testing.T) {
	requests := 0
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		requests++
		return answer(http.StatusUnprocessableEntity, errorBody), nil
	})
	card := approvedCard()
	card.WalletProvider = quickstream.WalletProviderApplePay
	_, err := client.Transactions.Preauthorise(t.Context(), quickstream.PreauthoriseParams{
		SupplierBusinessCode: "SHOP", Source: quickstream.FromCard(card), PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIPhone,
	})
	require.NotErrorIs(t, err, quickstream.ErrNotSent)
	err = client.Do(t.Context(), quickstream.Request{Method: http.MethodDelete, Route: "/customers/{customerId}", Path: []string{"C-1"}}, nil)
	require.NotErrorIs(t, err, quickstream.ErrNotSent)
	require.Equal(t, 2, requests)
}

// Data of a gateway may hold secrets, so a payment with them cannot be planned.
func TestGatewayDataIsNotPlanned(t *testing.T) {
	pay := payment()
	pay.Source, pay.MPGSData = quickstream.FromSingleUseToken("S-1"), map[string]any{"transaction": "1"}
	_, err := clientOf(t, says(http.StatusOK, "{}")).Transactions.Plan(t.Context(), pay)
	require.Error(t, err)
}

// TestWithMetadata: each WithMetadata adds members, and replaces those of the same name.
func TestWithMetadata(t *testing.T) {
	body, err := sentBody(t, func(c *quickstream.Client, opts ...quickstream.CallOption) error {
		params := payment()
		params.Metadata = map[string]string{"a": "1", "b": "1"}
		opts = append(opts, quickstream.WithMetadata(map[string]string{"b": "2", "c": "2"}), quickstream.WithMetadata(map[string]string{"c": "3"}))
		return second(c.Transactions.Pay(t.Context(), params, opts...))
	})
	require.ErrorIs(t, err, quickstream.ErrInvalid)
	var sent struct{ Metadata map[string]string }
	require.NoError(t, json.Unmarshal([]byte(body), &sent))
	delete(sent.Metadata, "intentId")
	assert.Equal(t, map[string]string{"a": "1", "b": "2", "c": "3"}, sent.Metadata)
}
