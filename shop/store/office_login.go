package store

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	staffCookie = "shop_office"
	// staffFor is how long a login lasts.
	staffFor = 12 * time.Hour
	// wrongTakes is after how long a wrong password is answered. Nobody is locked out by
	// somebody else's, as on this machine there is one address for all. A shop that others
	// reach limits them by address, in front of it.
	wrongTakes = time.Second
)

// staff lets those in who have given the password. What they send has to come from a page of
// the back office, with the token of their login.
func (s *server) staff(next http.HandlerFunc) http.HandlerFunc {
	origins := http.NewCrossOriginProtection()
	trusted := origins.AddTrustedOrigin(s.config.Origin)
	return func(w http.ResponseWriter, r *http.Request) {
		if trusted != nil || origins.Check(r) != nil {
			http.Error(w, "This was not sent by a page of the back office.", http.StatusForbidden)
			return
		}
		token, err := s.staffToken(r)
		switch {
		case errors.Is(err, sql.ErrNoRows) && r.Method == http.MethodGet:
			http.Redirect(w, r, "/office/login?"+url.Values{"to": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
			return
		case errors.Is(err, sql.ErrNoRows):
			http.Error(w, "Your login has ended. Log in again.", http.StatusForbidden)
			return
		case err != nil:
			s.fail(w, r, err)
			return
		case r.Method == http.MethodPost && !hmac.Equal([]byte(r.PostFormValue("form")), []byte(token)):
			http.Error(w, "This form is not from your login. Open the page again.", http.StatusForbidden)
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), visitorKey{}, visitor{formToken: token})))
	}
}

// staffToken is the form token of a login that has not ended.
func (s *server) staffToken(r *http.Request) (string, error) {
	cookie, err := r.Cookie(staffCookie)
	if err != nil {
		return "", sql.ErrNoRows
	}
	var created int64
	err = s.db.QueryRowContext(r.Context(), "SELECT created FROM shop_staff WHERE digest = ? AND created > ?",
		digest(cookie.Value), micros(time.Now().Add(-staffFor))).Scan(&created)
	return formToken(cookie.Value), err
}

// loginData is what the page of the login shows.
type loginData struct {
	To      string
	Problem string
}

func (s *server) loginPage(w http.ResponseWriter, r *http.Request) {
	s.showOffice(w, r, http.StatusOK, "office-login", "Log in", loginData{To: officePath(r.URL.Query().Get("to"))})
}

// login compares the password in constant time, and lets those wait who give a wrong one.
func (s *server) login(w http.ResponseWriter, r *http.Request) {
	data := loginData{To: officePath(r.PostFormValue("to"))}
	given, right := sha256.Sum256([]byte(r.PostFormValue("password"))), sha256.Sum256([]byte(s.config.Password))
	if subtle.ConstantTimeCompare(given[:], right[:]) != 1 {
		select {
		case <-time.After(wrongTakes):
		case <-r.Context().Done():
		case <-s.ending.Done():
		}
		data.Problem = "That is not the password."
		s.showOffice(w, r, http.StatusForbidden, "office-login", "Log in", data)
		return
	}
	value, now := rand.Text(), time.Now()
	_, err := s.db.ExecContext(r.Context(), "DELETE FROM shop_staff WHERE created <= ?", micros(now.Add(-staffFor)))
	if err == nil {
		_, err = s.db.ExecContext(r.Context(), "INSERT INTO shop_staff (digest, created) VALUES (?, ?)", digest(value), micros(now))
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.SetCookie(w, s.officeCookie(value, 0))
	http.Redirect(w, r, data.To, http.StatusSeeOther)
}

func (s *server) officeCookie(value string, age int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // on loopback there is no TLS to be secure by
		Name: staffCookie, Value: value, MaxAge: age, Path: "/office/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: strings.HasPrefix(s.config.Origin, "https:"),
	}
}

// logout ends the login here, and not only in the browser.
func (s *server) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(staffCookie); err == nil {
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
