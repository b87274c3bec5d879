package sandbox

import (
	"net/http"
	"slices"
)

// crossOrigin lets browsers on the allowed origins make the calls of the
// Publishable key, and those on the origins of shops the calls of the script, and
// answers the question that they ask first. It reports whether the request was that
// question.
func (b *Sandbox) crossOrigin(w http.ResponseWriter, r *http.Request) (answered bool) {
	origin, wanted := r.Header.Get("Origin"), wantedMethod(r)
	if origin == "" || !b.callOfPage(origin, wanted, r.URL.EscapedPath()) && !b.callOfShop(origin, wanted, r.URL.EscapedPath()) {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	if asks(r) {
		h.Set("Access-Control-Allow-Methods", wanted)
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Idempotency-Key")
		w.WriteHeader(http.StatusNoContent)
	}
	return asks(r)
}

// callOfPage reports whether any page of an origin may make a call.
func (b *Sandbox) callOfPage(origin, method, escapedPath string) bool {
	if !slices.Contains(b.assume.AllowedOrigins, origin) && !slices.Contains(b.assume.AllowedOrigins, "*") {
		return false
	}
	op, _, _ := b.routes.find(method, escapedPath)
	return op != nil && op.key != needsSecret
}

// asks reports whether a browser asks before it makes a call.
func asks(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// wantedMethod is that of the call, or of the one that is asked for.
func wantedMethod(r *http.Request) string {
	if asks(r) {
		return r.Header.Get("Access-Control-Request-Method")
	}
	return r.Method
}
