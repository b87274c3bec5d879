package worlds

import (
	"net/http"
	"strconv"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// The dimensions that are not assumptions: what happens to the merchant, and to one of
// their calls.
const (
	// Fault is the fault that a call meets. [World.Faults] returns it.
	Fault = "Fault"
	// Crash is when the merchant's process dies: none, beforeSend (the intent is stored,
	// nothing was sent), afterCommit (the service has acted, there is no answer),
	// afterAnswer (the answer has arrived and is not stored) or betweenLooks.
	Crash = "Crash"
	// MerchantClock is the merchant's clock against the true time: right, behind or ahead
	// by an hour, or stepsBack by an hour between two steps.
	MerchantClock = "MerchantClock"

	// gatewayBody is the body of answers that are not the service's: html or empty.
	gatewayBody = "GatewayBody"
)

func ofMerchant() []dimension {
	fault := dimension{name: Fault, values: []string{"none"}}
	for _, f := range worldFaults(sandbox.HTML) {
		fault.values = append(fault.values, f.name)
	}
	return []dimension{
		fault,
		{name: gatewayBody, values: []string{"html", "empty"}},
		{name: Crash, values: []string{"none", "beforeSend", "afterCommit", "afterAnswer", "betweenLooks"}},
		{name: MerchantClock, values: []string{"right", "behind", "ahead", "stepsBack"}},
	}
}

// MerchantTime returns what the merchant's clock shows at the true time now. A clock that
// steps back does so 90 minutes after begun.
func (w World) MerchantTime(now, begun time.Time) time.Time {
	switch w.Value(MerchantClock) {
	case "behind":
		return now.Add(-time.Hour)
	case "ahead":
		return now.Add(time.Hour)
	case "stepsBack":
		if now.After(begun.Add(90 * time.Minute)) {
			return now.Add(-time.Hour)
		}
	}
	return now
}

// worldFault is a value of the dimension Fault: its kind of fault, and how many calls, from
// the first on, meet it.
type worldFault struct {
	name  string
	kind  sandbox.FaultKind
	times int
}

func worldFaults(gateway sandbox.BodyKind) []worldFault {
	list := []worldFault{
		{"notSent", sandbox.Unreachable(sandbox.ConnectionRefused), 1},
		{"lostBeforeCommit", sandbox.ResetBeforeCommit(), 1},
		{"lostAfterCommit", sandbox.ResetAfterCommit(), 1},
		{"lostTwice", sandbox.ResetAfterCommit(), 2},
		{"hangAfterCommit", sandbox.HangAfterCommit(), 1},
		{"commitLate", sandbox.CommitLate(10 * time.Minute), 1},
		{"cutBody", sandbox.TruncatedBody(60), 1},
		{"slowBody", sandbox.SlowBody(1), 1},
		{"htmlFor201", sandbox.Garbage(sandbox.HTML), 1},
		{"500before", sandbox.Status(http.StatusInternalServerError, sandbox.ServiceError), 1},
		{"500after", sandbox.StatusAfterCommit(http.StatusInternalServerError, sandbox.ServiceError), 1},
		{"502after", sandbox.StatusAfterCommit(http.StatusBadGateway, sandbox.HTML), 1},
		{"503own", sandbox.Status(http.StatusServiceUnavailable, sandbox.ServiceError), 1},
		{"503gateway", sandbox.StatusAfterCommit(http.StatusServiceUnavailable, sandbox.GatewayError), 1},
		{"503errors", sandbox.StatusAfterCommit(http.StatusServiceUnavailable, sandbox.ErrorList), 1},
		{"503html", sandbox.StatusAfterCommit(http.StatusServiceUnavailable, sandbox.HTML), 1},
		{"503empty", sandbox.StatusAfterCommit(http.StatusServiceUnavailable, sandbox.Empty), 1},
	}
	for _, code := range []int{400, 401, 403, 404, 405, 407, 408, 409, 411, 413, 415, 422, 425, 429, 460, 499} {
		list = append(list, worldFault{strconv.Itoa(code) + "after", sandbox.StatusAfterCommit(code, gateway), 1})
	}
	for _, code := range []int{203, 206, 207, 299} {
		list = append(list, worldFault{strconv.Itoa(code) + "for201", sandbox.StatusAfterCommit(code, sandbox.Unchanged), 1})
	}
	for _, code := range []int{401, 422, 429, 503} {
		list = append(list, worldFault{"twice" + strconv.Itoa(code), sandbox.SentTwice(code), 1})
	}
	return list
}

// Faults returns the faults of the world's dimension [Fault], for [sandbox.Sandbox.Inject]. The first call
// of the operation meets the fault, and the second one too if an answer is lost twice.
func (w World) Faults(operation string) []sandbox.Fault {
	name := w.Value(Fault)
	gateway := sandbox.HTML
	if w.Value(gatewayBody) == "empty" {
		gateway = sandbox.Empty
	}
	for _, f := range worldFaults(gateway) {
		if f.name == name {
			return []sandbox.Fault{{Operation: operation, Nth: 1, Times: f.times, Kind: f.kind}}
		}
	}
	return nil
}

// RandomFaults returns faults of many kinds. A share of all calls, from 0 to 1, meets one of them. A
// network, a gateway or a correct service can cause each: an answer that says "refused" or "not
// processed" is given only if nothing was done. [sandbox.WithSeed] makes the draws repeatable.
func RandomFaults(share float64) []sandbox.Fault {
	share = min(max(share, 0), 1)
	kinds := randomKinds()
	var total float64
	for _, k := range kinds {
		total += k.weight
	}
	// The first fault that fires wins, so each is drawn from the calls that the ones before it leave over.
	var faults []sandbox.Fault
	left := 1.0
	for _, k := range kinds {
		chance := share * k.weight / total
		if chance > 0 {
			faults = append(faults, sandbox.Fault{Kind: k.kind, Probability: min(chance/left, 1)})
		}
		left -= chance
	}
	return faults
}

// weighted is a kind of fault with its share, in percent.
type weighted struct {
	kind   sandbox.FaultKind
	weight float64
}

// randomKinds begin with those that keep a request from being sent: the sandbox draws them first.
func randomKinds() []weighted {
	return []weighted{
		{sandbox.Unreachable(sandbox.ConnectionRefused), 6},
		{sandbox.Unreachable(sandbox.UnknownHost), 3},
		{sandbox.Unreachable(sandbox.UntrustedCertificate), 2},
		{sandbox.Unreachable(sandbox.ProxyAuthRequired), 2},

		{sandbox.ResetBeforeCommit(), 13},
		{sandbox.ResetAfterCommit(), 17},
		{sandbox.CommitLate(10 * time.Second), 4},
		{sandbox.CommitLate(20 * time.Minute), 3},
		{sandbox.CommitLate(20 * time.Hour), 3},
		{sandbox.TruncatedBody(60), 6},
		{sandbox.Garbage(sandbox.DuplicateMembers), 3},
		{sandbox.Garbage(sandbox.HTML), 3},
		{sandbox.Garbage(sandbox.Empty), 3},
		{sandbox.Garbage(sandbox.BrokenJSON), 3},
		{sandbox.Garbage(sandbox.ServiceError), 2},

		{sandbox.StatusAfterCommit(http.StatusInternalServerError, sandbox.ServiceError), 3},
		{sandbox.StatusAfterCommit(http.StatusBadGateway, sandbox.HTML), 3},
		{sandbox.StatusAfterCommit(http.StatusGatewayTimeout, sandbox.Empty), 2},
		{sandbox.Status(http.StatusInternalServerError, sandbox.ServiceError), 2},
		{sandbox.Status(http.StatusServiceUnavailable, sandbox.ServiceError), 4},
		{sandbox.Status(http.StatusServiceUnavailable, sandbox.HTML), 2},
		{sandbox.Status(http.StatusUnauthorized, sandbox.ServiceError), 1},
		{sandbox.Status(http.StatusUnprocessableEntity, sandbox.ServiceError), 3},
		{sandbox.RateLimited(""), 2},
		{sandbox.RateLimited("1"), 2},
		{sandbox.Redirect(http.StatusTemporaryRedirect, "http://elsewhere.localhost/"), 2},

		{sandbox.HangBeforeCommit(), 1},
		{sandbox.HangAfterCommit(), 1},
		{sandbox.DelayBeforeCommit(10 * time.Minute), 1},
		{sandbox.DelayAfterCommit(10 * time.Minute), 1},
		{sandbox.SlowBody(1), 1},
	}
}
