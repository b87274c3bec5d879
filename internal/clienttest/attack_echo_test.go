package clienttest_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const (
	echoHeader   = "PROXY-TOKEN-6c1f"
	echoToken    = "SINGLE-USE-TOKEN-2e9d"
	echoSecret   = "WEBHOOK-SECRET-4a7b"
	echoPassword = "WEBHOOK-PASSWORD-1d8c"
)

// echoes are the ways in which a service, or a gateway before it, repeats what it was
// sent: in messages, values of fields, addresses of links, and headers.
func echoes() []sandbox.FaultKind {
	return []sandbox.FaultKind{
		sandbox.Status(422, sandbox.Echo), sandbox.Status(401, sandbox.Echo), sandbox.Status(404, sandbox.Echo), sandbox.Status(429, sandbox.Echo),
		sandbox.Status(503, sandbox.Echo), sandbox.Status(307, sandbox.Echo), sandbox.Status(502, sandbox.EchoHTML), sandbox.Status(403, sandbox.EchoHTML),
		sandbox.StatusAfterCommit(500, sandbox.Echo), sandbox.Garbage(sandbox.Echo), sandbox.Garbage(sandbox.EchoHTML), sandbox.Garbage(sandbox.EchoLinks),
	}
}

// echoedCalls are all operations with a canary wherever one can stand, with what they
// return.
func echoedCalls(t *testing.T) map[string]func(*quickstream.Client) (any, error) {
	t.Helper()
	calls := map[string]func(*quickstream.Client) (any, error){}
	for name, call := range secretCalls() {
		calls[name] = func(c *quickstream.Client) (any, error) { return call(t.Context(), c) }
	}
	withoutRules := quickstream.WithoutRule(allRules(t)...)
	for i, source := range append([]any{quickstream.FromSingleUseToken(echoToken)}, variantsOfCalls()...) {
		calls[fmt.Sprintf("Transactions.Pay %d", i)] = func(c *quickstream.Client) (any, error) {
			params := payment()
			params.Source, params.PaymentReferenceNumber = source.(quickstream.AccountSource), callRef
			return c.Transactions.Pay(t.Context(), params, quickstream.WithIdempotencyKey(callKey), withoutRules)
		}
	}
	return calls
}

// variantsOfCalls are the sources that hold secrets.
func variantsOfCalls() []any {
	card := approvedCard()
	card.CVN, card.Cryptogram = quickstream.NewSecret(callCVN), quickstream.NewSecret("CRYPTOGRAM-"+callCVN)
	account := quickstream.NewSecret(callAccount)
	return []any{
		quickstream.FromCard(card),
		quickstream.FromBankAccount(quickstream.BankAccountDetails{AccountName: "Ann", BSB: "032-999", AccountNumber: account}),
		quickstream.FromNZBankAccount(quickstream.NZBankAccountDetails{AccountName: "Ann", BankCode: "01", AccountNumber: account}),
		quickstream.FromPayToWithAgreement(quickstream.PayToPaymentWithAgreement{
			Payer: quickstream.PayToPayerParams{BSB: "032999", AccountNumber: account, PayID: quickstream.NewSecret(callPayID)},
		}),
	}
}

// printedForms are those of anything: of fmt, of loggers and of JSON.
func printedForms(v any) []string {
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "v", v)
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "v", v)
	data, err := json.Marshal(v)
	return []string{fmt.Sprintf("%v|%+v|%#v|%q|%s", v, v, v, v, v), logged.String(), string(data) + fmt.Sprint(err)}
}

// echoWitness is all that was told while calls were made, and the contexts that it came with.
type echoWitness struct {
	logged bytes.Buffer
	events []any
}

func (w *echoWitness) options() []quickstream.ClientOption {
	level := &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}
	both := slog.NewMultiHandler(slog.NewTextHandler(&w.logged, level), slog.NewJSONHandler(&w.logged, level))
	told := func(ctx context.Context, event any) {
		w.events = append(w.events, fmt.Sprintf("%v %+v", ctx, ctx), event)
	}
	return []quickstream.ClientOption{
		quickstream.WithLogger(slog.New(both)), quickstream.WithHeader("X-Proxy-Token", echoHeader),
		quickstream.WithObserver(quickstream.Observer{
			Start:   func(ctx context.Context, c quickstream.CallInfo) context.Context { told(ctx, c); return ctx },
			Attempt: func(ctx context.Context, _ quickstream.CallInfo, a quickstream.AttemptInfo) { told(ctx, a) },
			End:     func(ctx context.Context, _ quickstream.CallInfo, e quickstream.EndInfo) { told(ctx, e) },
			Carrier: func(ctx context.Context) string { told(ctx, nil); return "" },
		}),
	}
}

// TestAttackEchoedCanaries makes every call with secrets against a service that repeats
// them in every place, and finds them nowhere: neither in logs, errors and their causes,
// events and results, nor in dumps of the process and of the client. A program that prints
// what it was answered shows them all.
func TestAttackEchoedCanaries(t *testing.T) {
	forms := 0
	for _, kind := range echoes() {
		synctest.Test(t, func(t *testing.T) {
			box := sandbox.New()
			t.Cleanup(box.Close)
			keys := box.Keys()
			secrets := []string{
				callCard, callCard[:8], callCVN, callPayID, url.QueryEscape(callPayID), echoHeader, keys.Secret, keys.Publishable,
				base64.StdEncoding.EncodeToString([]byte(keys.Secret + ":")), base64.StdEncoding.EncodeToString([]byte(keys.Publishable + ":")),
			}
			shows := func(text string, more ...string) string {
				for _, secret := range append(more, secrets...) {
					if strings.Contains(text, secret) {
						return secret
					}
				}
				return ""
			}
			everything := func(what string, texts ...string) {
				for _, text := range texts {
					forms++
					assert.Empty(t, shows(text, callAccount, echoToken, callHandle, callRef, callKey, "/rest/v1"), "%s, %s: %s", kind, what, text)
				}
			}
			w := new(echoWitness)
			client := sandboxtest.Client(t, box, w.options()...)
			require.NoError(t, box.Inject(sandbox.Fault{Kind: kind}))
			assert.NotEmpty(t, secretIn(naiveFailure(t, box.HTTPClient().Transport, box.URL())), "%s: the naive program", kind)
			calls := echoedCalls(t)
			for name, call := range calls {
				result, err := call(client)
				if err != nil {
					everything(name, everyForm(t, err)...)
					sayNoCard(t, err)
				} else if _, issued := result.(*quickstream.APIKey); !issued {
					for _, text := range printedForms(result) {
						forms++
						assert.Empty(t, shows(text), "%s, %s: %s", kind, name, text)
					}
				}
			}
			assert.GreaterOrEqual(t, box.FaultCounts()[kind.String()], len(calls)-4, "reads of the client alone are not sent")
			everything("log", w.logged.String())
			everything("events", printedForms(w.events)...)
			everything("client", printedForms(client)...)
			for _, debug := range []int{1, 2} {
				var dump bytes.Buffer
				require.NoError(t, pprof.Lookup("goroutine").WriteTo(&dump, debug))
				everything("goroutines", strings.ReplaceAll(dump.String(), "/rest/v1", ""))
			}
		})
	}
	t.Logf("%d printed forms", forms)
}

// sayNoCard: what can be asked of an error is free of card numbers too.
func sayNoCard(t *testing.T, err error) {
	t.Helper()
	if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok && lost.Cause != nil {
		err = lost.Cause
	}
	if refused, ok := errors.AsType[*quickstream.APIError](err); ok {
		assert.NotContains(t, refused.CustomerMessage()+refused.DeveloperMessage()+fmt.Sprint(refused.Fields())+string(refused.RawBody()), callCard)
	}
}

// TestAttackEchoedByStrangers posts notifications that repeat the endpoint's secrets, and
// secrets of a payment, to an endpoint whose questions to the API are answered in kind.
// Logs, reports and answers show none of them.
func TestAttackEchoedByStrangers(t *testing.T) {
	const all = echoSecret + " " + echoPassword + " " + callCard + " " + callPayID
	quoted, _ := json.Marshal(all)
	bodies := []string{
		string(quoted), `{"id":` + string(quoted) + `}`, all,
		`{"id":"1","eventType":` + string(quoted) + `,"data":` + string(quoted) + `}`,
		`{"id":"2","eventType":"payto.payment.approved","data":{"receiptNumber":"` + echoSecret + `","comment":` + string(quoted) + `}}`,
		`{"id":"3","eventType":"payto.agreement.confirmed","data":{"agreementToken":"` + echoPassword + `","payerDetails":{"name":` + string(quoted) + `}}}`,
	}
	for _, kind := range echoes() {
		synctest.Test(t, func(t *testing.T) {
			box := sandbox.New()
			t.Cleanup(box.Close)
			w := new(echoWitness)
			client := sandboxtest.Client(t, box, w.options()...)
			require.NoError(t, box.Inject(sandbox.Fault{Kind: kind}))
			signer := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: webhooks.NewSecret(echoSecret), User: "service", Password: webhooks.NewSecret(echoPassword)}
			verifier, err := webhooks.NewVerifier(signer.Scheme, []webhooks.Secret{signer.Secret}, webhooks.WithBasicAuth(signer.User, signer.Password))
			require.NoError(t, err)
			var reports []any
			h := webhooks.NewHandler(verifier, webhooks.ConfirmWith(client, func(_ context.Context, n *webhooks.Notification) error {
				event, err := n.Event()
				panic(fmt.Sprintf("%+v %v", event, err))
			}), webhooks.WithLogger(slog.New(slog.NewJSONHandler(&w.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))),
				webhooks.WithFailureReport(func(_ context.Context, f webhooks.Failure) { reports = append(reports, f, f.Err) }))
			deliver := func(r *http.Request) {
				answer := httptest.NewRecorder()
				h.ServeHTTP(answer, r)
				assert.NotEqual(t, http.StatusOK, answer.Code)
				assert.Empty(t, strings.TrimSpace(answer.Body.String()+answer.Header().Get("Location")))
			}
			for _, body := range bodies {
				signed, err := signer.NewRequestWithBody(t.Context(), "https://shop.invalid/hook", []byte(body))
				require.NoError(t, err)
				deliver(signed)
				forged := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hook?secret="+url.QueryEscape(all), strings.NewReader(body))
				forged.Header.Set(signature.Header, "t=1707312770123,v1="+echoSecret)
				forged.SetBasicAuth(echoSecret, echoPassword)
				deliver(forged)
			}
			require.Len(t, reports, 4*len(bodies))
			texts := append(printedForms(reports), w.logged.String())
			for _, report := range reports {
				texts = append(texts, printedForms(report)...)
			}
			for _, text := range append(texts, printedForms(w.events)...) {
				for _, secret := range []string{echoSecret, echoPassword, callCard, callPayID} {
					assert.NotContains(t, text, secret, "%s", kind)
				}
			}
		})
	}
}
