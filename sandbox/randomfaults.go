package sandbox

import (
	"net/http"
	"time"
)

// RandomFaults returns faults of every kind, such that about the given share of
// all calls meets one. They are what a network, a gateway and a service that
// keeps its word can do to any call; none of them lies: an answer that says
// "refused" or "not processed" is given only where nothing was done. Faults that
// cost the caller a time-out are rare. A share that is not between 0 and 1 is
// brought there.
//
// [WithSeed] makes the draws repeatable.
func RandomFaults(share float64) []Fault {
	share = min(max(share, 0), 1)
	kinds := randomKinds()
	var dial, total float64
	for _, k := range kinds {
		total += k.weight
		if k.kind.dial != nil {
			dial += k.weight
		}
	}
	// Dial faults are drawn first, and what they leave is all that others can meet.
	// Within either list the first that fires wins, so that each has to be drawn
	// from what the ones before it leave.
	var faults []Fault
	left := map[bool]float64{true: 1, false: 1 - share*dial/total}
	for _, k := range kinds {
		chance := share * k.weight / total
		isDial := k.kind.dial != nil
		if chance > 0 {
			faults = append(faults, Fault{Kind: k.kind, Probability: min(chance/left[isDial], 1)})
		}
		left[isDial] -= chance
	}
	return faults
}

type weighted struct {
	kind   FaultKind
	weight float64
}

// randomKinds are the kinds with their shares, in percent.
func randomKinds() []weighted {
	return []weighted{
		{Refuse(), 6},
		{UnknownHost(), 3},
		{UntrustedCertificate(), 2},
		{ProxyAuth(), 2},

		{ResetBeforeCommit(), 13},
		{ResetAfterCommit(), 17},
		{CommitLate(10 * time.Second), 4},
		{CommitLate(20 * time.Minute), 3},
		{CommitLate(20 * time.Hour), 3},
		{TruncatedBody(60), 6},
		{DuplicateMembers(), 3},
		{Garbage(HTML), 3},
		{Garbage(Empty), 3},
		{Garbage(BrokenJSON), 3},
		{Garbage(ServiceError), 2},

		{StatusAfterCommit(http.StatusInternalServerError, ServiceError), 3},
		{StatusAfterCommit(http.StatusBadGateway, HTML), 3},
		{StatusAfterCommit(http.StatusGatewayTimeout, Empty), 2},
		{Status(http.StatusInternalServerError, ServiceError), 2},
		{Status(http.StatusServiceUnavailable, ServiceError), 4},
		{Status(http.StatusServiceUnavailable, HTML), 2},
		{Status(http.StatusUnauthorized, ServiceError), 1},
		{Status(http.StatusUnprocessableEntity, ServiceError), 3},
		{RateLimited(""), 2},
		{RateLimited("1"), 2},
		{Redirect(http.StatusTemporaryRedirect, "http://elsewhere.localhost/"), 2},

		{HangBeforeCommit(), 1},
		{HangAfterCommit(), 1},
		{DelayBeforeCommit(10 * time.Minute), 1},
		{DelayAfterCommit(10 * time.Minute), 1},
		{SlowBody(1), 1},
	}
}
