package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// account is what an order has cost, by the service's own ledger.
type account struct {
	Order   string
	Entries []sandbox.Entry
	Charges int // that took money
	Net     int64
	Last    time.Time
}

// Twice reports an order for which money was taken more than once.
func (a account) Twice() bool { return a.Charges > 1 }

// accounts are the orders of a ledger, the newest first.
func accounts(ledger sandbox.Ledger) []account {
	var list []account
	seen := map[string]bool{}
	for _, e := range ledger {
		// What follows a payment is part of its order, whatever reference it has.
		name, part := strings.ToLower(e.CustomerReferenceNumber), ledger
		if seen[name] || e.OriginalReceipt != "" {
			continue
		}
		if name == "" {
			part = sandbox.Ledger{e} // it belongs to nothing else
		} else {
			seen[name] = true
		}
		a := account{Order: e.CustomerReferenceNumber, Entries: part.Order(name), Charges: len(part.Charged(name)), Net: part.Net(name)}
		a.Last = a.Entries[len(a.Entries)-1].Time
		list = append(list, a)
	}
	slices.SortStableFunc(list, func(x, y account) int { return cmp.Compare(y.Last.UnixNano(), x.Last.UnixNano()) })
	return list
}

// verdict says in words whether anybody was charged twice.
func verdict(list []account) (words string, good bool) {
	var twice []string
	charged := 0
	for _, a := range list {
		if a.Charges > 0 {
			charged++
		}
		if a.Twice() {
			twice = append(twice, fmt.Sprintf("order %s was charged %d times", a.Order, a.Charges))
		}
	}
	switch {
	case len(twice) > 0:
		return "Somebody was charged more than once: " + strings.Join(twice, ", ") + ".", false
	case charged == 0:
		return "Nobody was charged yet.", true
	case charged == 1:
		return "Nobody was charged twice: one order has paid, once.", true
	default:
		return fmt.Sprintf("Nobody was charged twice: %d orders have paid, each once.", charged), true
	}
}
