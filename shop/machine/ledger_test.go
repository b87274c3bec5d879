package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/sandbox"
)

// The bar compares what the ledger has of an order with what the shop's page says of it.
func TestCompared(t *testing.T) {
	paid := sandbox.Entry{Receipt: "1", CustomerReferenceNumber: "a", Type: "PAYMENT", Outcome: "approved", Amount: 2490}
	again, refund := paid, sandbox.Entry{Receipt: "3", Type: "REFUND", Outcome: "approved", OriginalReceipt: "1", Amount: 2490}
	again.Receipt = "2"
	const none, once, twice, back = "this order is not charged.", "this order was charged once, and has cost $24.90.", "this order was charged 2 times, and has cost $49.80.", "this order was charged, and all of it given back."
	const agrees, unknown, otherwise = " The shop says the same.", " The shop says that it does not know yet.", " This page says otherwise."
	for _, it := range []struct {
		ledger      sandbox.Ledger
		state, says string
		good        bool
	}{
		{nil, "new", none + agrees, true},
		{nil, "declined", none + agrees, true},
		{nil, "approved", none + otherwise, false},
		{nil, "twice", none + otherwise, false},
		{nil, "unknown", none + unknown, true},
		{nil, "", none, true},
		{sandbox.Ledger{paid}, "approved", once + agrees, true},
		{sandbox.Ledger{paid}, "declined", once + otherwise, false},
		{sandbox.Ledger{paid}, "voided", once + otherwise, false},
		{sandbox.Ledger{paid}, "person", once + unknown, true},
		{sandbox.Ledger{paid}, "", once, true},
		{sandbox.Ledger{paid, refund}, "returned", back + agrees, true},
		{sandbox.Ledger{paid, refund}, "approved", back + agrees, true},
		{sandbox.Ledger{paid, again}, "approved", twice + otherwise, false},
		{sandbox.Ledger{paid, again}, "twice", twice + agrees, true},
		{sandbox.Ledger{paid, again}, "", twice, false},
		{sandbox.Ledger{paid, again, refund}, "approved", "this order was charged 2 times, and has cost $24.90." + agrees, true},
	} {
		words, good := compared(accountOf(accounts(it.ledger), "A"), it.state)
		assert.Equal(t, "The ledger: "+it.says, words, it.state)
		assert.Equal(t, it.good, good, "%s %s", it.state, words)
	}
}

// The verdict is computed from the ledger: it says so if somebody was charged twice.
func TestVerdict(t *testing.T) {
	entry := func(receipt, order, kind, outcome, original string) sandbox.Entry {
		return sandbox.Entry{Receipt: receipt, CustomerReferenceNumber: order, Type: kind, Outcome: outcome, OriginalReceipt: original, Amount: 1050}
	}
	declined := entry("1", "a", "PAYMENT", "declined", "")
	paid := entry("2", "a", "PAYMENT", "approved", "")
	again := entry("3", "A", "PAYMENT", "approved", "")
	refund := entry("4", "", "REFUND", "approved", "2")
	other := entry("5", "b", "PAYMENT", "approved", "")
	voided := entry("6", "a", "PAYMENT", "voided", "")
	nameless := []sandbox.Entry{entry("7", "", "PAYMENT", "approved", ""), entry("8", "", "PAYMENT", "approved", "")}
	for words, ledger := range map[string]sandbox.Ledger{
		"Nobody was charged yet.":                                           {declined},
		"Nobody was charged twice: one order has paid, once.":               {declined, paid, refund, voided},
		"Nobody was charged twice: 2 orders have paid, each once.":          {paid, other},
		"Somebody was charged more than once: order a was charged 2 times.": {paid, other, again},
		"Nobody was charged twice: 3 orders have paid, each once.":          append(nameless, paid),
		"Somebody was charged more than once: order A was charged 2 times.": {again, refund, paid},
	} {
		said, good := verdict(accounts(ledger))
		assert.Equal(t, words, said)
		assert.Equal(t, said[0] == 'N', good)
	}
	list := accounts(sandbox.Ledger{paid, refund, other})
	assert.Equal(t, []string{"b", "a"}, []string{list[1].Order, list[0].Order}[0:2])
	assert.Len(t, list[0].Entries, 2, "with what followed")
	assert.Zero(t, list[0].Net)
}
