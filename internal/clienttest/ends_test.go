package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// receiptOfAnswer is what no error shows.
const receiptOfAnswer = "HANDLE-7f3a"

// transactionCall makes a transaction with a client.
type transactionCall func(context.Context, *quickstream.Client) (*quickstream.Transaction, error)

// transactionCalls are all methods that make a transaction, and Submit of what each of them plans.
func transactionCalls(t *testing.T) map[quickstream.Operation][2]transactionCall {
	t.Helper()
	calls := map[quickstream.Operation][2]transactionCall{}
	submit := func(plan func(*quickstream.Client) (quickstream.Intent, error)) transactionCall {
		return func(ctx context.Context, c *quickstream.Client) (*quickstream.Transaction, error) {
			intent, err := plan(c)
			require.NoError(t, err)
			return c.Transactions.Submit(ctx, intent, func(context.Context) error { return nil })
		}
	}
	for _, params := range plannable() {
		op := making(t, params)
		calls[quickstream.Operation(op.name)] = [2]transactionCall{
			func(ctx context.Context, c *quickstream.Client) (*quickstream.Transaction, error) {
				out, err := op.results(ctx, c, "R-1", reflect.ValueOf(params), nil)
				require.NoError(t, err)
				err, _ = out[1].Interface().(error)
				return out[0].Interface().(*quickstream.Transaction), err
			},
			submit(func(c *quickstream.Client) (quickstream.Intent, error) {
				return c.Transactions.Plan(t.Context(), params)
			}),
		}
	}
	calls[quickstream.OperationVoid] = [2]transactionCall{
		func(ctx context.Context, c *quickstream.Client) (*quickstream.Transaction, error) {
			return c.Transactions.Void(ctx, receiptOfAnswer)
		},
		submit(func(c *quickstream.Client) (quickstream.Intent, error) {
			return c.Transactions.PlanVoid(t.Context(), receiptOfAnswer)
		}),
	}
	require.Len(t, calls, 11)
	return calls
}

// TestNilErrorMeansApproved: whatever is answered, the error of a transaction is nil if and only if it ended
// as it was asked for. Otherwise there is no object, and the error says by one sentinel what to do.
func TestNilErrorMeansApproved(t *testing.T) {
	const approved, refused, pending, unknown, voided = "", "declined", "pending", "unknown", "voided"
	for says, kind := range map[string]string{
		`"status":"Approved","summaryCode":"0","responseCode":"08"`:  approved,
		`"status":"APPROVED*","summaryCode":"0","responseCode":"G"`:  approved,
		`"status":"Declined","summaryCode":"1","responseCode":"51"`:  refused,
		`"status":"Declined","summaryCode":"3","responseCode":"QA"`:  refused,
		`"status":"Brand new","summaryCode":"1"`:                     refused,
		`"status":"Pending","responseCode":"PDNG"`:                   pending,
		`"status":"Suspended","summaryCode":"1","responseCode":"34"`: pending,
		`"status":"Declined","summaryCode":"1","responseCode":"34"`:  pending, // held all the same
		`"status":"Declined","summaryCode":"2","responseCode":"QI"`:  unknown,
		`"status":"Approved","summaryCode":"1"`:                      unknown,
		`"status":"Declined","summaryCode":"0"`:                      unknown,
		`"status":"Suspended","summaryCode":"0"`:                     unknown,
		`"status":"Brand new","summaryCode":"0"`:                     unknown,
		`"status":null,"summaryCode":null`:                           unknown,
		`"status":"Voided","summaryCode":"0"`:                        voided,
	} {
		for operation, ways := range transactionCalls(t) {
			for submits, call := range ways {
				want, name := kind, string(operation)+": "+says
				switch {
				case operation == quickstream.OperationVoid && kind == voided:
					want = approved
				case operation == quickstream.OperationVoid || kind == voided:
					want = unknown
				case operation == quickstream.OperationCollect && strings.Contains(says, "Pending") && submits == 0:
					want = approved // accepted, and no error
				}
				var s observed
				client := clientOf(t, func(r *http.Request) (*http.Response, error) {
					answered := object{}
					if r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/void") {
						require.NoError(t, json.NewDecoder(r.Body).Decode(&answered))
						answered = object{"paymentReferenceNumber": answered["paymentReferenceNumber"], "metadata": answered["metadata"], "transactionType": answered["transactionType"]}
					}
					answered["receiptNumber"] = receiptOfAnswer
					require.NoError(t, json.Unmarshal([]byte("{"+says+"}"), &answered))
					body, err := json.Marshal(answered)
					return answer(http.StatusCreated, string(body)), err
				}, quickstream.WithObserver(s.observer()))
				tx, err := call(t.Context(), client)
				assert.Equal(t, want, matching(err), "%s: %v", name, err)
				assert.Equal(t, want == approved, tx != nil, name)
				require.Len(t, s.ends, 1, name)
				if want == unknown {
					assert.Equal(t, []any{quickstream.CallResultUnknown, err}, []any{s.ends[0].Result, s.ends[0].Err}, name)
				} else {
					assert.Equal(t, []any{quickstream.CallResultSuccess, nil}, []any{s.ends[0].Result, s.ends[0].Err}, name)
				}
				info := s.ended[0]
				if declined, ok := errors.AsType[*quickstream.DeclinedError](err); ok {
					tx, info = declined.Transaction, declined.CallInfo
				}
				if open, ok := errors.AsType[*quickstream.PendingError](err); ok {
					tx, info = open.Transaction, open.CallInfo
				}
				if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok {
					tx, info = lost.Transaction, lost.CallInfo
					assert.Equal(t, tx.Intent(), lost.Intent, name)
					assert.Equal(t, []any{receiptOfAnswer, 1}, []any{lost.ReceiptNumber, lost.Attempts}, name)
					assert.NotEmpty(t, lost.FindOut, name)
				}
				require.NotNil(t, tx, name)
				assert.Equal(t, receiptOfAnswer, tx.ReceiptNumber, name)
				assert.Equal(t, []any{operation, s.ended[0], 1}, []any{tx.Intent().Operation, info, tx.Intent().Attempts}, name)
				if operation != quickstream.OperationVoid {
					assert.Equal(t, receiptOfAnswer, tx.Intent().ReceiptNumber, name)
				}
				if err == nil {
					continue
				}
				assert.Equal(t, want != refused, strings.HasPrefix(err.Error(), "do not call again: "), err)
				for _, form := range everyForm(t, err) {
					for _, hidden := range []string{receiptOfAnswer, tx.Intent().IdempotencyKey, tx.Intent().Reference + tx.Intent().Target} {
						assert.NotContains(t, form, hidden, name)
					}
				}
			}
		}
	}
}

// A client that was told of its facility's retries does not say to ask the bank about them.
func TestFinalDeclines(t *testing.T) {
	for _, c := range []struct {
		opts []quickstream.ClientOption
		asks bool
	}{{nil, true}, {[]quickstream.ClientOption{quickstream.WithFinalDeclines(false)}, true}, {[]quickstream.ClientOption{quickstream.WithFinalDeclines(true)}, false}} {
		client := clientOf(t, echoing(t, func(t object) {
			maps.Copy(t, object{"status": "Declined", "summaryCode": "1", "responseCode": "51"})
		}), c.opts...)
		_, err := client.Transactions.Pay(t.Context(), payment())
		require.ErrorIs(t, err, quickstream.ErrDeclined)
		assert.Equal(t, c.asks, strings.Contains(err.Error(), "next: check retries"), err.Error())
		assert.Equal(t, c.asks, strings.Contains(err.Error(), "ask the bank whether"), err.Error())
	}
}
