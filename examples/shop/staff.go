package main

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"github.com/quickstream-go/quickstream/durable/console"
)

// sessionCookie has a random value for each login.
const sessionCookie = "shop_staff"

// staffOf returns the name of the person who is logged in, or "".
func (s *shop) staffOf(r *http.Request) string {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	name, _ := s.staff.Load(cookie.Value)
	text, _ := name.(string)
	return text
}

// person tells the console who makes a request.
func (s *shop) person(r *http.Request) (console.Person, error) {
	name := s.staffOf(r)
	if name == "" {
		return console.Person{}, errors.New("nobody is logged in")
	}
	return console.Person{Name: name, Read: true, Act: true, Export: true}, nil
}

// staffOnly serves the console of the engine that works now, for staff who are logged in.
func (s *shop) staffOnly() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.staffOf(r) == "" && r.Method == http.MethodGet && r.URL.Path == "/" {
			http.Redirect(w, r, "/login", http.StatusSeeOther)
			return
		}
		s.console.Load().ServeHTTP(w, r)
	})
}

// enter checks the password, and keeps the name for the histories of the console.
func (s *web) enter(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSpace(r.PostFormValue("name"))
	right := subtle.ConstantTimeCompare([]byte(r.PostFormValue("password")), []byte(s.password)) == 1
	if !right || !printable(name) {
		s.show(w, r, http.StatusForbidden, page{Name: "login", Title: "Staff", Notice: "That is not the password, or you have not filled in your name."})
		return
	}
	value := rand.Text()
	s.staff.Store(value, name)
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // it is served on this machine, without TLS
	http.Redirect(w, r, "/console/", http.StatusSeeOther)
}

// printable reports whether histories can show a name.
func printable(name string) bool {
	return name != "" && len(name) <= 40 && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' })
}

func (s *web) leave(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		s.staff.Delete(cookie.Value)
	}
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // as above
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
