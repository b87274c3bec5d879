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
	"time"
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

const (
	sessionCookie = "shop_session"
	// sessionFor is how long a session lasts after its last request.
	sessionFor = 30 * 24 * time.Hour
	// returnFor is how long after its last request the browser of a session can come back to its orders.
	returnFor = 2 * sessionFor
)

// sameOrigin refuses requests that change something and come from another site.
func (s *server) sameOrigin(next http.HandlerFunc) http.HandlerFunc {
	origins := http.NewCrossOriginProtection()
	// The address that browsers know, which a proxy may hide from this program.
	trusted := origins.AddTrustedOrigin(s.config.Origin)
	return func(w http.ResponseWriter, r *http.Request) {
		if trusted != nil || origins.Check(r) != nil {
			http.Error(w, "This was not sent by a page of the shop.", http.StatusForbidden)
			return
		}
		next(w, r)
	}
}

// visited finds the visitor's session, or begins one. A request that changes something
// has to come from one of the shop's own pages, with that session's form token.
func (s *server) visited(next http.HandlerFunc) http.HandlerFunc {
	return s.sameOrigin(func(w http.ResponseWriter, r *http.Request) {
		v, err := s.session(r)
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch {
		case err == nil:
		case !errors.Is(err, sql.ErrNoRows):
			s.fail(w, r, err)
			return
		case reads && r.Header.Get("Sec-Fetch-Site") == "cross-site":
			// The strict cookie does not come along from a link elsewhere. Coming again from
			// here it does, and a new session would not take the place of an old one.
			s.show(w, r, http.StatusOK, "again", "One moment", r.URL.RequestURI())
			return
		case !reads, r.URL.Path == "/changes", r.PathValue("order")+r.PathValue("agreement") != "":
			s.ended(w, r)
			return
		default:
			if v, err = s.begin(w, r); err != nil {
				s.fail(w, r, err)
				return
			}
		}
		r = r.WithContext(context.WithValue(r.Context(), visitorKey{}, v))
		if r.Method == http.MethodPost && !hmac.Equal([]byte(r.PostFormValue("form")), []byte(v.formToken)) {
			s.ended(w, r)
			return
		}
		next(w, r)
	})
}

// ended says that the session of a page has ended, and leads back: to the order, if it was this browser's.
func (s *server) ended(w http.ResponseWriter, r *http.Request) {
	m := message{To: "/", Label: "Back to the shop", Text: "The shop does not know this browser any more, or the page is older than its session. Nothing was done just now. " +
		"What was paid before stays paid: look at your orders before you pay again."}
	if id := r.PathValue("order"); id != "" {
		if _, err := s.ownerBefore(r); err == nil {
			m.Order = id
		} else {
			m.Text += " Ask the shop about order " + id + " if you do not find it there."
		}
	}
	s.show(w, r, http.StatusForbidden, "message", "Your session has ended", m)
}

// ownerBefore returns the visitor of the browser's session, which may have ended, if the order is theirs. One that
// PayTo collects stays with the session in which it was agreed to.
func (s *server) ownerBefore(r *http.Request) (visitor string, err error) {
	cookie, err := r.Cookie(s.cookie(sessionCookie, "", "/", 0).Name)
	if err != nil {
		return "", sql.ErrNoRows
	}
	err = s.db.QueryRowContext(r.Context(), `SELECT visitor FROM shop_session JOIN shop_order USING (visitor)
		WHERE digest = ? AND seen > ? AND id = ? AND agreement = ''`,
		digest(cookie.Value), micros(time.Now().Add(-returnFor)), r.PathValue("order")).Scan(&visitor)
	return visitor, err
}

// comeBack leads to an order again after its session has ended: a new one gets the orders, and no stored cards.
func (s *server) comeBack(w http.ResponseWriter, r *http.Request) {
	before, err := s.ownerBefore(r)
	if err != nil {
		s.ended(w, r)
		return
	}
	if _, err = s.session(r); errors.Is(err, sql.ErrNoRows) {
		var v visitor
		if v, err = s.begin(w, r); err == nil {
			_, err = s.db.ExecContext(r.Context(), "UPDATE shop_order SET visitor = ?, save = 0 WHERE visitor = ? AND agreement = ''", v.number, before)
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	toOrder(w, r, order{ID: r.PathValue("order")})
}

func (s *server) session(r *http.Request) (visitor, error) {
	cookie, err := r.Cookie(s.cookie(sessionCookie, "", "/", 0).Name)
	if err != nil {
		return visitor{}, sql.ErrNoRows
	}
	v, now, seen := visitor{formToken: formToken(cookie.Value)}, time.Now(), int64(0)
	err = s.db.QueryRowContext(r.Context(), "SELECT visitor, seen FROM shop_session WHERE digest = ? AND seen > ?",
		digest(cookie.Value), micros(now.Add(-sessionFor))).Scan(&v.number, &seen)
	if err == nil && seen < micros(now.Add(-time.Hour)) {
		_, err = s.db.ExecContext(r.Context(), "UPDATE shop_session SET seen = ? WHERE visitor = ?", micros(now), v.number)
	}
	return v, err
}

// begin begins a session, and forgets those that are too old to come back to.
func (s *server) begin(w http.ResponseWriter, r *http.Request) (visitor, error) {
	value, now := rand.Text(), time.Now()
	v := visitor{number: "shop-" + strings.ToLower(rand.Text()[:12]), formToken: formToken(value)}
	_, err := s.db.ExecContext(r.Context(), "DELETE FROM shop_session WHERE seen <= ?", micros(now.Add(-returnFor)))
	if err == nil {
		_, err = s.db.ExecContext(r.Context(), "INSERT INTO shop_session (digest, visitor, seen) VALUES (?, ?, ?)", digest(value), v.number, micros(now))
	}
	http.SetCookie(w, s.cookie(sessionCookie, value, "/", 0))
	return v, err
}

// cookie is one that no script reads and no other site sends. Where there is TLS no other host can set it either: its
// name says so to browsers, which want the path of the whole site then.
func (s *server) cookie(name, value, path string, age int) *http.Cookie {
	c := &http.Cookie{Name: name, Value: value, Path: path, MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if strings.HasPrefix(s.config.Origin, "https:") {
		c.Name, c.Path, c.Secure = "__Host-"+name, "/", true
	}
	return c
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
