package machine

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/quickstream-go/quickstream/shop/store"
)

// front is what customers reach: the shop's program, as long as it answers, and the page
// of switches, which does not depend on it.
func (m *Machine) front() http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Host = r.In.Host
			// The service takes no payments from loopback addresses, so customers here have one of
			// those that stand for examples.
			r.SetXForwarded()
			r.Out.Header.Set("X-Forwarded-For", "203.0.113.7")
			if at := m.child.at(); at != nil {
				r.SetURL(at)
				r.Out.Host = r.In.Host
			}
		},
		ModifyResponse: m.trouble.addBar,
		ErrorHandler:   func(w http.ResponseWriter, r *http.Request, _ error) { m.away(w, r) },
		ErrorLog:       quiet(),
	}
	mux := http.NewServeMux()
	m.trouble.add(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if m.child.at() == nil {
			m.away(w, r)
			return
		}
		longest := store.LongestBody(r.URL.Path)
		if r.ContentLength > longest {
			http.Error(w, "The request is too long.", http.StatusRequestEntityTooLarge)
			return
		}
		// An answer that begins while the request is still read ends the connection.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longest))
		if err != nil {
			http.Error(w, "The request could not be read.", http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		m.received.request(r)
		clear(w.Header()) // the shop's program sets its own
		proxy.ServeHTTP(w, r)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.policy(w.Header())
		switch {
		case "http://"+r.Host == m.origin:
			mux.ServeHTTP(w, r)
		case loopback(r.Host) && r.Method == http.MethodGet:
			// The service lets the pages of one origin in: a customer who came by another name of
			// this machine goes on there.
			to := url.URL{Scheme: "http", Host: strings.TrimPrefix(m.origin, "http://"), Path: r.URL.Path, RawQuery: r.URL.RawQuery}
			http.Redirect(w, r, to.String(), http.StatusFound)
		default:
			http.Error(w, "This is reached by a loopback address only.", http.StatusForbidden)
		}
	})
}

// away answers for the shop's program while it is down. Nobody knows what became of a
// POST: its page says so, and leads to the order, where the outcome will be.
func (m *Machine) away(w http.ResponseWriter, r *http.Request) {
	view := awayView{To: r.URL.RequestURI()}
	order, ok := orderOf(r.URL.Path)
	view.Bar = m.trouble.bar(order, "away")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		view.To, view.Asked = "/", true
		if ok {
			view.To, view.Order = "/orders/"+order, true
		}
	}
	w.Header().Set("Retry-After", "1")
	m.trouble.show(w, http.StatusServiceUnavailable, "away.html", view)
}

// awayView is where the page leads by itself.
type awayView struct {
	To           string
	Asked, Order bool
	Bar          barView
}

// orderOf is the order of an address such as /orders/1234/pay.
func orderOf(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "/orders/")
	order, _, _ := strings.Cut(rest, "/")
	return url.PathEscape(order), ok && order != ""
}
