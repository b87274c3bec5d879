package store

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// visitor is who sits at the browser.
type visitor struct {
	number    string // the customer number
	formToken string // in every form, so that no other site can send one
}

type visitorKey struct{}

func visitorOf(r *http.Request) visitor {
	v, _ := r.Context().Value(visitorKey{}).(visitor)
	return v
}

// cookieName is the session's cookie.
const cookieName = "shop_session"

// visited finds the visitor's session, or begins one. A request that changes something
// has to come from one of the shop's own pages, with that session's form token.
func (s *server) visited(next http.HandlerFunc) http.HandlerFunc {
	origins := http.NewCrossOriginProtection()
	// The address that browsers know, which a proxy may hide from this program.
	trusted := origins.AddTrustedOrigin(s.config.Origin)
	return func(w http.ResponseWriter, r *http.Request) {
		if trusted != nil || origins.Check(r) != nil {
			http.Error(w, "This was not sent by a page of the shop.", http.StatusForbidden)
			return
		}
		v, err := s.session(r)
		switch {
		case err == nil:
		case !errors.Is(err, sql.ErrNoRows):
			s.fail(w, r, err)
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			http.Error(w, "Your session has ended. Open the shop again.", http.StatusForbidden)
			return
		case r.Header.Get("Sec-Fetch-Site") == "cross-site":
			// The strict cookie does not come along from a link elsewhere. Coming again from
			// here it does, and a new session would not take the place of an old one.
			s.show(w, r, http.StatusOK, "again", "One moment", r.URL.RequestURI())
			return
		default:
			if v, err = s.begin(w, r); err != nil {
				s.fail(w, r, err)
				return
			}
		}
		if r.Method == http.MethodPost && !hmac.Equal([]byte(r.PostFormValue("form")), []byte(v.formToken)) {
			http.Error(w, "This form is not from your session. Open the page again.", http.StatusForbidden)
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), visitorKey{}, v)))
	}
}

func (s *server) session(r *http.Request) (visitor, error) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return visitor{}, sql.ErrNoRows
	}
	v := visitor{formToken: formToken(cookie.Value)}
	err = s.db.QueryRowContext(r.Context(), "SELECT visitor FROM shop_session WHERE digest = ?", digest(cookie.Value)).Scan(&v.number)
	return v, err
}

// begin begins a session.
func (s *server) begin(w http.ResponseWriter, r *http.Request) (visitor, error) {
	value := rand.Text()
	v := visitor{number: "shop-" + strings.ToLower(rand.Text()[:12]), formToken: formToken(value)}
	_, err := s.db.ExecContext(r.Context(), "INSERT INTO shop_session (digest, visitor, created) VALUES (?, ?, ?)",
		digest(value), v.number, micros(s.clock.Now()))
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // on loopback there is no TLS to be secure by
		Name: cookieName, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: strings.HasPrefix(s.config.Origin, "https:"),
	})
	return v, err
}

// formToken is what the session's forms carry. Nobody can make it who does not have the
// cookie, and the cookie cannot be read from it.
func formToken(session string) string {
	mac := hmac.New(sha256.New, []byte(session))
	mac.Write([]byte("form"))
	return hex.EncodeToString(mac.Sum(nil))
}

func digest(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:])
}

// addressOf is the customer's address, which the service asks for. The shop's own proxy on
// this machine says who asked it; what others say in that header is not believed.
func addressOf(r *http.Request) netip.Addr {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	address, _ := netip.ParseAddr(host)
	if address.IsLoopback() {
		forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if last, err := netip.ParseAddr(strings.TrimSpace(forwarded[len(forwarded)-1])); err == nil {
			return last
		}
	}
	return address
}
