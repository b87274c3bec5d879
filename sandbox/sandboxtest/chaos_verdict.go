package sandboxtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// mostFailures is the largest number of orders that are reported one by one.
const mostFailures = 10

// judge compares the merchant's results with the ledger.
func (c *chaos) judge(t testing.TB, asked int) {
	t.Helper()
	ledger, requests := byOrder(c.box.Ledger()), c.requests()
	missing := c.withoutPayment(ledger)
	if len(missing) == c.opts.Orders {
		t.Errorf("chaos (seed %d): nothing was paid for any order; is the order the CustomerReferenceNumber? The merchant's last word on %s: %s",
			c.opts.Seed, order(missing[0]), wording(c.words[missing[0]]))
		return
	}
	if reached := c.opts.Orders - len(missing); 2*reached < c.opts.Orders {
		t.Errorf("chaos (seed %d): only %d of %d orders reached the service as a payment, charged or not; the others show nothing. "+
			"The merchant's last word on %s: %s", c.opts.Seed, reached, c.opts.Orders, order(missing[0]), wording(c.words[missing[0]]))
	}
	var failures, paid, unpaid, unknown int
	for i, word := range c.words {
		entries := ledger[order(i)]
		charged := entries.Charged(order(i))
		switch {
		case word == nil:
			paid++
		case isUnknown(word):
			unknown++
		default:
			unpaid++
		}
		wrong := c.fault(word, len(charged))
		if wrong == "" {
			continue
		}
		if failures++; failures <= mostFailures {
			t.Errorf("chaos (seed %d): %s", c.opts.Seed, report(order(i), wrong, word, entries, requests[order(i)]))
		}
	}
	if failures > mostFailures {
		t.Errorf("chaos (seed %d): %d orders failed altogether", c.opts.Seed, failures)
	}
	t.Logf("chaos: seed %d, %d orders: %d paid, %d not paid, %d unknown; asked %d times to settle; faults: %s",
		c.opts.Seed, c.opts.Orders, paid, unpaid, unknown, asked, counts(c.box.FaultCounts()))
}

// withoutPayment returns the orders that are not in the ledger.
func (c *chaos) withoutPayment(ledger map[string]sandbox.Ledger) (missing []int) {
	for i := range c.words {
		if len(ledger[order(i)]) == 0 {
			missing = append(missing, i)
		}
	}
	return missing
}

// fault returns what is wrong with an order, or "".
func (c *chaos) fault(word error, charged int) string {
	unknown := isUnknown(word)
	switch {
	case charged > 1:
		return fmt.Sprintf("was charged %d times", charged)
	case charged == 1 && unknown && c.opts.Settle != nil && c.opts.inDefaultWorld():
		return "was charged and is lost: the merchant still does not know after a week without faults"
	case charged == 1 && word != nil && !unknown:
		return "was charged, and the merchant said that it was not"
	case charged == 0 && word == nil:
		return "was not charged, and the merchant said that it was"
	default:
		return ""
	}
}

// byOrder groups the ledger by order, with the transactions that refer to its entries.
func byOrder(all sandbox.Ledger) map[string]sandbox.Ledger {
	orders := make(map[string]sandbox.Ledger)
	of := make(map[string]string, len(all)) // by receipt
	for _, e := range all {
		name := strings.ToUpper(e.CustomerReferenceNumber)
		if original := of[e.OriginalReceipt]; original != "" {
			name = original
		}
		of[e.Receipt] = name
		orders[name] = append(orders[name], e)
	}
	return orders
}

// requests returns the requests by order: its payments, and the look-ups by their references.
func (c *chaos) requests() map[string][]sandbox.Request {
	orders := make(map[string][]sandbox.Request)
	references := make(map[string]string) // the references of an order
	for _, e := range c.box.Ledger() {
		references[e.Receipt] = strings.ToUpper(e.CustomerReferenceNumber)
	}
	for _, r := range c.box.Requests() {
		var sent struct{ CustomerReferenceNumber, PaymentReferenceNumber string }
		name := ""
		if json.Unmarshal(r.Body, &sent) == nil && sent.CustomerReferenceNumber != "" {
			name = strings.ToUpper(sent.CustomerReferenceNumber)
			references[sent.CustomerReferenceNumber], references[sent.PaymentReferenceNumber] = name, name
		} else if reference := r.Query.Get("referenceNumber"); reference != "" {
			name = references[reference]
		} else {
			for part := range strings.SplitSeq(r.Path, "/") {
				if of := references[part]; of != "" {
					name = of
				}
			}
		}
		if name != "" {
			orders[name] = append(orders[name], r)
		}
	}
	return orders
}

// report describes an order and its requests.
func report(order, wrong string, word error, entries sandbox.Ledger, requests []sandbox.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "order %s %s\n", order, wrong)
	fmt.Fprintf(&b, "  the merchant's last word: %s\n", wording(word))
	for _, e := range entries {
		fmt.Fprintf(&b, "  ledger: %s %s, %d.%02d %s, receipt %s, reference %s, key %s\n",
			e.Type, e.Outcome, e.Amount/100, e.Amount%100, e.Currency, e.Receipt, e.PaymentReferenceNumber, e.IdempotencyKey)
	}
	for i, r := range requests {
		fmt.Fprintf(&b, "  request %d: %s", i+1, r.Operation)
		if r.IdempotencyKey != "" {
			fmt.Fprintf(&b, ", key %s", r.IdempotencyKey)
		}
		if r.Fault != "" {
			fmt.Fprintf(&b, ", fault %s", r.Fault)
		}
		switch {
		case r.Replayed:
			b.WriteString(", replayed")
		case r.Committed && r.Method != "GET":
			b.WriteString(", carried out")
		}
		if r.Status == 0 {
			b.WriteString(", not answered\n")
		} else {
			fmt.Fprintf(&b, ", answered %d\n", r.Status)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// isUnknown reports whether a word holds the order.
func isUnknown(word error) bool {
	return errors.Is(word, quickstream.ErrOutcomeUnknown) || errors.Is(word, quickstream.ErrPending)
}

func wording(word error) string {
	switch {
	case word == nil:
		return "paid"
	case isUnknown(word):
		return "unknown: " + word.Error()
	default:
		return "not paid: " + word.Error()
	}
}

func counts(faults map[string]int) string {
	fired := make([]string, 0, len(faults))
	for _, kind := range slices.Sorted(maps.Keys(faults)) {
		fired = append(fired, fmt.Sprintf("%s %d", kind, faults[kind]))
	}
	return strings.Join(fired, ", ")
}
