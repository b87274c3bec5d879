package store

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// staff is a browser of somebody who has logged in.
func (w *world) staff() *browser {
	w.Helper()
	b := w.browser()
	b.get("/office/login")
	page := b.post("/office/login", "name", "Robin", "password", w.config.Password, "to", "/office/")
	require.Equal(w, "/office/", page.path, page.body)
	b.get("/office/")
	return b
}

// Nothing of the back office is shown or done without the password.
func TestLogin(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	for _, path := range []string{"/office/", "/office/payment?id=x", "/office/attention", "/office/stream", "/office/console.js"} {
		assert.Contains(t, b.get(path).path, "/office/login?to=", path)
	}
	for _, act := range []string{"refund", "decide", "export", "pause", "erase"} {
		assert.Equal(t, http.StatusForbidden, b.post("/office/"+act).status, act)
	}
	b.get("/office/login")
	assert.Contains(t, b.post("/office/login", "name", "Robin", "password", "q").body, "That is not the password.")
	assert.Contains(t, b.post("/office/login", "name", "", "password", "p").body, "Say who you are")
	b.get("/office/login?to=/office/attention")
	assert.Equal(t, "/office/attention", b.post("/office/login", "name", "Robin", "password", "p", "to", "/office/attention").path)
	assert.Contains(t, b.get("/office/").body, "You are Robin")
	assert.Contains(t, b.get("/office/login").body, "You are logged in as Robin")
	assert.Equal(t, "/office/login", b.post("/office/logout").path)
	assert.Contains(t, b.get("/office/").path, "/office/login")
}

// The login leads to no other site, and its cookie is for no script and no other site.
func TestLoginStaysHere(t *testing.T) {
	w := newWorld(t)
	for _, to := range []string{"//evil.example/office/", "https://evil.example/office/", "/", "/office/login", "\\\\evil.example", "/office/../orders/x", "javascript:x"} {
		assert.Contains(t, []string{"/office/", "/office/../orders/x"}, officePath(to), to)
	}
	b := w.browser()
	assert.Equal(t, "/office/", b.post("/office/login", "name", "Robin", "password", "p", "to", "//evil.example/office/").path)
	assert.Equal(t, "shop_office=x; Path=/office/; HttpOnly; SameSite=Strict", w.shop.officeCookie("x", 0).String())
}

// Of passwords that are given at once one is compared after another, with a pause that grows while they are wrong.
func TestGuessesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, begun := gate{turn: make(chan struct{}, 1)}, time.Now()
		var compared []time.Duration
		guess := func(right bool) (bool, error) {
			return g.enter(t.Context(), func() bool {
				compared = append(compared, time.Since(begun))
				return right
			})
		}
		_, _ = guess(false) // at once: those that follow wait
		var refused atomic.Int64
		for range 150 {
			go func() {
				if _, err := guess(false); err != nil {
					assert.ErrorIs(t, err, errQueueFull)
					refused.Add(1)
				}
			}()
		}
		synctest.Wait()
		assert.Equal(t, int64(150-mostWaiting), refused.Load(), "all but those that wait")
		<-time.After(time.Hour) // of the bubble
		require.Len(t, compared, 1+mostWaiting)
		s := time.Second
		assert.Equal(t, []time.Duration{0, s, 3 * s, 7 * s, 15 * s, 31 * s, 61 * s, 91 * s}, compared[:8])

		admitted, err := guess(true)
		require.NoError(t, err)
		assert.True(t, admitted)
		_, _ = guess(false)
		begun = time.Now()
		_, _ = guess(true)
		assert.Equal(t, s, compared[len(compared)-1], "the right one has ended the pauses")
	})
}

// A person who goes away is compared with nothing, and leaves the queue.
func TestGuesserGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate{turn: make(chan struct{}, 1)}
		_, _ = g.enter(t.Context(), func() bool { return false })
		ctx, cancel := context.WithTimeout(t.Context(), firstPause/2)
		defer cancel()
		admitted, err := g.enter(ctx, func() bool { return true })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.False(t, admitted)
		admitted, err = g.enter(t.Context(), func() bool { return true })
		require.NoError(t, err)
		assert.True(t, admitted)
	})
}

// A password that finds no place in the queue is not compared: the page says so.
func TestQueueFull(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	b.get("/office/login")
	w.shop.logins.waiting.Store(mostWaiting)
	page := b.post("/office/login", "name", "Robin", "password", "p")
	assert.Equal(t, http.StatusTooManyRequests, page.status)
	assert.Contains(t, page.body, "Try again in a minute.")
	w.shop.logins.waiting.Store(0)
	w.staff()
}
