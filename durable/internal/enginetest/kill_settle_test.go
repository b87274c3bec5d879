package enginetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// open says what is not over: payments, what was refused by the merchant's tables, and
// notifications.
const (
	openPayments      = "(state IN ('prepared', 'sending', 'unknown') OR pending <> '')"
	openNotifications = "state = 'received'"
)

// settle lets time pass, without faults, until all is over that can be: at most three
// weeks.
func (v *village) settle() {
	v.Helper()
	v.box.ClearFaults()
	v.calm()
	patience := time.Now().Add(5*time.Minute + time.Duration(len(v.orders))*200*time.Millisecond)
	for end := v.clock.Now().Add(21 * 24 * time.Hour); v.clock.Now().Before(end) && time.Now().Before(patience); {
		next, waiting := v.next()
		if !waiting {
			return
		}
		now := v.merchantNow()
		switch until := next.Sub(now); {
		case next.IsZero(): // a notification is to be posted again
			v.step(10 * time.Minute)
		case until > time.Minute:
			v.step(until + 10*time.Minute)
		default:
			v.step(max(until, 0) + time.Second)
		}
		v.worked()
	}
}

// calm waits until nothing is on its way: what was prepared or claimed when the processes
// were killed is handed out again after a minute or two.
func (v *village) calm() {
	v.Helper()
	for range 40 {
		if v.count("SELECT count(*) FROM quickstream.payment WHERE state = 'sending' OR state = 'prepared' AND operation <> 'GiveBack'") == 0 {
			return
		}
		v.step(5 * time.Second)
		v.worked()
	}
}

func (v *village) merchantNow() time.Time { return v.world.MerchantTime(v.clock.Now(), v.begun) }

// next is when there is something to do, and whether there is anything at all.
func (v *village) next() (next time.Time, waiting bool) {
	v.Helper()
	due := v.count("SELECT min(next_at) FROM (SELECT next_at FROM quickstream.payment WHERE " + openPayments +
		" UNION ALL SELECT next_at FROM quickstream.notification WHERE " + openNotifications + ") AS due")
	for _, d := range v.box.Deliveries() {
		waiting = waiting || d.State == sandbox.DeliveryWaiting
	}
	if due == 0 {
		return time.Time{}, waiting
	}
	return time.UnixMicro(due), true
}

// worked waits until the processes have done what is due. What a killed process has left
// is due and nobody's, until its lease ends.
func (v *village) worked() {
	v.Helper()
	require.NoError(v, v.box.Flush(v.Context()))
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); <-tick.C {
		now := v.merchantNow().UnixMicro()
		due := v.count("SELECT (SELECT count(*) FROM quickstream.payment WHERE next_at <= " + number(now) + " AND " + openPayments +
			") + (SELECT count(*) FROM quickstream.notification WHERE next_at <= " + number(now) + " AND " + openNotifications + ")")
		if due == 0 {
			return
		}
	}
	v.step(65 * time.Second)
}
