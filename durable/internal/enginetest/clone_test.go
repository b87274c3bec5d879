package enginetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// A base backup is started beside its original, as for a test that nobody has thought through, and both
// have an engine of the same installation. Each sells at once. What was queued is sent by the original,
// and the copy finds it a quarter of an hour later. A form that is posted to both is charged once.
func TestCloneBeside(t *testing.T) {
	t.Parallel()
	sv := newServer(t)
	s := &shop[pgx.Tx]{T: t, db: sv.store(), clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.LookupLag = 0, 5*time.Minute // the key alone tells what was posted to both
	}))
	s.engine = s.start()
	s.settled(s.pay("before", s.card(sandbox.CardAttempted)))
	require.NoError(t, s.engine.Stop(t.Context()))
	n, onFile, waiting := times(t, lostVariable, 20), s.stored(), map[string]string{}
	for i := range n {
		params := onFile
		if i%2 == 0 { // a token is too old when the copy may send it
			params = s.card(sandbox.CardAttempted)
		}
		order := fmt.Sprint("waiting ", i)
		waiting[order] = s.pay(order, params)
	}
	beside := &server{T: t, programs: sv.programs, data: sv.baseBackup(), port: freePort(t)}
	beside.start()
	clone := &shop[pgx.Tx]{T: t, box: s.box, clock: s.clock, client: s.client, db: beside.store()}
	s.engine, clone.engine = s.start(), clone.start()
	assert.True(t, clone.status().MaybeCopy)
	assert.False(t, s.status().MaybeCopy)

	s.clock.Advance(2 * time.Second) // what was written within a second may have been there before
	begun := s.clock.Now()
	both := []*shop[pgx.Tx]{s, clone}
	fresh := make([][]string, len(both))
	for i := range n {
		posted := s.newWrite(fmt.Sprint("posted to both ", i))
		for at, shop := range both {
			_, _, err := shop.asked(posted, onFile)
			require.NoError(t, err)
			fresh[at] = append(fresh[at], posted.ID, shop.pay(fmt.Sprint("new ", at, " ", i), onFile))
		}
	}
	for at, shop := range both {
		for _, id := range fresh[at] {
			assert.Equal(t, approved, shop.settled(id).Text())
		}
	}
	for order, id := range waiting {
		s.settled(id)
		assert.Zero(t, clone.read(id).Sends, order) // it may have been found
	}
	assert.Less(t, s.clock.Now().Sub(begun), 10*time.Minute, "the test has no time left")
	require.True(t, clone.status().MaybeCopy)
	clone.until(20*time.Second, func(status durable.Health) bool { return !status.MaybeCopy })
	for order, id := range waiting {
		assert.Equal(t, approved, clone.reaches(id, approved, time.Second).Text(), order)
		assert.Equal(t, s.read(id).ReceiptNumber, clone.read(id).ReceiptNumber, order)
		assert.Zero(t, clone.read(id).Sends, order)
	}
	assert.Equal(t, 1+n+n+2*n, s.charged())
}
