package transport

// Class groups operations by what may be done when their answer is lost. The
// classes are the columns of the retry table.
type Class uint8

// The four classes.
const (
	// Read is a GET: it changes nothing and may always be repeated.
	Read Class = iota
	// Keyed is a POST for which the service documents that a repeated
	// Idempotency-Key is not carried out twice: /transactions, 3D Secure
	// authentication and /single-use-tokens.
	Keyed
	// Post is every other POST. It carries a key as well, but nothing says that
	// the service honours it there.
	Post
	// Change is a PATCH or PUT, which carries no key.
	Change
	classes
)

// Situation is what happened to one attempt. The situations are the rows of the
// retry table.
type Situation uint8

// The situations, from best to worst understood.
const (
	// Succeeded is a 2xx answer that could be decoded.
	Succeeded Situation = iota
	// NeverSent means that no request left this machine.
	NeverSent
	// Lost means that the connection broke or timed out after sending.
	Lost
	// ContextEnded means that the caller's context ended after sending.
	ContextEnded
	// Failed is an answer that says nothing about the request: 408, 500, 502,
	// 504 and the like, a 2xx that cannot be decoded, and a 503 that is not in
	// the service's own words.
	Failed
	// Unavailable is a 503 in the service's own error body.
	Unavailable
	// NotEnabled is the same answer on 3D Secure authentication.
	NotEnabled
	// Throttled is a 429.
	Throttled
	// Refused is any other 4xx.
	Refused
	// Redirected is a 3xx, which is never followed.
	Redirected
	situations
)

// Verdict is what a call ends with.
type Verdict uint8

// The verdicts.
const (
	// Success hands the decoded answer over.
	Success Verdict = iota
	// Network: nothing was sent, or a read failed on the way.
	Network
	// Unknown: a write that may have happened.
	Unknown
	// Answered: the service's answer is the result, as an error.
	Answered
	// Local: the call ended before its first attempt.
	Local
)

// Again says whether a further attempt may be made.
type Again uint8

// The conditions for a further attempt. Each is subject to the attempt limit,
// to the context, and to a Retry-After that asks for longer than the cap.
const (
	// Never ends the call.
	Never Again = iota
	// Temporary allows one when the cause can pass by itself.
	Temporary
	// Always allows one.
	Always
	// SameKey allows one with the same idempotency key, within the window in
	// which a key can be trusted to be remembered, and unless the caller chose
	// look-up only.
	SameKey
	// NewKey allows one after 20 seconds with a fresh key, only if the caller
	// asked for it.
	NewKey
)

// Step is a cell of the retry table.
type Step struct {
	Again   Again
	Verdict Verdict
}

// table is the whole policy. Its companion rule stands in settle: once an
// attempt of a write may have reached the service unanswered, only a success
// settles the call.
//
//nolint:gochecknoglobals // an immutable table
var table = [situations][classes]Step{
	Succeeded:    {Read: {Never, Success}, Keyed: {Never, Success}, Post: {Never, Success}, Change: {Never, Success}},
	NeverSent:    {Read: {Temporary, Network}, Keyed: {Temporary, Network}, Post: {Temporary, Network}, Change: {Temporary, Network}},
	Lost:         {Read: {Always, Network}, Keyed: {SameKey, Unknown}, Post: {Never, Unknown}, Change: {Never, Unknown}},
	ContextEnded: {Read: {Never, Network}, Keyed: {Never, Unknown}, Post: {Never, Unknown}, Change: {Never, Unknown}},
	Failed:       {Read: {Always, Answered}, Keyed: {Never, Unknown}, Post: {Never, Unknown}, Change: {Never, Unknown}},
	Unavailable:  {Read: {Always, Answered}, Keyed: {NewKey, Answered}, Post: {Never, Answered}, Change: {Never, Answered}},
	NotEnabled:   {Read: {Never, Answered}, Keyed: {Never, Answered}, Post: {Never, Answered}, Change: {Never, Answered}},
	Throttled:    {Read: {Always, Answered}, Keyed: {Never, Answered}, Post: {Never, Answered}, Change: {Never, Answered}},
	Refused:      {Read: {Never, Answered}, Keyed: {Never, Answered}, Post: {Never, Answered}, Change: {Never, Answered}},
	Redirected:   {Read: {Never, Answered}, Keyed: {Never, Unknown}, Post: {Never, Unknown}, Change: {Never, Unknown}},
}

// Lookup returns the cell for a situation and a class.
func Lookup(s Situation, c Class) Step { return table[s][c] }

// Situations returns every row of the table in order.
func Situations() []Situation {
	rows := make([]Situation, 0, situations)
	for s := range situations {
		rows = append(rows, s)
	}
	return rows
}

// Classes returns every column of the table in order.
func Classes() []Class { return []Class{Read, Keyed, Post, Change} }

// settle applies the rule that a later attempt's answer does not settle an
// earlier one: a "token used" or a 503 that answers the second attempt says
// nothing about what the first one did. Neither does a decline, which comes as a
// success: Call.Settles tells those apart.
func settle(last Situation, c Class, unanswered bool) Verdict {
	if unanswered && c != Read && last != Succeeded {
		return Unknown
	}
	return Lookup(last, c).Verdict
}
