package quickstream

import (
	"context"
	"log/slog"
	"time"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// AttemptInfo tells about one attempt of a call.
type AttemptInfo struct {
	Number     int
	StatusCode int         // 0 when nothing was answered
	Network    NetworkKind // "" when something was answered
	Duration   time.Duration
}

// EndInfo tells how a call ended.
type EndInfo struct {
	StatusCode int // of the last answer; 0 when there was none
	Attempts   int
	// Verdict is "success", "network", "unknown", "answered" (the service's
	// refusal) or "local" (nothing was sent).
	Verdict  string
	Duration time.Duration
}

// Observer is called as calls proceed, for metrics and traces. It sees route
// templates and counts, and no values. Each function may be nil, is called
// concurrently by concurrent calls, and delays the call while it runs. A function
// that panics ends the call: as never sent where it happens before the first byte,
// as a lost answer after it.
type Observer struct {
	// Start may return a context that the call continues with.
	Start   func(ctx context.Context, call CallInfo) context.Context
	Attempt func(ctx context.Context, call CallInfo, attempt AttemptInfo)
	End     func(ctx context.Context, call CallInfo, end EndInfo)
}

// transportObserver turns the logger and the caller's observer into the transport's.
func transportObserver(o Observer, logger *slog.Logger) transport.Observer {
	var t transport.Observer
	if o.Start != nil {
		t.Start = func(ctx context.Context, call *transport.Call) context.Context { return o.Start(ctx, infoOf(call)) }
	}
	if o.Attempt != nil || logger != nil {
		t.Attempt = func(ctx context.Context, call *transport.Call, a transport.Attempt) {
			info := AttemptInfo{Number: a.Number, StatusCode: a.Status, Network: NetworkKind(a.Kind), Duration: a.Duration}
			if logger != nil {
				logAttempt(ctx, logger, infoOf(call), info)
			}
			if o.Attempt != nil {
				o.Attempt(ctx, infoOf(call), info)
			}
		}
	}
	if o.End != nil || logger != nil {
		t.End = func(ctx context.Context, call *transport.Call, r *transport.Result, took time.Duration) {
			info := EndInfo{StatusCode: r.Status, Attempts: r.Attempts, Verdict: verdictName(r.Verdict), Duration: took}
			if logger != nil {
				logEnd(ctx, logger, infoOf(call), info)
			}
			if o.End != nil {
				o.End(ctx, infoOf(call), info)
			}
		}
	}
	return t
}

func infoOf(call *transport.Call) CallInfo { return CallInfo{call.Operation, call.Method, call.Route} }

func logAttempt(ctx context.Context, logger *slog.Logger, call CallInfo, a AttemptInfo) {
	logger.LogAttrs(ctx, slog.LevelDebug, "quickstream attempt",
		slog.String("operation", call.Operation), slog.String("method", call.Method), slog.String("route", call.Route),
		slog.Int("attempt", a.Number), slog.Int("status", a.StatusCode), slog.String("network", string(a.Network)),
		slog.Duration("duration", a.Duration))
}

func logEnd(ctx context.Context, logger *slog.Logger, call CallInfo, e EndInfo) {
	level := slog.LevelDebug
	if e.Verdict == verdictName(transport.Unknown) {
		level = slog.LevelWarn
	}
	logger.LogAttrs(ctx, level, "quickstream call",
		slog.String("operation", call.Operation), slog.String("method", call.Method), slog.String("route", call.Route),
		slog.String("verdict", e.Verdict), slog.Int("attempts", e.Attempts), slog.Int("status", e.StatusCode),
		slog.Duration("duration", e.Duration))
}

func verdictName(v transport.Verdict) string {
	switch v {
	case transport.Success:
		return "success"
	case transport.Network:
		return "network"
	case transport.Unknown:
		return "unknown"
	case transport.Answered:
		return "answered"
	default:
		return "local"
	}
}
