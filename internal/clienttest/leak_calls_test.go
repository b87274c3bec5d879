package clienttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/printtest"
)

// Calls that are made with secrets and fail in every way, against a service that
// repeats everything in its answers: neither errors nor logs show any of it, nor
// a handle that the service gave out.

const (
	callCard    = "4242424242424242"
	callCVN     = "CVN-1357"
	callAccount = "9999940"
	callPayID   = "ann@example.com"
	callHandle  = "HANDLE-7f3a"
	callRef     = "REF-8b2c"
	callKey     = "IDEMPOTENCY-5d1e"
	callHeader  = "PROXY-TOKEN-6c1f"
	callEcho    = callCard + " " + callCVN + " " + callAccount + " " + callPayID + " " + callHandle + " " + callRef + " " + callHeader + " SECRET_KEY_1"
)

// secretIn returns what a text shows that it must not. Card numbers are found in part
// too, and so are queries.
func secretIn(text string) string {
	for _, secret := range []string{
		callCard, callCard[:8], callCVN, callAccount, callPayID, url.QueryEscape(callPayID), callHandle, callRef, callKey, callHeader,
		"SECRET_KEY_1", "PUBLISHABLE_KEY_1", "U0VDUkVUX0tFWV8x", "UFVCTElTSEFCTEVfS0VZXzE", "accountNumber=", "/rest/v1",
	} {
		if strings.Contains(text, secret) {
			return secret
		}
	}
	return ""
}

// echo is an error body that repeats all that was sent, the identifier of the path as the trace code too.
func echo(r *http.Request) string {
	key, _, _ := r.BasicAuth()
	trace := "TRACE-" + key
	if strings.Contains(r.URL.Path, callHandle) {
		trace = callHandle
	}
	body, _ := json.Marshal(map[string]any{
		"errors":          []any{map[string]any{"fieldName": "creditCard.cardNumber", "fieldValue": callEcho, "messages": []string{callEcho}}, map[string]any{"fieldName": callCard}, map[string]any{"fieldName": "x." + key}},
		"customerMessage": callEcho, "developerMessage": callEcho + " " + r.URL.String(), "requestUrl": r.URL.String(), "traceCode": trace,
	})
	return string(body)
}

// failures are the ways in which a service can fail and tell too much.
func failures() map[string]service {
	services := map[string]service{}
	for _, status := range []int{301, 307, 400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503} {
		services[fmt.Sprint(status)] = func(r *http.Request) (*http.Response, error) {
			resp := answer(status, echo(r))
			resp.Header.Set("Location", "https://evil.invalid/rest/v1?accountNumber="+callAccount)
			resp.Header.Set("X-Echo", callEcho)
			return resp, nil
		}
	}
	full := func(r *http.Request) string {
		return fmt.Sprintf("https://SECRET_KEY_1@api.invalid%s?accountNumber=%s", r.URL.Path, callAccount)
	}
	services["HTML"] = func(r *http.Request) (*http.Response, error) { return answer(500, "<html>"+echo(r)), nil }
	services["broken"] = func(r *http.Request) (*http.Response, error) {
		return answer(200, `{"receiptNumber":"`+callHandle+`",`+echo(r)), nil
	}
	services["wrong types"] = func(*http.Request) (*http.Response, error) {
		return answer(200, fmt.Sprintf(`{"receiptNumber":%q,"links":%q,"data":[{"links":%q}],"numberOfPaymentsPermitted":%s}`, callHandle, callEcho, callEcho, callCard)), nil
	}
	services["next elsewhere"] = func(*http.Request) (*http.Response, error) {
		return answer(200, fmt.Sprintf(`{"data":[],"links":[{"rel":"next","href":"https://evil.invalid/rest/v1?accountNumber=%s"}]}`, callAccount)), nil
	}
	for name, cause := range map[string]error{
		"lost": io.ErrUnexpectedEOF, "reset": syscall.ECONNRESET, "refused": &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		"timeout": context.DeadlineExceeded, "anything": errors.New("broken"),
	} {
		services[name] = func(r *http.Request) (*http.Response, error) {
			return nil, &url.Error{Op: "Get", URL: full(r), Err: &url.Error{Op: r.Method, URL: full(r), Err: cause}}
		}
		services[name+" in other words"] = func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("%s %s: %s: %w", r.Method, full(r), callEcho, &url.Error{Op: r.Method, URL: full(r), Err: cause})
		}
	}
	return services
}

// secretCalls are all operations, with secrets where they take any.
func secretCalls() map[string]func(context.Context, *quickstream.Client) (any, error) {
	calls := map[string]func(context.Context, *quickstream.Client) (any, error){}
	for _, op := range operations() {
		calls[op.name] = func(ctx context.Context, c *quickstream.Client) (any, error) { return op.call(ctx, c, callHandle) }
	}
	withoutRules := quickstream.WithoutRule("card.cvn.digits")
	card := approvedCard()
	card.CVN = quickstream.NewSecret(callCVN)
	calls["Transactions.Pay"] = func(ctx context.Context, c *quickstream.Client) (any, error) {
		params := payment()
		params.Source, params.PaymentReferenceNumber = quickstream.FromCard(card), callRef
		return c.Transactions.Pay(ctx, params, quickstream.WithIdempotencyKey(callKey), withoutRules)
	}
	account := quickstream.NewSecret(callAccount)
	for name, source := range map[string]quickstream.AccountSource{
		"a bank account": quickstream.FromBankAccount(quickstream.BankAccountDetails{AccountName: "Ann", BSB: "032-999", AccountNumber: account}),
		"an NZ bank account": quickstream.FromNZBankAccount(quickstream.NZBankAccountDetails{
			AccountName: "Ann", BankCode: "01", BranchCode: "0001", AccountNumber: account, AccountSuffix: "00",
		}),
	} {
		calls["Transactions.Pay from "+name] = func(ctx context.Context, c *quickstream.Client) (any, error) {
			params := payment()
			params.Source = source
			return c.Transactions.Pay(ctx, params)
		}
	}
	calls["PayTo.Collect with a new agreement"] = func(ctx context.Context, c *quickstream.Client) (any, error) {
		params := payToPayment("", "10.50")
		params.NewAgreement = &quickstream.NewAgreementParams{Payer: quickstream.AgreementPayerParams{
			BSB: "032999", AccountNumber: account, PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret(callPayID),
		}}
		return c.PayTo.Collect(ctx, params)
	}
	calls["SingleUseTokens.Create"] = func(ctx context.Context, c *quickstream.Client) (any, error) {
		return c.SingleUseTokens.Create(ctx, quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: "SHOP", Account: card}, withoutRules)
	}
	return calls
}

// everyForm prints an error, and the chain of its causes, in every form.
func everyForm(t *testing.T, err error) []string {
	t.Helper()
	forms := []string{err.Error()}
	for _, e := range []error{err, fmt.Errorf("wrapped: %w", err), errors.Join(err, io.EOF)} {
		forms = append(forms, fmt.Sprintf("%v|%+v|%#v|%s|%q|%x|%d", e, e, e, e, e, e, e))
	}
	if p := reflect.ValueOf(err); p.Kind() == reflect.Pointer && p.Type().Elem().PkgPath() == modulePath {
		forms = append(forms, fmt.Sprintf("%v|%+v|%#v", p.Elem().Interface(), p.Elem().Interface(), p.Elem().Interface()))
	}
	var logged bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&logged, nil), slog.NewJSONHandler(&logged, nil)} {
		slog.New(handler).Error("failed", "err", err, slog.Group("g", slog.Any("list", []any{err})))
	}
	forms = append(forms, logged.String())
	for _, v := range []any{err, map[string]any{"err": err}, []error{err}} {
		data, jsonErr := json.Marshal(v)
		forms = append(forms, string(data)+fmt.Sprint(jsonErr))
	}
	if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok {
		forms = append(forms, everyForm(t, lost.Cause)...)
	}
	if cause := errors.Unwrap(err); cause != nil {
		forms = append(forms, everyForm(t, cause)...)
	}
	return forms
}

// witness is all that was told while calls were made, and the contexts that it came with.
type witness struct {
	logged bytes.Buffer
	events []any
}

func (w *witness) options() []quickstream.ClientOption {
	level := &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}
	both := slog.NewMultiHandler(slog.NewTextHandler(&w.logged, level), slog.NewJSONHandler(&w.logged, level))
	told := func(ctx context.Context, event any) {
		w.events = append(w.events, fmt.Sprintf("%v %+v", ctx, ctx), event)
	}
	return []quickstream.ClientOption{
		quickstream.WithLogger(slog.New(both)), quickstream.WithHeader("X-Proxy-Token", callHeader),
		quickstream.WithObserver(quickstream.Observer{
			Start:   func(ctx context.Context, c quickstream.CallInfo) context.Context { told(ctx, c); return ctx },
			Attempt: func(ctx context.Context, _ quickstream.CallInfo, a quickstream.AttemptInfo) { told(ctx, a) },
			End:     func(ctx context.Context, _ quickstream.CallInfo, e quickstream.EndInfo) { told(ctx, e) },
			Carrier: func(ctx context.Context) string { told(ctx, nil); return "" },
		}),
	}
}

// TestAttack59FailingCalls makes every call fail in every way: what the service, a
// gateway or the network says repeats all that was sent, and no log, error, event or context of
// an observer shows any of it. With an error comes no object.
func TestAttack59FailingCalls(t *testing.T) {
	errs, forms := 0, 0
	for failure, service := range failures() {
		for name, call := range secretCalls() {
			synctest.Test(t, func(t *testing.T) {
				w := new(witness)
				client := clientOf(t, service, w.options()...)
				result, err := call(t.Context(), client)
				assert.NotEmpty(t, w.logged.String())
				for _, text := range []string{printtest.Printed(w.events), w.logged.String()} {
					assert.Empty(t, secretIn(text), "%s, %s: %s", name, failure, text)
				}
				if end, ended := w.events[len(w.events)-1].(quickstream.EndInfo); ended && end.Err != nil {
					for _, form := range everyForm(t, end.Err) {
						assert.Empty(t, secretIn(form), "%s, %s: %s", name, failure, form)
					}
				}
				if err == nil {
					return
				}
				errs++
				assert.True(t, result == nil || reflect.ValueOf(result).IsNil(), "%s, %s: an object with an error", name, failure)
				assert.Contains(t, []string{network, unknown, answered, decoding}, ending(err), "%s, %s", name, failure)
				for _, form := range everyForm(t, err) {
					forms++
					assert.Empty(t, secretIn(form), "%s, %s: %s", name, failure, form)
				}
			})
		}
	}
	assert.Greater(t, errs, 1000)
	t.Logf("%d errors, %d printed forms", errs, forms)
}

// allRules returns the rules that can be switched off.
func allRules(t *testing.T) (ids []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/rules.md")
	require.NoError(t, err)
	for line := range strings.Lines(string(page)) {
		if row, ok := strings.CutPrefix(line, "| `"); ok {
			id, _, _ := strings.Cut(row, "`")
			ids = append(ids, id)
		}
	}
	return ids
}

// TestIntentsHoldNoSecrets: an intent is stored, and knows an account by a handle
// only.
func TestIntentsHoldNoSecrets(t *testing.T) {
	for _, source := range variants()[reflect.TypeFor[quickstream.AccountSource]()] {
		params := payment()
		params.Source = source.(quickstream.AccountSource)
		var intent quickstream.Intent
		_, err := clientOf(t, says(422, "")).Transactions.Pay(t.Context(), params, handed(&intent), quickstream.WithoutRule(allRules(t)...))
		require.Error(t, err)
		require.NotEmpty(t, intent.Operation)
		stored, err := json.Marshal(intent)
		require.NoError(t, err)
		assert.Empty(t, secretIn(string(stored)))
		assert.Empty(t, secretIn(fmt.Sprintf("%+v %#v", intent, intent)))
	}
}
