package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/sandbox"
)

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
