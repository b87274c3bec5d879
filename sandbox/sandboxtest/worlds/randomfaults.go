package worlds

import (
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// RandomFaults returns faults of every kind. The given share of all calls, from 0 to 1,
// meets one of them. A network, a gateway or a correct service can cause each of them: an
// answer that says "refused" or "not processed" is given only if nothing was done. Faults
// that cost the caller a timeout are rare. [sandbox.WithSeed] makes the draws repeatable.
func RandomFaults(share float64) []sandbox.Fault {
	share = min(max(share, 0), 1)
	kinds := randomKinds()
	var dial, total float64
	for _, k := range kinds {
		total += k.weight
		if k.notSent {
			dial += k.weight
		}
	}
	// The sandbox draws the faults that keep a request from being sent first; the others can
	// meet only the remaining calls. In both groups the first fault that fires wins, so that
	// each is drawn from the calls that the ones before it leave.
	var faults []sandbox.Fault
	left := map[bool]float64{true: 1, false: 1 - share*dial/total}
	for _, k := range kinds {
		chance := share * k.weight / total
		if chance > 0 {
			faults = append(faults, sandbox.Fault{Kind: k.kind, Probability: min(chance/left[k.notSent], 1)})
		}
		left[k.notSent] -= chance
	}
	return faults
}

// weighted is a kind of fault with its share, in percent.
type weighted struct {
	kind    sandbox.FaultKind
	weight  float64
	notSent bool // it keeps the request from being sent
}

func randomKinds() []weighted {
	return []weighted{
		{sandbox.Unreachable(sandbox.ConnectionRefused), 6, true},
		{sandbox.Unreachable(sandbox.UnknownHost), 3, true},
		{sandbox.Unreachable(sandbox.UntrustedCertificate), 2, true},
		{sandbox.Unreachable(sandbox.ProxyAuthRequired), 2, true},

		{sandbox.ResetBeforeCommit(), 13, false},
		{sandbox.ResetAfterCommit(), 17, false},
		{sandbox.CommitLate(10 * time.Second), 4, false},
		{sandbox.CommitLate(20 * time.Minute), 3, false},
		{sandbox.CommitLate(20 * time.Hour), 3, false},
		{sandbox.TruncatedBody(60), 6, false},
		{sandbox.Garbage(sandbox.DuplicateMembers), 3, false},
		{sandbox.Garbage(sandbox.HTML), 3, false},
		{sandbox.Garbage(sandbox.Empty), 3, false},
		{sandbox.Garbage(sandbox.BrokenJSON), 3, false},
		{sandbox.Garbage(sandbox.ServiceError), 2, false},

		{sandbox.StatusAfterCommit(http.StatusInternalServerError, sandbox.ServiceError), 3, false},
		{sandbox.StatusAfterCommit(http.StatusBadGateway, sandbox.HTML), 3, false},
		{sandbox.StatusAfterCommit(http.StatusGatewayTimeout, sandbox.Empty), 2, false},
		{sandbox.Status(http.StatusInternalServerError, sandbox.ServiceError), 2, false},
		{sandbox.Status(http.StatusServiceUnavailable, sandbox.ServiceError), 4, false},
		{sandbox.Status(http.StatusServiceUnavailable, sandbox.HTML), 2, false},
		{sandbox.Status(http.StatusUnauthorized, sandbox.ServiceError), 1, false},
		{sandbox.Status(http.StatusUnprocessableEntity, sandbox.ServiceError), 3, false},
		{sandbox.RateLimited(""), 2, false},
		{sandbox.RateLimited("1"), 2, false},
		{sandbox.Redirect(http.StatusTemporaryRedirect, "http://elsewhere.localhost/"), 2, false},

		{sandbox.HangBeforeCommit(), 1, false},
		{sandbox.HangAfterCommit(), 1, false},
		{sandbox.DelayBeforeCommit(10 * time.Minute), 1, false},
		{sandbox.DelayAfterCommit(10 * time.Minute), 1, false},
		{sandbox.SlowBody(1), 1, false},
	}
}
