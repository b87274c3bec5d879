package sandbox

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Entry is one transaction as it really stands, whatever answers were given.
// Amounts are in cents.
type Entry struct {
	Receipt                 string
	OriginalReceipt         string // of refunds and the like
	Type                    string // transactionType
	Outcome                 string // approved, declined, erred, rejected or suspended
	Amount                  int64  // before surcharge
	Surcharge               int64
	Currency                string
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Metadata                map[string]string
	IdempotencyKey          string // with which it was made
	Time                    time.Time
}

// Ledger is what happened, oldest first.
type Ledger []Entry

// Ledger returns the transactions of the facility as they stand now.
func (b *Sandbox) Ledger() Ledger {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(Ledger, 0, len(b.transactions.ordered))
	for _, tx := range b.transactions.ordered {
		out = append(out, Entry{
			Receipt: tx.receipt, OriginalReceipt: tx.originalReceipt, Type: tx.kind, Outcome: string(tx.result),
			Amount: int64(tx.principal), Surcharge: int64(tx.surcharge), Currency: tx.currency,
			CustomerReferenceNumber: tx.customerReference, PaymentReferenceNumber: tx.paymentReference,
			Metadata: maps.Clone(tx.metadata), IdempotencyKey: tx.idempotencyKey, Time: tx.created,
		})
	}
	return out
}

// Order returns the entries of one order, which is a customerReferenceNumber.
// Case does not matter, as it does not to the service.
func (l Ledger) Order(ref string) Ledger {
	return l.filter(func(e Entry) bool { return strings.EqualFold(e.CustomerReferenceNumber, ref) })
}

// Charged returns the payments for an order that took money. More than one
// means that the payer has paid twice.
func (l Ledger) Charged(ref string) Ledger {
	return l.Order(ref).filter(func(e Entry) bool {
		return e.Type == typePayment && e.Outcome == string(resultApproved)
	})
}

// Net is what an order has cost the payer, surcharges included, in cents.
func (l Ledger) Net(ref string) int64 {
	var sum int64
	for _, e := range l.Charged(ref) {
		sum += e.Amount + e.Surcharge
	}
	return sum
}

func (l Ledger) filter(want func(Entry) bool) Ledger {
	return slices.DeleteFunc(slices.Clone(l), func(e Entry) bool { return !want(e) })
}
