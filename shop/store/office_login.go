package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

const (
	staffCookie = "shop_office"
	// staffFor is how long a login lasts.
	staffFor = 12 * time.Hour
	// After a wrong password the next one waits, whose ever it is: for firstPause, and after each further wrong one twice
	// as long, up to longestPause. On this machine there is one address for all. A shop that others reach also limits
	// passwords by address, in front of it.
	firstPause   = time.Second
	longestPause = 30 * time.Second
	mostWaiting  = 30
)

// gate lets passwords be compared one at a time.
type gate struct {
	turn    chan struct{} // full while one is compared, or waits for that
	waiting atomic.Int64
	pause   time.Duration // after the last wrong one
	free    time.Time     // when the next one may be compared
}

// errQueueFull means that a password was not compared.
var errQueueFull = errors.New("too many passwords wait to be compared")

// enter waits for its turn, and reports whether right says yes.
func (g *gate) enter(ctx context.Context, right func() bool) (bool, error) {
	defer g.waiting.Add(-1)
	if g.waiting.Add(1) > mostWaiting {
		return false, errQueueFull
	}
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-g.turn }()
	timer := time.NewTimer(time.Until(g.free))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if right() {
		g.pause = 0
		return true, nil
	}
	g.pause = min(max(2*g.pause, firstPause), longestPause)
	g.free = time.Now().Add(g.pause)
	return false, nil
}

// staff lets those in who have given the password.
func (s *server) staff(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, err := s.staffName(r)
		switch {
		case errors.Is(err, sql.ErrNoRows) && r.Method == http.MethodGet:
			http.Redirect(w, r, "/office/login?"+url.Values{"to": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
		case errors.Is(err, sql.ErrNoRows):
			s.write(w, r, http.StatusForbidden, "message", "page", "Your login has ended", message{
				Text: "Nothing was done just now. Log in again, and look at the payment before you repeat it.", To: "/office/login", Label: "Log in",
			})
		case err != nil:
			s.fail(w, r, err)
		case r.URL.Path == "/office/stream":
			ctx, end := context.WithCancel(r.Context())
			defer end()
			go s.endWithLogin(ctx, end, r)
			next(w, r.WithContext(ctx))
		default:
			next(w, r)
		}
	}
}

// endWithLogin ends a stream when its login has ended, in another tab too: the page then finds out why.
func (s *server) endWithLogin(ctx context.Context, end context.CancelFunc, r *http.Request) {
	tick := time.NewTicker(glanceEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if _, err := s.staffName(r); errors.Is(err, sql.ErrNoRows) {
			end()
		}
	}
}

// staffName is whose login it is that has not ended.
func (s *server) staffName(r *http.Request) (name string, err error) {
	cookie, err := r.Cookie(s.officeCookie("", 0).Name)
	if err != nil {
		return "", sql.ErrNoRows
	}
	err = s.db.QueryRowContext(r.Context(), "SELECT name FROM shop_staff WHERE digest = ? AND created > ?",
		digest(cookie.Value), micros(time.Now().Add(-staffFor))).Scan(&name)
	return name, err
}

// loginData is what the page of the login shows.
type loginData struct {
	To      string
	Name    string // whose login there is
	Problem string
}

func (s *server) loginPage(w http.ResponseWriter, r *http.Request) {
	name, err := s.staffName(r)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, http.StatusOK, "office-login", "Back office", loginData{To: officePath(r.URL.Query().Get("to")), Name: name})
}

// login compares the password in constant time, in the queue of all that are given.
func (s *server) login(w http.ResponseWriter, r *http.Request) {
	data := loginData{To: officePath(r.PostFormValue("to"))}
	given, right := sha256.Sum256([]byte(r.PostFormValue("password"))), sha256.Sum256([]byte(s.config.Password))
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	defer context.AfterFunc(s.ending, leave)()
	admitted, err := s.logins.enter(ctx, func() bool { return subtle.ConstantTimeCompare(given[:], right[:]) == 1 })
	if err != nil {
		data.Problem = "Too many passwords wait to be compared. Try again in a minute."
		s.show(w, r, http.StatusTooManyRequests, "office-login", "Back office", data)
		return
	}
	if !admitted {
		data.Problem = "That is not the password."
		s.show(w, r, http.StatusForbidden, "office-login", "Back office", data)
		return
	}
	name := strings.TrimSpace(r.PostFormValue("name"))
	if name == "" || len(name) > 200 || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		data.Problem = "Say who you are, in one line."
		s.show(w, r, http.StatusUnprocessableEntity, "office-login", "Back office", data)
		return
	}
	value, now := rand.Text(), time.Now()
	_, err = s.db.ExecContext(r.Context(), "DELETE FROM shop_staff WHERE created <= ?", micros(now.Add(-staffFor)))
	if err == nil {
		_, err = s.db.ExecContext(r.Context(), "INSERT INTO shop_staff (digest, name, created) VALUES (?, ?, ?)", digest(value), name, micros(now))
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.SetCookie(w, s.officeCookie(value, 0))
	http.Redirect(w, r, data.To, http.StatusSeeOther)
}

func (s *server) officeCookie(value string, age int) *http.Cookie {
	return s.cookie(staffCookie, value, "/office/", age)
}

// logout ends the login here, and not only in the browser.
func (s *server) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(s.officeCookie("", 0).Name); err == nil {
		if _, err = s.db.ExecContext(r.Context(), "DELETE FROM shop_staff WHERE digest = ?", digest(cookie.Value)); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	http.SetCookie(w, s.officeCookie("", -1))
	http.Redirect(w, r, "/office/login", http.StatusSeeOther)
}

// officePath is a page of the back office to go to, whatever an address asks for.
func officePath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(u.Path, "/office/") || u.Path == "/office/login" {
		return "/office/"
	}
	return u.RequestURI()
}
