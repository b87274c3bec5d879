package oracle

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// paid is a payment of the order "A" as it stands in the ledger.
func paid(key, receipt, outcome string) sandbox.Entry {
	return sandbox.Entry{Type: "PAYMENT", CustomerReferenceNumber: "A", IdempotencyKey: key, ReceiptNumber: receipt, Outcome: outcome, Amount: 1000}
}

// TestJudge holds words against a ledger.
func TestJudge(t *testing.T) {
	says := func(key, ended, receipt string) Write {
		return Write{Order: "A", Kind: Payment, Key: key, Amount: decimal.New(10, 0), Ended: ended, Receipt: receipt}
	}
	entry := paid("K1", "R1", "approved")
	other := entry
	other.Amount = 999
	for name, tt := range map[string]struct {
		ledger sandbox.Ledger
		writes []Write
		want   []string // classes
	}{
		"right":                       {sandbox.Ledger{entry}, []Write{says("K1", Done, "R1")}, nil},
		"declined":                    {sandbox.Ledger{paid("K1", "R1", "declined")}, []Write{says("K1", Declined, "R1")}, nil},
		"not carried out":             {nil, []Write{says("K1", NotDone, ""), says("K2", NotFound, "")}, nil},
		"nobody knows":                {sandbox.Ledger{paid("K1", "R1", "erred")}, []Write{says("K1", Held, "")}, nil},
		"held, and it could be known": {sandbox.Ledger{entry}, []Write{says("K1", Held, "")}, []string{NotSettled}},
		"twice under one key":         {sandbox.Ledger{entry, paid("K1", "R2", "approved")}, []Write{says("K1", Done, "R1")}, []string{ChargedTwice, ChargedTwice}},
		"twice under two keys":        {sandbox.Ledger{entry, paid("K2", "R2", "approved")}, []Write{says("K1", Done, "R1"), says("K2", Done, "R2")}, []string{ChargedTwice}},
		"charged and not found":       {sandbox.Ledger{entry}, []Write{says("K1", NotFound, "")}, []string{ChargedNotFound}},
		"charged and declined":        {sandbox.Ledger{entry}, []Write{says("K1", Declined, "R1")}, []string{WronglyReported}},
		"charged and refused":         {sandbox.Ledger{entry}, []Write{says("K1", NotDone, "")}, []string{WronglyReported}},
		"paid and not charged":        {nil, []Write{says("K1", Done, "R1")}, []string{WronglyReported}},
		"another's receipt":           {sandbox.Ledger{entry}, []Write{says("K1", Done, "R9")}, []string{WronglyReported}},
		"another amount":              {sandbox.Ledger{other}, []Write{says("K1", Done, "R1")}, []string{WronglyReported}},
		"unknown to the merchant":     {sandbox.Ledger{entry}, nil, []string{Lost}},
	} {
		var got []string
		complain := func(class, _ string) { got = append(got, class) }
		j := newJudge(worlds.World{}, tt.ledger, tt.writes)
		for _, w := range tt.writes {
			if class, text := j.truth(w).complaint(w); class != "" {
				complain(class, text)
			}
		}
		j.charges(complain)
		assert.Equal(t, tt.want, got, name)
	}
}

// TestMayBeHeld: a lost payment may be held where the contract does not describe the world.
func TestMayBeHeld(t *testing.T) {
	w := Write{Order: "A", Kind: Payment, Key: "K1", Reference: "Inv-1", lost: true}
	for text, held := range map[string]bool{
		"default": false, "Metadata=dropped": true, "EchoedReferences=none": true, "ErrorForm=html": true, "StatusForm=absent": true,
	} {
		world, err := worlds.Parse(text)
		if text == "default" {
			world, err = worlds.World{}, nil
		}
		require.NoError(t, err)
		assert.Equal(t, held, newJudge(world, nil, []Write{w}).mayBeHeld(w, NotDone), text)
	}
}
