package durabletest

import (
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// Judge compares the engine's payments of the orders with the sandbox's ledger. The test fails
//
//   - if an order was charged more than once, where a first pre-authorisation counts as a charge;
//   - if a payment is paid and was not charged, or was charged and is not paid. In another world than
//     the default one a payment that was charged may need a person;
//   - if something was charged that belongs to no payment of these orders;
//   - if more was refunded than was charged.
//
// Name all orders of the test, and call it when their payments are settled.
func (k *Kit[TTx]) Judge(orders ...string) {
	k.t.Helper()
	charged, refunded := map[string]sandbox.Ledger{}, map[string]int64{} // by reference, and by receipt
	for _, e := range k.Sandbox.Ledger() {
		switch reference := strings.ToUpper(e.PaymentReferenceNumber); {
		case e.Outcome != "approved":
		case e.Type == "PAYMENT", e.Type == "PREAUTH" && e.OriginalReceiptNumber == "":
			charged[reference] = append(charged[reference], e)
		case e.Type == "REFUND":
			refunded[e.OriginalReceiptNumber] += e.Amount
		}
	}
	for _, e := range k.Sandbox.Ledger() {
		if took := e.Amount + e.Surcharge; (e.Type == "PAYMENT" || e.Type == "CAPTURE") && e.Outcome == "approved" && refunded[e.ReceiptNumber] > took {
			k.t.Errorf("durabletest: %s took %d cents, and %d were refunded", e.ReceiptNumber, took, refunded[e.ReceiptNumber])
		}
	}
	for _, order := range orders {
		times := 0
		for _, p := range k.writes(order) {
			if !p.IsPayment() {
				continue
			}
			reference := strings.ToUpper(p.Reference)
			entries := charged[reference]
			delete(charged, reference)
			times += len(entries)
			unknown := p.State.Blocks() && !p.Paid() && k.World.String() != worlds.World{}.String()
			if p.Paid() != (len(entries) > 0) && !unknown {
				k.t.Errorf("durabletest: order %s was charged %d times by %s, which is %s", order, len(entries), p.ID, p.Text())
			}
		}
		if times > 1 {
			k.t.Errorf("durabletest: order %s was charged %d times", order, times)
		}
	}
	for _, entries := range charged {
		for _, e := range entries {
			k.t.Errorf("durabletest: %s was charged for %q, and is of no payment of these orders", e.ReceiptNumber, e.CustomerReferenceNumber)
		}
	}
}
