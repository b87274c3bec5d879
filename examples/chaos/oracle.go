package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
)

// oracle says of each write what the merchant has to come to know of it. It reads
// the service's ledger and the schedule of faults and crashes, and shares no code with
// the client: it does not know how anything is looked up.
type oracle struct {
	world    sandbox.World
	entries  map[string]sandbox.Ledger // by idempotency key, with the service's own retries
	outcomes map[string]string         // by receipt
	writes   []word
	pages    int // items that fit on one
}

// word is what the merchant says of one write in the end.
type word struct {
	order, kind, key string
	reference        string // the merchant's own
	original         string // the receipt that was voided or refunded
	amount           string
	ended            string // done, declined, nothing, absent, twice, or held
	receipt          string
	// lost tells that it met a fault, that the worker died before it could store the
	// answer, or that it was refused in another form than the service's words.
	lost bool
}

// verdict is the oracle's.
type verdict struct {
	truth    string // done, declined, nothing, unknown, or twice
	receipts []string
	held     string // the combination in which the write may be held; "" must settle
	apart    string // a risk that the merchant has taken knowingly
}

func newOracle(world sandbox.World, ledger sandbox.Ledger, writes []word) *oracle {
	o := &oracle{world: world, writes: writes, entries: make(map[string]sandbox.Ledger), outcomes: make(map[string]string)}
	keys := make(map[string]string)
	for _, e := range ledger {
		key := e.IdempotencyKey
		if key == "" {
			key = keys[e.OriginalReceipt]
		}
		keys[e.Receipt] = key
		o.entries[key] = append(o.entries[key], e)
		o.outcomes[e.Receipt] = e.Outcome
	}
	_, _ = fmt.Sscan(world.Value("PageSize"), &o.pages)
	return o
}

// judge returns what is true of a write, and whether the merchant must know it.
func (o *oracle) judge(w word) verdict {
	v := verdict{truth: "nothing"}
	if w.kind == "void" {
		if o.outcomes[w.original] == "voided" {
			v.truth, v.receipts = "done", []string{w.original}
		}
	} else {
		v.truth, v.receipts = o.charges(w)
	}
	v.held = o.mayBeHeld(w, v.truth)
	v.apart = o.risk(w)
	return v
}

// risk names what the merchant has taken knowingly, and what went wrong by it.
func (o *oracle) risk(w word) string {
	again, retried := 0, 0
	for _, e := range o.entries[w.key] {
		if e.IdempotencyKey == "" {
			retried++
		} else {
			again++
		}
	}
	switch {
	case again > 1 && o.world.Value("KeyLifetime") == "0s":
		return "re-sending where keys are ignored"
	case retried > 0 && o.world.Value("SoftDeclineCodes") == "01,05,51,91":
		return "the service retries declines that nobody calls soft"
	case w.lost && w.reference == "" && o.world.Value("ReusedReferences") != "none":
		return "a reference that the client has made, used a month ago"
	}
	return ""
}

// charges tells what the ledger has under the key of a write.
func (o *oracle) charges(w word) (truth string, receipts []string) {
	truth = "nothing"
	for _, e := range o.entries[w.key] {
		switch e.Outcome {
		case "approved", "voided":
			receipts = append(receipts, e.Receipt)
		case "declined", "rejected":
			if truth == "nothing" {
				truth = "declined"
			}
		default:
			truth = "unknown"
		}
	}
	switch len(receipts) {
	case 0:
		return truth, nil
	case 1:
		return "done", receipts
	default:
		return "twice", receipts
	}
}

// mayBeHeld names the combination of the world's values in which nobody can tell what
// became of a write, if it is one.
func (o *oracle) mayBeHeld(w word, truth string) string {
	is := func(dimension string, values ...string) bool {
		return slices.Contains(values, o.world.Value(dimension))
	}
	switch {
	case truth == "unknown":
		return "reads that never settle"
	case !w.lost || w.kind == "void":
		return ""
	case o.overPages(w) && is("ListOrder", "unstable"):
		return "unstable order over more than one page"
	case is("Metadata", "echoed"):
		return ""
	case is("EchoedReferences", "none"):
		return "reference left out, metadata not echoed, answer lost"
	case is("ReferenceSearch", "prefix") && o.isBeginning(w):
		return "prefix search, metadata not echoed, answer lost"
	case !is("ReusedReferences", "none") && w.reference != "" || o.isReused(w):
		return "reused reference, metadata not echoed, answer lost"
	case (w.reference != "" || w.kind == "refund" && !is("RefundReferences", "own")) &&
		(is("TimeForm", "wrong", "absent", "minutes", "none") || is("MerchantClock", "stepsBack") || !is("ClockSkew", "0s") && is("DateHeaderRight", "true")):
		return "times that are off, no reference of one payment alone, metadata not echoed, answer lost"
	case w.kind == "refund" && !is("RefundReferences", "own") && o.hasTwin(w):
		return "refunds without our reference, metadata not echoed, two equal ones"
	}
	return ""
}

// overPages tells that a list in which the write is looked up has more than one page.
func (o *oracle) overPages(w word) bool {
	items := 0
	for _, other := range o.writes {
		if other.key == w.key || w.reference != "" && strings.HasPrefix(strings.ToLower(other.reference), strings.ToLower(w.reference)) ||
			w.kind == "refund" && other.original == w.original {
			items += len(o.entries[other.key])
		}
	}
	if o.world.Value("ReusedReferences") != "none" {
		items++
	}
	return items > o.pages
}

func (o *oracle) isBeginning(w word) bool {
	return w.reference != "" && slices.ContainsFunc(o.writes, func(other word) bool {
		return len(other.reference) > len(w.reference) && strings.HasPrefix(strings.ToLower(other.reference), strings.ToLower(w.reference))
	})
}

func (o *oracle) isReused(w word) bool {
	return w.reference != "" && slices.ContainsFunc(o.writes, func(other word) bool {
		return other.key != w.key && strings.EqualFold(other.reference, w.reference)
	})
}

func (o *oracle) hasTwin(w word) bool {
	return slices.ContainsFunc(o.writes, func(other word) bool {
		return other.key != w.key && other.lost && other.kind == w.kind && other.original == w.original && other.amount == w.amount
	})
}

// What must never happen, in no world.
const (
	classTwice    = "charged twice"
	classLost     = "lost"
	classWrong    = "wrongly reported"
	classAbsent   = "charged but absent"
	classOpen     = "must that did not settle"
	classBroken   = "story that broke off"
	classNotTaken = "answer that was not taken, without a fault"
	classPlanted  = "planted answer that was believed, or a harmless one that was not"
)

func classes() []string {
	return []string{classTwice, classLost, classWrong, classAbsent, classOpen, classBroken, classNotTaken, classPlanted}
}

// complaint says what is wrong with the merchant's word, and in which of the classes
// of what must never happen; "" when nothing is.
func (v verdict) complaint(w word) (class, text string) {
	says := fmt.Sprintf("%s of %s (own reference %q) ended %q (receipt %s); it is %s (%s)", w.kind, w.order, w.reference, w.ended, w.receipt, v.truth, strings.Join(v.receipts, ", "))
	switch {
	case v.truth == "twice" && w.ended != "twice":
		return classTwice, says
	case v.truth == "twice":
		return classTwice, says + ", and the merchant knows"
	case w.ended == "held" && v.held == "":
		return classOpen, says
	case w.ended == "held":
		return "", ""
	case v.truth == "done" && w.ended == "absent":
		return classAbsent, says
	case v.truth == "done" && w.ended == "done" && !slices.Contains(v.receipts, w.receipt):
		return classWrong, says + ", under another receipt"
	case v.truth == w.ended, v.truth == "nothing" && w.ended == "absent":
		return "", ""
	case v.truth == "unknown":
		return classWrong, says
	case v.truth == "declined" && w.ended == "absent":
		if v.held == "" {
			return classOpen, says
		}
		return "", ""
	default:
		return classWrong, says
	}
}

// finding is something wrong that belongs to no single word.
type finding struct{ class, text string }

// ledger looks at what was charged by order: a payer does not care what key a charge
// has.
func (o *oracle) ledger() (found []finding) {
	words := make(map[string]word)
	for _, w := range o.writes {
		words[w.key] = w
	}
	charged, risky := make(map[string][]string), make(map[string]bool)
	for key, entries := range o.entries {
		w, known := words[key]
		for _, e := range entries {
			switch {
			case !known:
				found = append(found, finding{classLost, fmt.Sprintf("the merchant knows nothing of %s of %s", e.Receipt, e.CustomerReferenceNumber)})
			case e.Type == "PAYMENT" && e.Outcome == "approved":
				charged[w.order] = append(charged[w.order], e.Receipt)
				risky[w.order] = risky[w.order] || o.judge(w).apart != ""
			}
		}
	}
	for order, receipts := range charged {
		if len(receipts) > 1 && !risky[order] {
			found = append(found, finding{classTwice, fmt.Sprintf("%s was charged %d times: %s", order, len(receipts), strings.Join(receipts, ", "))})
		}
	}
	return found
}
