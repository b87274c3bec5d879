package clienttest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/printtest"
)

// observed records what an observer sees.
type observed struct {
	started []quickstream.CallInfo
	ended   []quickstream.CallInfo
	ends    []quickstream.EndInfo
}

func (s *observed) observer() quickstream.Observer {
	return quickstream.Observer{
		Start: func(ctx context.Context, call quickstream.CallInfo) context.Context {
			s.started = append(s.started, call)
			return ctx
		},
		End: func(_ context.Context, call quickstream.CallInfo, end quickstream.EndInfo) {
			s.ended, s.ends = append(s.ended, call), append(s.ends, end)
		},
	}
}

// TestRefusedCallsAreObserved: a call that is refused by an option starts and ends
// once, with the error that it returns.
func TestRefusedCallsAreObserved(t *testing.T) {
	hook := errors.New("mine")
	for _, op := range operations() {
		for name, opt := range map[string]quickstream.CallOption{
			"nil option": nil, "bad option": quickstream.WithMaxAttempts(0),
		} {
			var s observed
			client := clientOf(t, says(500, ""), quickstream.WithObserver(s.observer()))
			_, err := op.call(t.Context(), client, "ID-1", opt)
			require.ErrorIs(t, err, quickstream.ErrNotSent, "%s, %s", op.name, name)
			require.Len(t, s.ends, 1, "%s, %s", op.name, name)
			assert.Equal(t, s.started, s.ended, op.name)
			assert.Equal(t, quickstream.Operation(op.name), s.ended[0].Operation)
			assert.Same(t, err, s.ends[0].Err, op.name)
			assert.Equal(t, quickstream.CallResultNotSent, s.ends[0].Result, op.name)
			assert.Zero(t, s.ends[0].Attempts)
		}
	}
	var s observed
	client := clientOf(t, says(500, ""), quickstream.WithObserver(s.observer()))
	refused := map[string]func() error{
		"Transactions.Pay": func() error { return second(client.Transactions.Pay(t.Context(), quickstream.PayParams{})) },
		"Transactions.Void": func() error {
			return second(client.Transactions.Void(t.Context(), "R-1", quickstream.WithBeforeSend(func(context.Context, quickstream.Intent) error { return hook })))
		},
		"Transactions.Submit": func() error { return second(client.Transactions.Submit(t.Context(), quickstream.Intent{}, nil)) },
		"PayTo.ResumeChange":  func() error { return second(client.PayTo.ResumeChange(t.Context(), quickstream.Intent{})) },
		"Do": func() error {
			return client.Do(t.Context(), quickstream.Request{Method: "4111111111111111", Route: "/4111111111111111"}, nil)
		},
	}
	for name, call := range refused {
		s = observed{}
		err := call()
		require.Len(t, s.ends, 1, name)
		assert.Equal(t, s.started, s.ended, name)
		assert.Equal(t, quickstream.Operation(name), s.ended[0].Operation)
		assert.Same(t, err, s.ends[0].Err, name)
		assert.NotContains(t, fmt.Sprint(s), "4111")
	}
	s = observed{}
	_, err := client.Transactions.Plan(t.Context(), quickstream.PayParams{})
	require.Error(t, err)
	assert.Empty(t, s.started, "planning is no call")
}

func second[T any](_ T, err error) error { return err }

// TestPanicsOfHooksShowNoValues: the value of a panic can hold anything, and appears in no error and
// no log. A key source that panics ends the call before it is sent.
func TestPanicsOfHooksShowNoValues(t *testing.T) {
	const canary = "4242424242424242"
	type refused struct{ Card string }
	for kind, value := range map[string]any{
		"string": canary, "*errors.errorString": errors.New(canary), "clienttest_test.refused": refused{canary},
		"*fmt.wrapError": fmt.Errorf("%w: %s", quickstream.ErrNotFound, canary), "*runtime.TypeAssertionError": nil,
	} {
		blow := func() {
			if value == nil {
				_ = any(canary).(error) // whose text has the type alone, and other runtime errors numbers
			}
			panic(value)
		}
		ctx := context.WithValue(t.Context(), refused{}, canary)
		for name, option := range map[string]quickstream.ClientOption{
			"the observer":            quickstream.WithObserver(quickstream.Observer{Start: func(context.Context, quickstream.CallInfo) context.Context { blow(); return nil }}),
			"the hook before sending": quickstream.WithBeforeSend(func(context.Context, quickstream.Intent) error { blow(); return nil }),
			"key source: it":          quickstream.WithKeySource(func(context.Context) (quickstream.Keys, error) { blow(); return quickstream.Keys{}, nil }),
			"after":                   quickstream.WithObserver(quickstream.Observer{End: func(context.Context, quickstream.CallInfo, quickstream.EndInfo) { blow() }}),
		} {
			var log bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			keys := quickstream.Keys{Secret: quickstream.NewSecretKey("key")}
			if name == "key source: it" {
				keys = quickstream.Keys{}
			}
			client, err := quickstream.NewClient(quickstream.TestAU, keys, option, quickstream.WithLogger(logger),
				quickstream.WithHTTPClient(&http.Client{Transport: says(http.StatusCreated, approvedBody)}))
			require.NoError(t, err)
			_, err = client.Transactions.Pay(ctx, payment())
			if name == "after" {
				require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, name)
			} else {
				require.ErrorIs(t, err, quickstream.ErrNotSent, name)
				require.ErrorContains(t, err, name+" panicked with a "+kind+" at observe_test.go:")
			}
			require.NotErrorIs(t, err, quickstream.ErrNotFound, name)
			logger.Info("failed", "err", err, "any", slog.AnyValue(struct{ E error }{err}))
			printed := printtest.Printed(err) + log.String()
			assert.NotContains(t, printed, canary, "%s, %s", name, kind)
			assert.False(t, printtest.Reachable(err, canary), "%s, %s", name, kind)
		}
	}
}

// panics is the caller's code that does.
type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("mine") }
func (panics) Write([]byte) (int, error)    { panic("mine") }

// TestPanicsOfTheCallersCode go on to the caller, and the call ends once: as never sent
// before the first attempt, and as a lost answer after it.
func TestPanicsOfTheCallersCode(t *testing.T) {
	blows := service(func(*http.Request) (*http.Response, error) { panic("mine") })
	report := service(func(*http.Request) (*http.Response, error) {
		made := answer(200, "report")
		made.Header.Set("Content-Type", "text/plain")
		return made, nil
	})
	for name, c := range map[string]struct {
		service service
		call    func(*quickstream.Client) error
		result  quickstream.CallResult
		sent    int
	}{
		"write": {blows, func(c *quickstream.Client) error { return second(c.Transactions.Pay(t.Context(), payment())) }, quickstream.CallResultUnknown, 1},
		"read":  {blows, func(c *quickstream.Client) error { return second(c.Transactions.Get(t.Context(), "R-1")) }, quickstream.CallResultNetworkFailed, 1},
		"report": {report, func(c *quickstream.Client) error {
			return second(c.Transactions.DownloadReport(t.Context(), panics{}, quickstream.ReportParams{SettlementDate: quickstream.Date{Year: 2026, Month: time.March, Day: 2}}))
		}, quickstream.CallResultNetworkFailed, 1},
		"body": {says(200, ""), func(c *quickstream.Client) error {
			return c.Do(t.Context(), quickstream.Request{Method: http.MethodPost, Route: "/notes", Body: panics{}}, nil)
		}, quickstream.CallResultNotSent, 0},
	} {
		var s observed
		client := clientOf(t, c.service, quickstream.WithObserver(s.observer()))
		assert.PanicsWithValue(t, "mine", func() { _ = c.call(client) }, name)
		require.Len(t, s.ends, 1, name)
		assert.Equal(t, s.started, s.ended, name)
		assert.Equal(t, c.result, s.ends[0].Result, name)
		assert.Equal(t, c.sent, s.ends[0].Attempts, name)
		cause := s.ends[0].Err
		if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](cause); ok {
			assert.Nil(t, lost.Intent, "it would lack its key")
			cause = lost.Cause
		}
		if lost, ok := errors.AsType[*quickstream.NetworkError](cause); ok {
			cause = errors.Unwrap(lost)
		}
		require.ErrorContains(t, cause, "the caller's code panicked", name)

		client = clientOf(t, c.service, quickstream.WithObserver(quickstream.Observer{
			End: func(context.Context, quickstream.CallInfo, quickstream.EndInfo) { panic("the observer's") },
		}))
		assert.PanicsWithValue(t, "mine", func() { _ = c.call(client) }, "%s: the first panic goes on", name)
	}
}

// TestCarrier: an intent takes what the observer returns to where it is worked on.
func TestCarrier(t *testing.T) {
	type trace struct{}
	var calls []string
	client := clientOf(t, says(500, ""), quickstream.WithObserver(quickstream.Observer{
		Start: func(ctx context.Context, call quickstream.CallInfo) context.Context {
			own, _ := ctx.Value(trace{}).(string)
			calls = append(calls, string(call.Operation)+" "+call.Route+" "+own)
			return context.WithValue(ctx, trace{}, own+"+")
		},
		Carrier: func(ctx context.Context) string { return fmt.Sprint(ctx.Value(trace{})) },
		Continue: func(ctx context.Context, carrier string) context.Context {
			return context.WithValue(ctx, trace{}, carrier)
		},
	}))
	planned, err := client.Transactions.PlanVoid(context.WithValue(t.Context(), trace{}, "a"), "R-1")
	require.NoError(t, err)
	assert.Equal(t, "a", planned.Carrier)
	var handed quickstream.Intent
	_, err = client.Transactions.Submit(t.Context(), planned, func(context.Context) error { return nil },
		quickstream.WithBeforeSend(func(_ context.Context, i quickstream.Intent) error { handed = i; return nil }))
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "a+", handed.Carrier)
	assert.Equal(t, "a+", lost.Intent.Carrier)
	_, err = client.Transactions.Resume(t.Context(), *lost.Intent, quickstream.WithMaxAttempts(1))
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	assert.Equal(t, []string{"Transactions.Void /transactions/{receiptNumber}/void a", "Transactions.Resume /transactions/{receiptNumber} a+"}, calls)
}
