package transport

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"net/http"
	"time"
)

// ResendWindow is how long after the first sending a write may be sent again
// with its key. How long the service remembers a key is not published; sending
// a forgotten key again would be a second payment.
const ResendWindow = time.Minute

// WaitAfter503 is the pause that the service's public documentation asks for
// before a payment is sent with a new key.
const WaitAfter503 = 20 * time.Second

// retry is the innermost handler: it sends the call through go-retryablehttp's
// loop, in which the retry table decides.
func (p *Pipeline) retry(ctx context.Context, call *Call) *Result {
	r := &run{p: p, call: call, ctx: ctx, client: *p.client}
	r.client.Transport = r
	r.loop.HTTPClient = &r.client
	r.loop.RetryMax = call.Limits.MaxAttempts - 1
	r.loop.CheckRetry = r.check
	// The answer has been read and classified by then; which error go-retryablehttp
	// would make of it does not matter.
	r.loop.ErrorHandler = func(resp *http.Response, _ error, _ int) (*http.Response, error) { return resp, errEnded }
	err := r.prepare(&r.first)
	defer func() { r.trace.end() }()
	if err != nil {
		return &Result{Verdict: Local, Err: err, Key: call.Key}
	}
	resp, err := r.loop.Do(&r.request)
	if resp != nil {
		resp.Body.Close()
	}
	return r.result(err)
}

var (
	errEnded   = errors.New("the call ended without an answer")
	errTooLate = errors.New("too late to send again")
)

// check is go-retryablehttp's CheckRetry. It never looks at the answer that it is
// given: RoundTrip has already classified the attempt. It also makes ready what only
// a further attempt needs.
func (r *run) check(_ context.Context, _ *http.Response, err error) (bool, error) {
	more, err := r.again(err)
	if !more {
		return false, err
	}
	pause := r.wait()
	if r.tooLate(pause) {
		return false, nil
	}
	r.loop.Backoff = func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return pause }
	if r.call.Limits.NewKeyAfter503 {
		r.loop.PrepareRetry = r.renew
	}
	r.trace.end()
	err = r.prepare(new(try))
	return err == nil, err
}

// again reports whether the table, the limits and the context allow another attempt.
func (r *run) again(err error) (bool, error) {
	if r.rounds == 0 { // net/http's client refused the request itself
		r.last = Result{Situation: NeverSent, Err: clean(err), Kind: KindOther}
		return false, err
	}
	longest := r.call.Limits.WaitMax
	if r.newKey() {
		longest = max(longest, WaitAfter503)
	}
	if r.ctx.Err() != nil || r.delivered || r.last.RetryAfter > longest {
		return false, nil //nolint:nilerr // what the last attempt came to is the result
	}
	switch Lookup(r.last.Situation, r.call.Class).Again {
	case Always:
		return true, nil
	case Temporary:
		return r.temporary, nil
	case SameKey:
		return !r.call.Limits.NoResend, nil
	case NewKey:
		return r.call.Limits.NewKeyAfter503 && !r.unanswered, nil
	default:
		return false, nil
	}
}

// tooLate reports whether the service may have forgotten the key of a write that
// may have arrived, when it is sent again after a pause. Whatever kept the latest
// attempt from arriving, an earlier one counts.
func (r *run) tooLate(pause time.Duration) bool {
	if !r.unanswered || r.call.Class == Read {
		return false
	}
	// Without the monotonic clock too, which may stand still while the machine sleeps.
	age := max(time.Since(r.firstSent), time.Now().Round(0).Sub(r.firstSent.Round(0)))
	return age+pause >= ResendWindow
}

// wait is how long to wait before the next attempt: exponential with jitter, and
// at least what the service asked for.
func (r *run) wait() time.Duration {
	if r.newKey() {
		return max(WaitAfter503, r.last.RetryAfter)
	}
	lowest, ceiling := r.call.Limits.WaitMin, r.call.Limits.WaitMax
	if lowest < ceiling>>r.rounds {
		ceiling = lowest << r.rounds
	}
	floor := max(lowest, ceiling/2)
	d := floor + time.Duration(mathrand.Int64N(int64(ceiling-floor)+1)) //nolint:gosec // jitter needs no secrecy
	return max(d, r.last.RetryAfter)
}

// newKey reports whether a further attempt would be a new request.
func (r *run) newKey() bool { return Lookup(r.last.Situation, r.call.Class).Again == NewKey }

// renew is go-retryablehttp's PrepareRetry. A 503 in the service's own words
// means that nothing was processed, and the next attempt is a new request.
func (r *run) renew(*http.Request) error {
	if r.newKey() {
		r.call.Key = rand.Text()
		r.firstSent = time.Now()
	}
	return nil
}

// result closes the call. loopErr is what go-retryablehttp said at the end; a
// context error means that the context ended in a wait between two attempts.
func (r *run) result(loopErr error) *Result {
	res := &r.last
	if ended := r.ctx.Err(); ended != nil && errors.Is(loopErr, ended) {
		switch {
		case r.call.Class == Read:
			*res = Result{Situation: ContextEnded, Err: ended, Kind: KindContext}
		case res.Situation == NeverSent, res.Situation == Lost:
			res.Err, res.Kind = ended, KindContext
		}
	}
	res.Verdict = settle(res.Situation, r.call.Class, r.unanswered)
	if res.Verdict == Success && r.unanswered && r.call.Settles != nil {
		if res.Err = r.call.Settles(); res.Err != nil {
			res.Verdict = Unknown
		}
	}
	res.Key = r.call.Key
	res.Attempts = int(r.rounds + r.extra)
	res.Unanswered = r.unanswered
	res.FirstSent = r.firstSent
	return res
}
