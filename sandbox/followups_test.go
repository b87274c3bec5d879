package sandbox

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
