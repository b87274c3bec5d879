package enginetest

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// A disk that is full ends no process and sends nothing that could not be written down
// before; when there is room again all goes on.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	v := newVillage(t, worlds.World{}, "", 1, 100)
	p := v.start(func(c *workerConfig) { c.Pages, c.Pace = v.count("PRAGMA page_count")+20, 20*time.Millisecond })
	p.ready()
	const patience = time.Minute
	full := func() bool { return strings.Contains(p.stderr.String(), "full") }
	for begun := time.Now(); !full() && time.Since(begun) < patience; <-time.After(50 * time.Millisecond) {
		v.step(5 * time.Second)
	}
	require.True(t, full(), "the disk is never full: %d pages, %s", v.count("PRAGMA page_count"), &p.stderr)
	for range 20 { // and nothing fits any more
		v.step(5 * time.Second)
		<-time.After(50 * time.Millisecond)
	}
	p.stop()
	claims := func() int64 { return v.count("SELECT count(*) FROM history WHERE after LIKE 'sending%'") }
	before := claims()
	p = v.start()
	p.ready()
	for begun := time.Now(); claims() == before && time.Since(begun) < patience; {
		<-time.After(50 * time.Millisecond)
	}
	p.stop()
	assert.Greater(t, claims(), before, "all goes on")
	v.judged(1)
}

// A file system that forgets what was not synced brings back an older file. The mark
// beside it tells, and nothing is sent again that the file does not know as sent.
func TestForgottenWrites(t *testing.T) {
	t.Parallel()
	v := newVillage(t, worlds.World{}, "", 1, 0)
	p := v.start()
	p.ready()
	v.place(10, func(_ int, p *placed) { p.kind, p.again, p.lines, p.outcomes = "account", 0, nil, nil })
	v.approves(10)
	p.stop()
	// Of ten more some are written, and so much of the file is synced.
	v.place(10, func(_ int, p *placed) { p.kind, p.again, p.lines, p.outcomes = "account", 0, nil, nil })
	p = v.start(func(c *workerConfig) { c.Step, c.Hit = "before the claim", 1 })
	<-p.ended
	synced := filepath.Join(t.TempDir(), "synced")
	v.exec("VACUUM INTO '" + synced + "'")
	lost := v.count("SELECT count(*) FROM quickstream.write WHERE state = 'queued'")
	require.NotZero(t, lost)
	p = v.start()
	p.ready()
	v.approves(20)
	p.kill()
	charged := len(v.box.Ledger())
	require.Equal(t, 20, charged)

	require.NoError(t, v.db.Close())
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(v.config.Database + end)
	}
	copyFile(t, synced, v.config.Database)
	var err error
	v.db, err = sqlite.Open(v.config.Database)
	require.NoError(t, err)
	t.Cleanup(func() { _ = v.db.Close() })
	require.EqualValues(t, lost, v.count("SELECT count(*) FROM quickstream.write WHERE state = 'queued'"))
	p = v.start()
	p.ready()
	v.approves(20)
	p.stop()
	for _, o := range v.orders {
		if n := len(v.box.Ledger().Charged(o.id)); n != 1 {
			var story []string
			v.each(func(scan func(...any) error) error {
				var id, before, after string
				err := scan(&id, &before, &after)
				story = append(story, id+" "+before+" to "+after)
				return err
			}, "SELECT write_id, before, after FROM history WHERE write_id IN (SELECT id FROM quickstream.write WHERE order_id = '"+o.id+"') ORDER BY number")
			v.Errorf("%s was charged %d times: %v %v", o.id, n, story, v.box.Ledger().Charged(o.id))
		}
	}
	assert.NotZero(t, v.count("SELECT count(*) FROM quickstream.meta WHERE name = 'change of history'"))
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	require.NoError(t, err)
	defer source.Close()
	target, err := os.Create(to)
	require.NoError(t, err)
	_, err = io.Copy(target, source)
	require.NoError(t, err)
	require.NoError(t, target.Close())
}
