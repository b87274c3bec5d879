package enginetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// These say what is not over: writes, what was refused by the merchant's tables, notifications, and
// refunds of tomorrow.
const (
	openWrites = "(w.state IN ('queued', 'sending', 'resolving') AND NOT " + inLine + " OR w.pending <> '')"
	// unknownOthers are other follow-ups of the same payment whose outcome is not known.
	unknownOthers = `SELECT 1 FROM quickstream.write AS f
		WHERE f.follows = w.follows AND f.id <> w.id AND f.state IN ('resolving', 'not_found', 'escalated')`
	// behindOthers is a follow-up that asks every half minute whether it may be sent. What is inLine may not, as long as
	// one of the same amount is unknown.
	behindOthers = "(w.state = 'queued' AND w.follows <> '' AND EXISTS (" + unknownOthers + "))"
	inLine       = "(w.state = 'queued' AND w.follows <> '' AND EXISTS (" + unknownOthers + " AND f.amount = w.amount))"

	openNotifications = "state = 'received'"
	openRefunds       = "state = 'wanted' AND order_id IN (SELECT id FROM orders WHERE state = 'paid')"
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
		now := clockAtLast(v.world, v.clock.Now(), v.begun)
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

// calm waits until nothing is on its way: what was queued or claimed when the processes
// were killed is handed out again after a minute or two.
func (v *village) calm() {
	v.Helper()
	for range 40 {
		if v.count("SELECT count(*) FROM quickstream.write AS w WHERE state = 'sending' OR state = 'queued' AND operation <> 'Reverse' AND NOT "+inLine) == 0 {
			return
		}
		v.step(5 * time.Second)
		v.worked()
	}
}

// next is when there is something to do, and whether there is anything at all.
func (v *village) next() (next time.Time, waiting bool) {
	v.Helper()
	due := v.count("SELECT min(at) FROM (SELECT " + v.micros("w.next_at") + " AS at FROM quickstream.write AS w WHERE " + openWrites + " AND NOT " + behindOthers +
		" UNION ALL SELECT " + v.micros("next_at") + " FROM quickstream.notification WHERE " + openNotifications +
		" UNION ALL SELECT due FROM refunds WHERE " + openRefunds + ") AS due")
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
		now := number(clockAtLast(v.world, v.clock.Now(), v.begun).UnixMicro())
		due := v.count("SELECT (SELECT count(*) FROM quickstream.write AS w WHERE " + v.micros("w.next_at") + " <= " + now + " AND " + openWrites +
			") + (SELECT count(*) FROM quickstream.notification WHERE " + v.micros("next_at") + " <= " + now + " AND " + openNotifications +
			") + (SELECT count(*) FROM refunds WHERE due <= " + now + " AND " + openRefunds + ")")
		if due == 0 {
			return
		}
	}
	v.step(65 * time.Second)
}
