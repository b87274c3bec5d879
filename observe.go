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

// AttemptInfo tells about one attempt of a call.
type AttemptInfo struct {
	// Number counts the attempts of the call, from 1.
	Number int
	// Host and Port are those of the environment, the port that of its scheme where the
	// address names none.
	Host string
	Port int
	// StatusCode is that of the answer; 0 when nothing was answered.
	StatusCode int
	// Network is why nothing was answered; "" when something was.
	Network NetworkKind
	// Start is when the attempt began, and Duration how long it took, with the body of
	// its answer.
	Start    time.Time
	Duration time.Duration
}

// CallResult says how a call ended. It follows from the error that the call returns.
type CallResult string

// The results of calls.
const (
	CallResultSuccess       CallResult = "success"        // no error
	CallResultNotSent       CallResult = "not_sent"       // the call ended before its first attempt, as with a ValidationError
	CallResultNetworkFailed CallResult = "network_failed" // a NetworkError
	CallResultUnknown       CallResult = "unknown"        // an UnknownOutcomeError
	CallResultAnswered      CallResult = "answered"       // an APIError, or a report that is not ready
	CallResultUndecodable   CallResult = "undecodable"    // a DecodeError, or a report that could not be written
)

// EndInfo tells how a call ended.
type EndInfo struct {
	// StatusCode is that of the last answer; 0 when there was none.
	StatusCode int
	// Attempts is how many requests were sent; 0 for a call that was refused.
	Attempts int
	Result   CallResult
	// Err is the very error that the call returns; nil for a success. Printing it
	// shows no values, and its fields may hold some. A call that a panic of the
	// caller's code ends, as of a RoundTripper, returns none: the cause of Err says so.
	Err error
	// TraceCode is that of an [APIError], also as the last answer of an unknown outcome,
	// or "?" when it does not look like one. One that repeats what was sent is left out.
	TraceCode string
	// Duration is how long the call took, with its pauses between attempts.
	Duration time.Duration
}

// Observer is called as calls proceed, for metrics and traces; the module
// otelquickstream has one for OpenTelemetry. It sees every call once, those too that
// are refused before anything is sent, and each page of a list and each question of a
// method that waits as a call of its own. The [CallInfo] names the method that the
// merchant called: the requests of a Resume or a Wait carry its name, and their own
// verb and route. Those of Submit carry the name of the method that the intent names.
// Plan makes no call.
//
// It sees route templates and counts, and no values outside of the error. Each
// function may be nil, is called concurrently by concurrent calls, and delays the
// call while it runs. A function that panics ends the call: as never sent where it
// happens before the first byte, as a lost answer after it. A call that was refused
// keeps its error.
type Observer struct {
	// Start may return a context that the call continues with.
	Start func(ctx context.Context, call CallInfo) context.Context
	// Attempt is called after each attempt.
	Attempt func(ctx context.Context, call CallInfo, attempt AttemptInfo)
	// End is called once for every Start, with the context that it returned; after a
	// panic of Start, with one that holds no values.
	End func(ctx context.Context, call CallInfo, end EndInfo)
	// Carrier returns what to store with an intent that is handed out or planned, so
	// that later work on it continues the trace: such as a traceparent. It is called
	// with the call's context, and with Plan's.
	Carrier func(ctx context.Context) string
	// Continue returns the context with which Submit, Resume and ResumeChange go on,
	// given the Carrier of their intent. It is not called for an intent without one.
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

// unstarted is the context of a call whose Start has panicked. What an observer would
// find in the caller's may be of another call, in whose hook this one was made.
type unstarted struct{ context.Context }

func (unstarted) Value(any) any { return nil }

func (o Observer) end(ctx context.Context, call CallInfo, end EndInfo) (err error) {
	if o.End != nil {
		defer transport.Report("the observer", &err)
		o.End(ctx, call, end)
	}
	return nil
}

// carry returns the carrier of an intent, and the given one without a function.
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

// attempts is what the transport calls.
func (o Observer) attempts() transport.Observer {
	if o.Attempt == nil {
		return nil
	}
	return func(ctx context.Context, call *transport.Call, a transport.Attempt) {
		o.Attempt(ctx, CallInfo{Operation(call.Operation), call.Method, call.Route}, AttemptInfo{
			Number: a.Number, Host: call.URL.Hostname(), Port: portOf(call.URL), StatusCode: a.Status, Network: NetworkKind(a.Kind), Start: a.Start, Duration: a.Duration,
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

// endOf describes the end of a call that returns err.
func endOf(err error, r *transport.Result, begun time.Time) EndInfo {
	end := EndInfo{StatusCode: r.Status, Attempts: r.Attempts, Err: err, Duration: time.Since(begun)}
	api, answered := errors.AsType[*APIError](err)
	lost, unknown := errors.AsType[*UnknownOutcomeError](err)
	_, network := errors.AsType[*NetworkError](err)
	unsent := r.End == transport.NotSent // and what answer there is came to a call of a hook's
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

// logging returns the observer with the logger before it.
func (o Observer) logging(logger *slog.Logger) Observer {
	if logger == nil {
		return o
	}
	attempt, end := o.Attempt, o.End
	o.Attempt = func(ctx context.Context, call CallInfo, a AttemptInfo) {
		logAttempt(ctx, logger, call, a)
		if attempt != nil {
			attempt(ctx, call, a)
		}
	}
	o.End = func(ctx context.Context, call CallInfo, e EndInfo) {
		logEnd(ctx, logger, call, e)
		if end != nil {
			end(ctx, call, e)
		}
	}
	return o
}

func logAttempt(ctx context.Context, logger *slog.Logger, call CallInfo, a AttemptInfo) {
	logger.LogAttrs(ctx, slog.LevelDebug, "quickstream attempt",
		slog.String("operation", string(call.Operation)), slog.String("method", call.Method), slog.String("route", call.Route),
		slog.Int("attempt", a.Number), slog.Int("status", a.StatusCode), slog.String("network", string(a.Network)),
		slog.Duration("duration", a.Duration))
}

func logEnd(ctx context.Context, logger *slog.Logger, call CallInfo, e EndInfo) {
	level := slog.LevelDebug
	if e.Result == CallResultUnknown {
		level = slog.LevelWarn
	}
	logger.LogAttrs(ctx, level, "quickstream call",
		slog.String("operation", string(call.Operation)), slog.String("method", call.Method), slog.String("route", call.Route),
		slog.String("result", string(e.Result)), slog.Int("attempts", e.Attempts), slog.Int("status", e.StatusCode),
		slog.String("trace", e.TraceCode), slog.Duration("duration", e.Duration))
}
