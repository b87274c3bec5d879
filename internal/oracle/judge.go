package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// How a write can end, as the merchant reports it.
const (
	Done          = "done"
	Declined      = "declined"
	NotDone       = "not carried out" // refused, or never sent
	NotFound      = "not found"       // looked up as long as there is hope
	DoubleCharged = "double charged"
	Reversed      = "reversed" // by the service, which has lost its answer
	Held          = "held"     // unknown
)

const unknown = "unknown" // even to the service itself

// Write is the merchant's final report of one write.
type Write struct {
	Order, Kind, Key string
	Reference        string // the merchant's own
	Original         string // the receipt of the voided, refunded or changed transaction
	Amount           decimal.Decimal
	Ended            string
	Receipt          string

	lost bool
}

// judge compares the reports of one run with its ledger.
type judge struct {
	world    worlds.World
	entries  map[string]sandbox.Ledger // by idempotency key, with the service's own retries
	outcomes map[string]string         // by receipt
	writes   []Write
	pages    int // items that fit on one
}

// truth is what the ledger shows about a write.
type truth struct {
	ended    string
	receipts []string
	held     bool // it may be; otherwise it must settle
	risk     bool // the merchant has taken one knowingly
}

// Judge compares the merchant's reports of all its writes with the ledger, and returns the complaints.
func (r *Run) Judge(writes []Write) *Report {
	report, lost := &Report{Worlds: 1, Writes: len(writes)}, r.lost()
	complain := func(class, text string) {
		report.Complain(class, text+"\n      "+r.opts.String())
	}
	for i := range writes {
		writes[i].lost = lost(writes[i].Key)
	}
	j := newJudge(r.opts.World, r.Box.Ledger(), writes)
	for _, w := range writes {
		t := j.truth(w)
		if !t.held {
			report.Musts++
		}
		if class, text := t.complaint(w); class != "" && !t.risk {
			complain(class, text)
		}
	}
	j.charges(complain)
	return report
}

func newJudge(world worlds.World, ledger sandbox.Ledger, writes []Write) *judge {
	j := &judge{world: world, writes: writes, entries: make(map[string]sandbox.Ledger), outcomes: make(map[string]string)}
	keys := make(map[string]string)
	for _, e := range ledger {
		key := e.IdempotencyKey
		if key == "" {
			key = keys[e.OriginalReceiptNumber]
		}
		keys[e.ReceiptNumber] = key
		j.entries[key] = append(j.entries[key], e)
		j.outcomes[e.ReceiptNumber] = e.Outcome
	}
	_, _ = fmt.Sscan(world.Value("PageSize"), &j.pages)
	return j
}

// truth returns the truth about a write, and whether the merchant must know it.
func (j *judge) truth(w Write) truth {
	t := truth{ended: NotDone}
	if w.Kind == Void {
		later := w.Ended == NotDone && slices.ContainsFunc(j.writes, func(other Write) bool {
			return other.Kind == Void && other.Original == w.Original && other.Ended == Done
		})
		if j.outcomes[w.Original] == "voided" && !later {
			t.ended, t.receipts = Done, []string{w.Original}
		}
	} else {
		t.ended, t.receipts = j.carriedOut(w)
	}
	t.held, t.risk = j.mayBeHeld(w, t.ended), j.risk(w)
	return t
}

// carriedOut returns how the write under a key ended by the ledger.
func (j *judge) carriedOut(w Write) (ended string, receipts []string) {
	ended = NotDone
	for _, e := range j.entries[w.Key] {
		switch {
		case e.Outcome == "voided" && !j.voids(e.ReceiptNumber):
			ended = Reversed
		case e.Outcome == "approved", e.Outcome == "voided":
			receipts = append(receipts, e.ReceiptNumber)
		case e.Outcome != "declined" && e.Outcome != "rejected":
			ended = unknown
		case ended == NotDone:
			ended = Declined
		}
	}
	switch len(receipts) {
	case 0:
		return ended, nil
	case 1:
		return Done, receipts
	default:
		return DoubleCharged, receipts
	}
}

// voids reports whether the merchant has voided a transaction, or tried to.
func (j *judge) voids(receipt string) bool {
	return slices.ContainsFunc(j.writes, func(w Write) bool { return w.Kind == Void && w.Original == receipt })
}

// risk reports whether the merchant knowingly took a risk that went wrong: a proxy that sends
// twice, or the client's own repeats, if keys are ignored; or a retry of a decline that is not
// documented as soft.
func (j *judge) risk(w Write) bool {
	again, retried := 0, 0
	for _, e := range j.entries[w.Key] {
		if e.IdempotencyKey == "" {
			retried++
		} else {
			again++
		}
	}
	twice := w.lost && strings.HasPrefix(j.world.Value(worlds.Fault), "twice")
	return (twice || again > 1) && j.world.Value("KeyLifetime") == "0s" || retried > 0 && j.world.Value("SoftDeclineCodes") == "01,05,51,91"
}

// mayBeHeld reports whether the outcome of a write cannot be known: it never settles, the service takes
// it back, its retries are listed in another order each time, or its answer was lost or proves nothing in
// a world that the contract does not describe.
func (j *judge) mayBeHeld(w Write, ended string) bool {
	switch {
	case ended == unknown, ended == Reversed, j.world.Value("Paging") == "unstable" && len(j.entries[w.Key])-1 > j.pages:
		return true
	case !w.lost:
		return !provesAnswer(j.world, w.Kind)
	}
	return w.Kind != Void && j.world.String() != (worlds.World{}).String() // a void is a state of its payment
}

// provesAnswer reports whether the answer to a write shows its id or, if no ids are shown, its reference.
func provesAnswer(world worlds.World, kind string) bool {
	switch is := world.Value; is("Metadata") {
	case "echoed":
		return true
	case "dropped":
		return !slices.Contains([]string{Refund, TopUp, Capture, Cancellation}, kind) || is("FollowUpReferences") == "own"
	}
	return false
}

// complaint says what is wrong with the merchant's report, and which rule it breaks; "" if nothing
// is wrong.
func (t truth) complaint(w Write) (class, text string) {
	says := fmt.Sprintf("%s of %s (own reference %q) ended %q (receipt %s); it is %s (%s)", w.Kind, w.Order, w.Reference, w.Ended, w.Receipt, t.ended, strings.Join(t.receipts, ", "))
	switch {
	case t.ended == DoubleCharged:
		return ChargedTwice, says
	case w.Ended == Held && !t.held:
		return NotSettled, says
	case w.Ended == Held, w.Ended == NotFound && t.held: // absence of evidence, for a person
		return "", ""
	case t.ended == Done && w.Ended == NotFound:
		return ChargedNotFound, says
	case t.ended == Done && w.Ended == Done && !slices.Contains(t.receipts, w.Receipt):
		return WronglyReported, says + ", under another receipt"
	case t.ended == w.Ended, (t.ended == NotDone || t.ended == Reversed) && w.Ended == NotFound, t.ended == Declined && w.Ended == NotFound && t.held:
		return "", ""
	case t.ended == Declined && w.Ended == NotFound:
		return NotSettled, says
	default:
		return WronglyReported, says
	}
}

// charges checks the charges of each order: a payer does not care which key a charge has.
func (j *judge) charges(complain func(class, text string)) {
	words := make(map[string]Write)
	for _, w := range j.writes {
		words[w.Key] = w
	}
	charged, risky := make(map[string][]string), make(map[string]bool)
	for _, key := range slices.Sorted(maps.Keys(j.entries)) {
		w, known := words[key]
		for _, e := range j.entries[key] {
			order := e.CustomerReferenceNumber
			switch amount := decimal.New(e.Amount, -2); {
			case !known:
				complain(Lost, fmt.Sprintf("the merchant knows nothing of %s of %s", e.ReceiptNumber, order))
			case w.Kind != Void && !amount.Equal(w.Amount):
				complain(WronglyReported, fmt.Sprintf("%s of %s is about %s, and not about %s", e.ReceiptNumber, order, amount, w.Amount))
			}
			if (e.Type == "PAYMENT" || e.Type == "CAPTURE") && e.Outcome == "approved" {
				charged[order] = append(charged[order], e.ReceiptNumber)
				risky[order] = risky[order] || known && j.risk(w)
			}
		}
	}
	for order, receipts := range charged {
		slices.Sort(receipts) // the keys are random
		if len(receipts) > 1 && !risky[order] {
			complain(ChargedTwice, fmt.Sprintf("%s was charged %d times: %s", order, len(receipts), strings.Join(receipts, ", ")))
		}
	}
}
