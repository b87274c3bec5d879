package oracle

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The classes of complaints. None may happen in any world.
const (
	ChargedTwice    = "charged twice"
	Lost            = "lost"
	WronglyReported = "wrongly reported"
	ChargedNotFound = "charged, and reported as not found"
	NotSettled      = "held, though it could be known"
	Broken          = "run that broke off"
	NotTaken        = "answer that was not taken, without a fault"
)

// Report is the result of the oracle.
type Report struct {
	Worlds, Writes int
	Musts          int                 // writes that must settle
	Complaints     map[string][]string // by class, such as ChargedTwice
}

// Complain adds complaints of a class.
func (r *Report) Complain(class string, texts ...string) {
	if r.Complaints == nil {
		r.Complaints = map[string][]string{}
	}
	r.Complaints[class] = append(r.Complaints[class], texts...)
}

// Add adds the report of another run.
func (r *Report) Add(other *Report) {
	r.Worlds, r.Writes, r.Musts = r.Worlds+other.Worlds, r.Writes+other.Writes, r.Musts+other.Musts
	for class, texts := range other.Complaints {
		r.Complain(class, texts...)
	}
}

// Err returns an error if there is a complaint, or if too few writes had to settle.
func (r *Report) Err() error {
	var errs []error
	for _, class := range slices.Sorted(maps.Keys(r.Complaints)) {
		errs = append(errs, fmt.Errorf("%s: %d times", class, len(r.Complaints[class])))
	}
	if r.Musts*5 < r.Writes { // each world has a write that is lost
		errs = append(errs, fmt.Errorf("only %d of %d writes must settle: the run shows little", r.Musts, r.Writes))
	}
	return errors.Join(errs...)
}

// String returns the report as a table.
func (r *Report) String() string {
	const most = 20 // complaints that are listed
	w := new(strings.Builder)
	fmt.Fprintf(w, "%d worlds, %d writes, %d must settle (%.1f %%)\n", r.Worlds, r.Writes, r.Musts, 100*float64(r.Musts)/float64(max(r.Writes, 1)))
	fmt.Fprintln(w, "Never, in no world")
	for _, class := range []string{ChargedTwice, Lost, WronglyReported, ChargedNotFound, NotSettled, Broken, NotTaken} {
		texts := slices.Sorted(slices.Values(r.Complaints[class]))
		fmt.Fprintf(w, "  %-68s %8d\n", class, len(texts))
		for _, text := range texts[:min(len(texts), most)] {
			fmt.Fprintf(w, "    %s\n", text)
		}
	}
	return w.String()
}
