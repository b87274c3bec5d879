package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSchedule(t *testing.T) {
	bubble(t, func(c *caller) {
		customer := c.customerNumbered("CUST-1")
		c.keep(customer, object{"creditCard": cardDetails(goodCard)})
		first := time.Date(2000, 1, 30, 22, 0, 0, 0, time.UTC)
		id, err := c.box.CreateSchedule(Schedule{CustomerID: customer, Amount: 1500, Frequency: Monthly, First: first, Payments: 5})
		require.NoError(t, err)
		path := "/recurring-payments/" + id
		body := c.must(200, c.get(path))
		for name, want := range map[string]any{
			"paymentScheduleId": id, "paymentScheduleCode": "SCHEDULE0001", "status": "ACTIVE", "customerId": customer, "accountToken": nil,
			"supplierBusinessCode": DefaultBusiness, "frequency": "MONTHLY", "scheduleType": "FIXED_NUMBER_OF_PAYMENTS", "nextPaymentDate": "2000-01-31",
		} {
			assert.Equal(t, want, body[name], name)
		}
		assert.Equal(t, money("15.00"), body["regularPaymentAmount"].(object)["amount"])
		assert.Empty(t, c.receipts(path+"/transactions"))

		c.sleep(160 * 24 * time.Hour)
		receipts := c.receipts(path + "/transactions")
		require.Len(t, receipts, 5)
		var days []any
		for _, receipt := range receipts {
			paid := c.read(receipt)
			days = append(days, paid["transactionTime"].(string)[:16])
			assert.Equal(t, []any{"PAYMENT", "RECURRING", "CUST-1", "SCHEDULE0001", "0"}, []any{
				paid["transactionType"], paid["source"], paid["customerReferenceNumber"], paid["paymentReferenceNumber"], paid["summaryCode"],
			})
		}
		assert.Equal(t, []any{"2000-05-31T09:00", "2000-04-30T09:00", "2000-03-31T09:00", "2000-02-29T09:00", "2000-01-31T09:00"}, days)
		body = c.must(200, c.get(path))
		assert.Equal(t, []any{"COMPLETED", nil}, []any{body["status"], body["nextPaymentDate"]})
		assert.Equal(t, int64(7500), c.box.Ledger().Net("CUST-1"))
		c.must(404, c.get("/recurring-payments/1"))
		c.must(404, c.get("/recurring-payments/1/transactions"))
	})
}

func TestSchedulesOfACustomer(t *testing.T) {
	bubble(t, func(c *caller) {
		customer, other := c.customerNumbered("1"), c.customerNumbered("2")
		account := c.keep(customer, object{"bankAccount": bankDetails()})["accountToken"].(string)
		create := func(s Schedule) string {
			s.Amount = 100
			id, err := c.box.CreateSchedule(s)
			require.NoError(t, err)
			return id
		}
		stopped := create(Schedule{CustomerID: customer, Frequency: Weekly, First: c.box.Now().Add(24 * time.Hour)})
		weekly := create(Schedule{CustomerID: customer, Frequency: Weekly, AccountToken: account})
		create(Schedule{CustomerID: other, Frequency: Weekly})
		fortnightly := create(Schedule{CustomerID: customer, Frequency: Fortnightly})
		quarterly := create(Schedule{CustomerID: customer, Frequency: Quarterly})
		yearly := create(Schedule{CustomerID: customer, Frequency: Yearly})
		require.NoError(t, c.box.Portal(stopped, StopSchedule))
		require.Error(t, c.box.Portal(stopped, StopSchedule))
		c.sleep(364*24*time.Hour + 12*time.Hour)

		assert.Equal(t, []string{weekly, fortnightly, quarterly, yearly, stopped},
			c.listed("/customers/"+customer+"/recurring-payments", "paymentScheduleId"))
		c.must(404, c.get("/customers/1/recurring-payments"))
		for id, want := range map[string]int{stopped: 0, weekly: 53, fortnightly: 27, quarterly: 4, yearly: 1} {
			c.box.mu.Lock()
			got := len(c.box.schedules.byID[id].payments)
			c.box.mu.Unlock()
			assert.Equal(t, want, got, id)
		}
		assert.Empty(t, c.box.Ledger().Charged("2"), "no account, no payment")

		require.NoError(t, c.box.Portal(account, DisableAccount))
		before := len(c.box.Ledger())
		c.sleep(30 * 24 * time.Hour)
		assert.Len(t, c.box.Ledger(), before)
	})
}

func TestSchedulesThatCannotBe(t *testing.T) {
	bubble(t, func(c *caller) {
		customer, other := c.customerNumbered("1"), c.customerNumbered("2")
		account := c.keep(other, object{"bankAccount": bankDetails()})["accountToken"].(string)
		good := Schedule{CustomerID: customer, Amount: 100, Frequency: Weekly}
		for name, wrong := range map[string]func(*Schedule){
			"customer":         func(s *Schedule) { s.CustomerID = "x" },
			"account":          func(s *Schedule) { s.AccountToken = "x" },
			"another's":        func(s *Schedule) { s.AccountToken = account },
			"business":         func(s *Schedule) { s.SupplierBusinessCode = "x" },
			"amount":           func(s *Schedule) { s.Amount = 0 },
			"negative number":  func(s *Schedule) { s.Payments = -1 },
			"frequency":        func(s *Schedule) { s.Frequency = "DAILY" },
			"in the past":      func(s *Schedule) { s.First = c.box.Now().Add(-time.Second) },
			"without anything": func(s *Schedule) { *s = Schedule{} },
		} {
			s := good
			wrong(&s)
			_, err := c.box.CreateSchedule(s)
			require.Error(t, err, name)
		}
		_, err := c.box.CreateSchedule(good)
		require.NoError(t, err)
		c.box.Close()
		_, err = c.box.CreateSchedule(good)
		require.Error(t, err)
	})
}
