package sandbox

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestFollowUpsKeepTheirLimits does random things to a payment and to a pre-authorisation,
// and adds up the ledger by itself.
func TestFollowUpsKeepTheirLimits(t *testing.T) {
	for seed := range uint64(12) {
		bubble(t, func(c *caller) {
			dice := rand.New(rand.NewPCG(seed, 7))
			payment, held := c.pay("P"), c.made(preauth("H", goodCard))
			captures := []string{held}
			for range 60 {
				if dice.IntN(4) == 0 {
					c.box.NextTransaction([]Outcome{Declined("05"), Rejected("QA"), Erred().ThenAfter(time.Hour, Approved())}[dice.IntN(3)])
				}
				amount := cents(1 + dice.IntN(9000)).String()
				var body object
				switch dice.IntN(8) {
				case 0, 1:
					body = against(typeRefund, payment, cents(1+dice.IntN(600)).String())
				case 2:
					body = captureOf(captures[dice.IntN(len(captures))], amount)
				case 3:
					body = change(topUp, held, amount)
				case 4:
					body = cancellation(cancelPartial, held, amount)
				case 5:
					body = change(reauthorisation, held, amount)
				case 6:
					c.post("/transactions/"+payment+"/void", nil)
					continue
				default:
					c.sleep(time.Duration(dice.IntN(20)) * time.Hour)
					continue
				}
				if out := c.post("/transactions", body); out.status == 201 && body["authorisationType"] == reauthorisation {
					captures = append(captures, receiptIn(out.body))
				}
			}
			c.sleep(2 * time.Hour)

			sums := map[string]int64{}
			taken := 0
			for _, e := range c.box.Ledger() {
				if e.Outcome != "approved" {
					continue
				}
				sums[e.Type+e.AuthorisationType+e.CancellationType] += e.Amount
				if e.Type == typeCapture {
					taken++
				}
			}
			label := fmt.Sprintf("seed %d: %v", seed, sums)
			assert.LessOrEqual(t, sums[typeRefund], sums[typePayment], label)
			assert.LessOrEqual(t, taken, 1, label)
			assert.LessOrEqual(t, sums[typeCapture], 2*(sums[typePreauth]+sums[typePreauth+topUp]+sums[typePreauth+reauthorisation]), label)
			net := sums[typePayment] + sums[typeCapture] - sums[typeRefund]
			assert.Equal(t, net, c.box.Ledger().Net("P")+c.box.Ledger().Net("H"), label)
		}, WithSeed(seed+1))
	}
}

func TestManyRefundsAndCapturesAtOnce(t *testing.T) {
	bubble(t, func(c *caller) {
		payment, held := c.pay("P"), c.made(preauth("H", goodCard))
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				_, err := c.try(c.request("POST", "/transactions", c.keys.Secret, against(typeRefund, payment, "2.00")))
				assert.NoError(t, err)
				_, err = c.try(c.request("POST", "/transactions", c.keys.Secret, captureOf(held, "10.00")))
				assert.NoError(t, err)
			})
		}
		wg.Wait()
		assert.Equal(t, int64(50), c.box.Ledger().Net("P"), "five refunds of 2.00 fit into 10.50")
		assert.Len(t, c.box.Ledger().Charged("H"), 1)
	}, assuming(refundableAtOnce))
}
