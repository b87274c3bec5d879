package quickstream

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strconv"
	"time"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// AttemptInfo describes one attempt of a call.
type AttemptInfo struct {
	// Number counts the attempts of the call, from 1.
	Number int
	// Host and Port are the environment's; Port is the scheme's default if the address has none.
	Host string
	Port int
	// StatusCode is the answer's; 0 without an answer.
	StatusCode int
	// Network says why there was no answer; "" with one.
	Network NetworkKind
	// Start is when the attempt began. Duration includes the answer's body.
	Start    time.Time
	Duration time.Duration
}

// CallResult says how a call ended. It follows from the error that the call returns.
type CallResult string

// The results of calls.
const (
	CallResultSuccess       CallResult = "success"        // no error, or an answer that declines or is pending
	CallResultNotSent       CallResult = "not_sent"       // the call ended before its first attempt, as with a ValidationError
	CallResultNetworkFailed CallResult = "network_failed" // a NetworkError
	CallResultUnknown       CallResult = "unknown"        // an UnknownOutcomeError
	CallResultAnswered      CallResult = "answered"       // an APIError, or a report that is not ready
	CallResultUndecodable   CallResult = "undecodable"    // a DecodeError, or a report that could not be written
)

// EndInfo describes how a call ended.
type EndInfo struct {
	// StatusCode is the last answer's; 0 without one.
	StatusCode int
	// Attempts counts the requests that were sent; 0 for a call that was refused.
	Attempts int
	Result   CallResult
	// Err is the error that the call returns; nil for a success, and for a declined or pending transaction. If the caller's
	// code panics, Err describes that, and the call returns no error. Printing Err shows no values, but its fields may.
	Err error
	// TraceCode is that of an [APIError], also if that is a cause; "?" if it does not look like a
	// code, "" if it repeats a value of the request.
	TraceCode string
	// Duration is that of the whole call, with pauses.
	Duration time.Duration
}

// Observer is called as calls proceed, for metrics and traces; module otelquickstream has one for
// OpenTelemetry. It sees each call once, refused ones included; pages of lists and requests of waiting
// methods are calls of their own. [CallInfo] names the method that the merchant called, also for the
// requests of Resume and Submit, with the verb and route of the request. Plan makes no call.
//
// Functions may be nil, are called concurrently, and delay the call. They see values only in
// errors. A panic ends the call: as not sent before the first byte, and as a lost answer
// afterwards. A refused call keeps its error.
type Observer struct {
	// Start may return a context for the rest of the call.
	Start func(ctx context.Context, call CallInfo) context.Context
	// Attempt is called after each attempt.
	Attempt func(ctx context.Context, call CallInfo, attempt AttemptInfo)
	// End is called once for every Start with the context that it returned, unless Start panicked.
	End func(ctx context.Context, call CallInfo, end EndInfo)
	// Carrier returns a text for an intent, such as a traceparent, from the context of the call or
	// of Plan.
	Carrier func(ctx context.Context) string
	// Continue returns the context for Submit, Resume and ResumeChange from the intent's Carrier,
	// if it has one.
	Continue func(ctx context.Context, carrier string) context.Context
}

func (o Observer) start(ctx context.Context, call CallInfo) (started context.Context, err error) {
	if started = ctx; o.Start != nil {
		defer transport.Report("the observer", &err)
		if own := o.Start(ctx, call); own != nil {
			started = own
		}
	}
	return started, nil
}

func (o Observer) end(ctx context.Context, call CallInfo, end EndInfo) (err error) {
	if o.End != nil {
		defer transport.Report("the observer", &err)
		o.End(ctx, call, end)
	}
	return nil
}

func (o Observer) carry(ctx context.Context, given string) (carrier string, err error) {
	if o.Carrier == nil {
		return given, nil
	}
	defer transport.Report("the observer", &err)
	return o.Carrier(ctx), nil
}

func (o Observer) resume(ctx context.Context, carrier string) (resumed context.Context, err error) {
	if resumed = ctx; o.Continue != nil && carrier != "" {
		defer transport.Report("the observer", &err)
		if own := o.Continue(ctx, carrier); own != nil {
			resumed = own
		}
	}
	return resumed, nil
}

func (o Observer) attempts() transport.Observer {
	if o.Attempt == nil {
		return nil
	}
	return func(ctx context.Context, call *transport.Call, number int, begun time.Time, r *transport.Result) {
		o.Attempt(ctx, CallInfo{Operation(call.Operation), call.Method, call.Route}, AttemptInfo{
			Number: number, Host: call.URL.Hostname(), Port: portOf(call.URL), StatusCode: r.Status, Network: NetworkKind(r.Kind),
			Start: begun, Duration: time.Since(begun),
		})
	}
}

func portOf(address *url.URL) int {
	port, err := strconv.Atoi(address.Port())
	switch {
	case err == nil:
		return port
	case address.Scheme == "http":
		return 80
	default:
		return 443
	}
}

func endOf(err error, r *transport.Result, begun time.Time) EndInfo {
	switch err.(type) { //nolint:errorlint // what the call returns; a hook's error can hold another call's
	case *DeclinedError, *PendingError:
		err = nil
	}
	end := EndInfo{StatusCode: r.Status, Attempts: r.Attempts, Err: err, Duration: time.Since(begun)}
	api, answered := errors.AsType[*APIError](err)
	lost, unknown := errors.AsType[*UnknownOutcomeError](err)
	_, network := errors.AsType[*NetworkError](err)
	unsent := r.End == transport.NotSent // any answer in err came to a call that a hook made
	switch {
	case err == nil:
		end.Result = CallResultSuccess
	case unsent && errors.Is(err, ErrNotSent):
		end.Result = CallResultNotSent
	case unknown:
		end.Result = CallResultUnknown
		api, answered = errors.AsType[*APIError](lost.Cause)
	case network:
		end.Result = CallResultNetworkFailed
	case answered, errors.Is(err, ErrReportNotReady):
		end.Result = CallResultAnswered
	default:
		end.Result = CallResultUndecodable
	}
	if answered && !unsent && api.TraceCode != "" {
		end.TraceCode = safeName(api.TraceCode, 64)
	}
	return end
}

func (o Observer) logging(logger *slog.Logger) Observer {
	if logger == nil {
		return o
	}
	attempt, end := o.Attempt, o.End
	o.Attempt = func(ctx context.Context, call CallInfo, a AttemptInfo) {
		logger.LogAttrs(ctx, slog.LevelDebug, "quickstream attempt",
			slog.String("operation", string(call.Operation)), slog.String("method", call.Method), slog.String("route", call.Route),
			slog.Int("attempt", a.Number), slog.Int("status", a.StatusCode), slog.String("network", string(a.Network)),
			slog.Duration("duration", a.Duration))
		if attempt != nil {
			attempt(ctx, call, a)
		}
	}
	o.End = func(ctx context.Context, call CallInfo, e EndInfo) {
		level := slog.LevelDebug
		if e.Result == CallResultUnknown {
			level = slog.LevelWarn
		}
		logger.LogAttrs(ctx, level, "quickstream call",
			slog.String("operation", string(call.Operation)), slog.String("method", call.Method), slog.String("route", call.Route),
			slog.String("result", string(e.Result)), slog.Int("attempts", e.Attempts), slog.Int("status", e.StatusCode),
			slog.String("trace", e.TraceCode), slog.Duration("duration", e.Duration))
		if end != nil {
			end(ctx, call, e)
		}
	}
	return o
}
