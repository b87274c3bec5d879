package sandbox

import (
	"net/http"
	"strconv"
	"time"
)

// The dimensions that are no assumptions: what happens to the merchant and to one
// of his calls.
const (
	// DimensionFault is what becomes of a call: [World.Faults] plays it.
	DimensionFault = "Fault"
	// DimensionCrash is where the merchant's process dies: none, beforeSend (the
	// intent is stored, nothing was sent), afterCommit (the service has acted, the
	// answer is not there), afterAnswer (it is there and not stored) and
	// betweenLooks.
	DimensionCrash = "Crash"
	// DimensionMerchantClock is the merchant's clock against the true time: right,
	// behind and ahead by an hour, and stepsBack by an hour between two steps.
	DimensionMerchantClock = "MerchantClock"
)

func merchantDimensions() []Dimension {
	fault := Dimension{Name: DimensionFault, Values: []string{"none"}}
	for _, f := range worldFaults() {
		fault.Values = append(fault.Values, f.name)
	}
	return []Dimension{
		fault,
		{DimensionCrash, []string{"none", "beforeSend", "afterCommit", "afterAnswer", "betweenLooks"}},
		{DimensionMerchantClock, []string{"right", "behind", "ahead", "stepsBack"}},
	}
}

// MerchantTime returns what the merchant's clock shows at a time, in a story that has
// begun at another: the step back comes 90 minutes later.
func (w World) MerchantTime(now, begun time.Time) time.Time {
	switch w.Value(DimensionMerchantClock) {
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

// worldFault is a value of the dimension Fault, and how it is played: the first
// so many calls meet the kind.
type worldFault struct {
	name  string
	kind  FaultKind
	times int
}

func worldFaults() []worldFault {
	list := []worldFault{
		{"notSent", Refuse(), 1},
		{"lostBeforeCommit", ResetBeforeCommit(), 1},
		{"lostAfterCommit", ResetAfterCommit(), 1},
		{"lostTwice", ResetAfterCommit(), 2},
		{"hangAfterCommit", HangAfterCommit(), 1},
		{"commitLate", CommitLate(10 * time.Minute), 1},
		{"cutBody", TruncatedBody(60), 1},
		{"slowBody", SlowBody(1), 1},
		{"htmlFor201", Garbage(HTML), 1},
		{"500before", Status(http.StatusInternalServerError, ServiceError), 1},
		{"500after", StatusAfterCommit(http.StatusInternalServerError, ServiceError), 1},
		{"502after", StatusAfterCommit(http.StatusBadGateway, HTML), 1},
		{"503own", Status(http.StatusServiceUnavailable, ServiceError), 1},
		{"503gateway", StatusAfterCommit(http.StatusServiceUnavailable, GatewayError), 1},
		{"503errors", StatusAfterCommit(http.StatusServiceUnavailable, ErrorList), 1},
		{"503html", StatusAfterCommit(http.StatusServiceUnavailable, HTML), 1},
		{"503empty", StatusAfterCommit(http.StatusServiceUnavailable, Empty), 1},
	}
	for _, code := range []int{403, 407, 408, 409, 425, 460, 499} {
		list = append(list, worldFault{strconv.Itoa(code) + "after", StatusAfterCommit(code, HTML), 1})
	}
	return list
}

// Faults returns the faults to inject so that the calls of an operation, such as
// "POST /transactions", meet what the world's dimension Fault says: the first call
// does, and the second too where an answer is lost twice.
func (w World) Faults(operation string) []Fault {
	name := w.Value(DimensionFault)
	for _, f := range worldFaults() {
		if f.name == name {
			return []Fault{{Operation: operation, Nth: 1, Times: f.times, Kind: f.kind}}
		}
	}
	return nil
}
