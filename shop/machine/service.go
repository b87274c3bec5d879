package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/shop/store"
)

// clockPath tells the time of the service, which can be moved.
const clockPath = "/_shop/clock"

// serviceHandler is the sandbox as the shop's program and the pages of the shop see it.
// Pages of other sites in the same browser are kept out.
func (m *Machine) serviceHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.policy(w.Header())
		switch {
		case !loopback(r.Host) || !ownPage(r) && !m.box.ForShop(r):
			http.Error(w, "Another site asked for this.", http.StatusForbidden)
		case r.URL.Path == clockPath:
			m.told.Add(1)
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]time.Time{"now": m.box.Now()}) // the caller may have gone
		case m.trouble.killsAt(r):
			defer panic(http.ErrAbortHandler) // the answer is lost with its receiver
			defer m.Kill()
			m.box.ServeHTTP(&held{header: make(http.Header)}, r)
		case r.URL.Path == sandbox.PayerPage && r.Method == http.MethodGet:
			page, v := &held{header: w.Header(), status: http.StatusOK}, m.trouble.bar("", "")
			m.box.ServeHTTP(page, r)
			v.Live = false // its policy lets it ask for nothing
			w.WriteHeader(page.status)
			_, _ = w.Write(m.trouble.above(page.body.Bytes(), v))
		case r.URL.Path == "/_shop/bar.css":
			http.ServeFileFS(w, r, pageFiles, "pages/bar.css")
		case r.Header.Get("Origin") == "" && m.received.on():
			m.box.ServeHTTP(&overheard{ResponseWriter: w, to: m.received}, r)
		default:
			m.box.ServeHTTP(w, r)
		}
	})
}

// policy lets a page of the machine's use nothing but its own files and the service's script, and stand in no frame.
// Pages of the sandbox and of the shop's program have policies of their own.
func (m *Machine) policy(h http.Header) {
	store.SetHeaders(h)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self' "+m.service+"; style-src 'self'; img-src data:; connect-src 'self' "+m.service+
		"; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
}

// loopback judges a host by its text: another name would be a page of another site that
// leads its own name here.
func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	ip, parseErr := netip.ParseAddr(host)
	return err == nil && (host == "localhost" || parseErr == nil && ip.IsLoopback())
}

// ownPage reports a request of no browser, of a page of the same port, or of the person
// who opened the address.
func ownPage(r *http.Request) bool {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	return len(r.Header.Values("Origin")) <= 1 && (origin == "" || origin == "http://"+r.Host) &&
		(site == "" || site == "same-origin" || site == "none")
}

// held is an answer that is not sent yet, or never.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (h *held) Header() http.Header { return h.header }

// Write implements http.ResponseWriter.
func (h *held) Write(p []byte) (int, error) { return h.body.Write(p) }

// WriteHeader implements http.ResponseWriter.
func (h *held) WriteHeader(status int) { h.status = status }

// recorder takes down what the shop's program is told, for tests that look for what it
// must not know.
type recorder struct {
	mu sync.Mutex
	to io.Writer
}

func (r *recorder) on() bool { return r.to != nil }

// Write implements io.Writer.
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.to.Write(p)
}

// request takes down a request with its body, and leaves it as it was.
func (r *recorder) request(req *http.Request) {
	if !r.on() {
		return
	}
	dump, err := httputil.DumpRequest(req, true)
	if err != nil {
		dump = fmt.Append(nil, "a request that could not be read: ", err)
	}
	_, _ = r.Write(append(dump, '\n')) // into memory
}

// overheard is an answer that is taken down as well.
type overheard struct {
	http.ResponseWriter
	to io.Writer
}

// Write implements http.ResponseWriter.
func (o *overheard) Write(p []byte) (int, error) {
	_, _ = o.to.Write(append(bytes.Clone(p), '\n')) // into memory
	return o.ResponseWriter.Write(p)
}

// Unwrap lets faults reach the connection.
func (o *overheard) Unwrap() http.ResponseWriter { return o.ResponseWriter }
