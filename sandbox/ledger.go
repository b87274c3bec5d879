package sandbox

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Entry is a transaction in its real state, whatever answers were given. Amounts are in
// cents.
type Entry struct {
	Receipt                 string            `json:"receiptNumber"`
	OriginalReceipt         string            `json:"originalReceiptNumber"` // of refunds, captures, retries and changes
	Type                    string            `json:"transactionType"`       // transactionType
	AuthorisationType       string            `json:"authorisationType"`     // of changes to a pre-authorisation
	CancellationType        string            `json:"cancellationType"`      // of cancellations of a pre-authorisation
	Outcome                 string            `json:"outcome"`               // approved, declined, erred, rejected, suspended, pending or voided
	Amount                  int64             `json:"amount"`                // before surcharge
	Surcharge               int64             `json:"surcharge"`
	Currency                string            `json:"currency"`
	CustomerReferenceNumber string            `json:"customerReferenceNumber"`
	PaymentReferenceNumber  string            `json:"paymentReferenceNumber"`
	AgreementToken          string            `json:"agreementToken"` // of PayTo payments
	EndToEndID              string            `json:"endToEndId"`     // of PayTo payments
	Metadata                map[string]string `json:"metadata"`
	IdempotencyKey          string            `json:"idempotencyKey"` // of the request that made it
	Time                    time.Time         `json:"time"`
}

// Ledger is a list of transactions, oldest first.
type Ledger []Entry

// Ledger returns the transactions of the facility in their current state.
func (b *Sandbox) Ledger() Ledger {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(Ledger, 0, len(b.transactions.ordered))
	for _, tx := range b.transactions.ordered {
		token := ""
		if a := tx.source.payTo; a != nil {
			token = a.token
		}
		out = append(out, Entry{
			Receipt: tx.receipt, OriginalReceipt: tx.originalReceipt, Type: tx.kind, Outcome: string(tx.result),
			AuthorisationType: tx.authorisationType, CancellationType: tx.cancellationType,
			Amount: int64(tx.principal), Surcharge: int64(tx.surcharge), Currency: tx.currency,
			CustomerReferenceNumber: tx.customerReference, PaymentReferenceNumber: tx.paymentReference,
			AgreementToken: token, EndToEndID: tx.endToEndID,
			Metadata: maps.Clone(tx.metadata), IdempotencyKey: tx.idempotencyKey, Time: tx.created,
		})
	}
	return out
}

// Order returns the transactions of an order, which is a customerReferenceNumber in any case,
// and those that refer to them: refunds, captures, retries.
func (l Ledger) Order(ref string) Ledger {
	receipts := make(map[string]bool)
	return l.filter(func(e Entry) bool {
		belongs := strings.EqualFold(e.CustomerReferenceNumber, ref) || receipts[e.OriginalReceipt]
		if belongs {
			receipts[e.Receipt] = true
		}
		return belongs
	})
}

// Charged returns the approved payments and captures of an order, refunded or not. Voided
// ones are not among them. More than one means that the payer has paid twice.
func (l Ledger) Charged(ref string) Ledger {
	return l.Order(ref).filter(func(e Entry) bool {
		return (e.Type == typePayment || e.Type == typeCapture) && e.Outcome == string(resultApproved)
	})
}

// Net returns what the payer has paid for an order, in cents: charges with their surcharges,
// less refunds.
func (l Ledger) Net(ref string) int64 {
	var sum int64
	for _, e := range l.Order(ref) {
		switch {
		case e.Outcome != string(resultApproved):
		case e.Type == typePayment || e.Type == typeCapture:
			sum += e.Amount + e.Surcharge
		case e.Type == typeRefund:
			sum -= e.Amount
		}
	}
	return sum
}

func (l Ledger) filter(want func(Entry) bool) Ledger {
	return slices.DeleteFunc(slices.Clone(l), func(e Entry) bool { return !want(e) })
}
