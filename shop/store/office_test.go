package store

import (
	"net/http"
	"sync"
	"testing"
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

// Wrong passwords take their time, however many are given at once, and keep nobody else out.
func TestWrongPasswords(t *testing.T) {
	w := newWorld(t)
	var given sync.WaitGroup
	for range 20 {
		b := w.browser()
		b.get("/office/login")
		given.Go(func() {
			begun := time.Now()
			assert.Equal(t, http.StatusForbidden, b.post("/office/login", "password", "q").status)
			assert.GreaterOrEqual(t, time.Since(begun), wrongTakes)
		})
	}
	w.staff()
	given.Wait()
	w.staff()
}
