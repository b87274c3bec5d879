package main

import (
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
)

// guard lets programs of this machine in, and browsers only with pages of this port,
// of the origins that were allowed, and of shops for what shops need. The control endpoints take no key, and the
// service records what it refuses: neither is for other sites in the same browser.
type guard struct {
	service *sandbox.Sandbox
	control http.Handler // all under /_sandbox, and the page that leads there
	origins []string     // may call the service from browsers
}

func (g guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	isControl := r.URL.Path == "/" || r.URL.Path == controlPath || strings.HasPrefix(r.URL.Path, controlPath+"/")
	switch {
	case !loopbackHost(r.Host):
		http.Error(w, "This port is reached by a loopback name only.", http.StatusForbidden)
	case !sameOrigin(r) && (isControl || !g.allows(r) && !g.service.ForShop(r)):
		http.Error(w, "Another site asked for this. Open it yourself, or allow the site: -shop, -origins.", http.StatusForbidden)
	case isControl:
		g.control.ServeHTTP(w, r)
	default:
		g.service.ServeHTTP(w, r)
	}
}

// sameOrigin reports a request of no browser, of a page of this port, or of the
// person who opened the address.
func sameOrigin(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+r.Host {
			return false
		}
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}

func (g guard) allows(r *http.Request) bool {
	from := r.Header.Values("Origin")
	return len(from) == 1 && (slices.Contains(g.origins, from[0]) || slices.Contains(g.origins, "*"))
}

// localName is localhost, or a name below it, which browsers resolve by themselves.
var localName = regexp.MustCompile(`^(?i:([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*localhost)$`)

// loopbackHost judges a host with or without a port, by its text.
func loopbackHost(hostport string) bool {
	host := hostport
	if at := strings.LastIndexByte(host, ':'); at > strings.IndexByte(host, ']') {
		if _, err := strconv.ParseUint(host[at+1:], 10, 16); err != nil {
			return false
		}
		host = host[:at]
	}
	inner, bracketed := strings.CutPrefix(host, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if bracketed != closed {
		return false
	}
	ip, err := netip.ParseAddr(inner)
	if err != nil {
		return !bracketed && localName.MatchString(host)
	}
	return ip.IsLoopback() && ip.Is6() == bracketed && ip.Zone() == ""
}
