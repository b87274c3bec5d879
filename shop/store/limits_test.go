package store

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// long is a body that counts what is read of it.
type long struct {
	left, read int
}

var many = strings.Repeat("x", 32<<10)

// Read implements io.Reader.
func (l *long) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	n := copy(p, many[:min(len(many), l.left)])
	l.left, l.read = l.left-n, l.read+n
	return n, nil
}

// Nothing is read of a body that says that it is too long, of one from another site, of one without a session, and of a
// notification without a signature. Of a body that does not say how long it is no more is read than a form can have.
func TestBodiesAreReadLast(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	order := b.order("beans")
	pay := "/orders/" + order + "/pay"
	for name, it := range map[string]struct {
		path       string
		length     int64
		session    bool
		site       string
		status     int
		mostIsRead int
	}{
		"too long":         {pay, 1 << 20, true, "same-origin", http.StatusRequestEntityTooLarge, 0},
		"another site":     {pay, 10 << 10, true, "cross-site", http.StatusForbidden, 0},
		"no session":       {pay, 10 << 10, false, "same-origin", http.StatusForbidden, 0},
		"another method":   {"/customers/", 10 << 10, true, "same-origin", http.StatusMethodNotAllowed, 0},
		"no signature":     {"/webhooks", 100 << 10, false, "", http.StatusUnauthorized, 0},
		"long webhook":     {"/webhooks", 129 << 10, false, "", http.StatusRequestEntityTooLarge, 0},
		"unknown length":   {pay, -1, true, "same-origin", http.StatusForbidden, 16<<10 + 4<<10},
		"a form's length":  {pay, 10 << 10, true, "same-origin", http.StatusForbidden, 10 << 10},
		"unknown, webhook": {"/webhooks", -1, false, "", http.StatusUnauthorized, 0},
	} {
		body := &long{left: 1 << 20}
		r := httptest.NewRequest(http.MethodPost, w.web.URL+it.path, body)
		r.ContentLength = it.length
		if it.length > 0 {
			body.left = int(it.length)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", it.site)
		if it.session {
			for _, cookie := range b.http.Jar.Cookies(r.URL) {
				r.AddCookie(cookie)
			}
		}
		answer := httptest.NewRecorder()
		w.shop.handler().ServeHTTP(answer, r)
		assert.Equal(t, it.status, answer.Code, "%s: %s", name, answer.Body)
		assert.LessOrEqual(t, body.read, it.mostIsRead, name)
		if it.mostIsRead > 0 {
			assert.NotZero(t, body.read, name)
		}
	}
}

// 200 posts of a megabyte at once take less than 32 megabytes, although each comes from a page of the shop.
func TestManyLongBodies(t *testing.T) {
	w := newWorldAlone(t)
	b := w.browser()
	shop := httptest.NewServer(w.shop.handler())
	defer shop.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var posts sync.WaitGroup
	for range 200 {
		posts.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, shop.URL+"/orders", &long{left: 1 << 20})
			if !assert.NoError(t, err) {
				return
			}
			for _, cookie := range b.http.Jar.Cookies(r.URL) {
				r.AddCookie(cookie)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			answer, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				return // the shop ends the connection of a body that goes on and on
			}
			assert.NoError(t, answer.Body.Close())
			assert.Equal(t, http.StatusForbidden, answer.StatusCode)
		})
	}
	posts.Wait()
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), "allocated in all, what is free again included")
}

// A browser has some streams at once, and all browsers together some more. One that ends makes room.
func TestStreamsAreBounded(t *testing.T) {
	var open streams
	for range streamsOfVisitor {
		require.True(t, open.enter("a"))
	}
	assert.False(t, open.enter("a"))
	open.leave("a")
	assert.True(t, open.enter("a"))
	for i := streamsOfVisitor; i < streamsOfAll; i++ {
		require.True(t, open.enter(string(rune('b'+i))))
	}
	assert.False(t, open.enter("new"))
	open.leave("a")
	assert.True(t, open.enter("new"))
}

// Where there is TLS a cookie belongs to this host alone.
func TestHostCookies(t *testing.T) {
	s := &server{config: Config{Origin: "https://shop.example"}}
	for _, cookie := range []*http.Cookie{s.cookie(sessionCookie, "x", "/", 0), s.officeCookie("x", 0)} {
		assert.Regexp(t, `^__Host-shop_(session|office)=x; Path=/; HttpOnly; Secure; SameSite=Strict$`, cookie.String())
		require.NoError(t, cookie.Valid())
	}
}
