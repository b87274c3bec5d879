package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/quickstream-go/quickstream/internal/loopback"
	"github.com/quickstream-go/quickstream/sandbox"
)

// guard answers only requests for loopback names and for the hosts that were named. From a browser it
// takes requests of pages of this port, and from pages of shops the requests that shops need. Other
// sites in the same browser must reach neither the control endpoints, which take no API key, nor the
// service, which records refused requests too. If there is a token, the control endpoints need it.
type guard struct {
	service *sandbox.Sandbox
	control http.Handler // all under /_sandbox, and the page that leads there
	hosts   hosts
	token   string
	log     *slog.Logger
}

func (g guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	isControl := r.URL.Path == "/" || r.URL.Path == controlPath || strings.HasPrefix(r.URL.Path, controlPath+"/")
	if isControl {
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	}
	switch {
	case !g.serves(hostOf(r.Host)):
		g.refuse(w, r, http.StatusForbidden, "This port is reached by a loopback name, or by one that -host names.")
	case !sameOrigin(r) && (isControl || !g.service.ForShop(r)):
		g.refuse(w, r, http.StatusForbidden, "Another site asked for this. Open it yourself, or allow the site: -shop.")
	case isControl && !g.admits(r):
		h.Set("WWW-Authenticate", `Basic realm="quickstream-sandbox"`)
		g.refuse(w, r, http.StatusUnauthorized, "The control endpoints need the token: as the user name of HTTP Basic, or as a Bearer token.")
	case isControl:
		g.control.ServeHTTP(w, r)
	default:
		g.service.ServeHTTP(w, r)
	}
}

func (g guard) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	g.log.Warn("refused", "status", status, "host", r.Host[:min(len(r.Host), 100)], "why", why)
	http.Error(w, why, status)
}

// admits reports whether a request has the token, if one is needed.
func (g guard) admits(r *http.Request) bool {
	given, _, _ := r.BasicAuth()
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		given = bearer
	}
	is, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(g.token))
	return g.token == "" || subtle.ConstantTimeCompare(is[:], want[:]) == 1
}

// sameOrigin reports whether a request comes from no browser, from a page of this port, or from a
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

// serves reports whether a host, as hostOf returns it, is one of this port.
func (g guard) serves(host string) bool {
	return isLoopback(host) || slices.ContainsFunc(g.hosts, func(name string) bool {
		if strings.Contains(name, ":") {
			name = "[" + name + "]"
		}
		return host == name
	})
}

// hostOf returns the host of a text with or without a port, in lower case. It is empty if
// the port is not a number.
func hostOf(hostport string) string {
	host := hostport
	if at := strings.LastIndexByte(host, ':'); at > strings.IndexByte(host, ']') {
		if _, err := strconv.ParseUint(host[at+1:], 10, 16); err != nil {
			return ""
		}
		host = host[:at]
	}
	return strings.ToLower(host)
}

// isLoopback judges a host by its text, as a Host header has it: an IPv6 address in brackets.
func isLoopback(host string) bool {
	inner, bracketed := strings.CutPrefix(host, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	return bracketed == closed && bracketed == strings.Contains(inner, ":") && loopback.IsHost(inner)
}
