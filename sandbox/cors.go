package sandbox

import (
	"net/http"
	"slices"
)

// crossOrigin lets browsers on the allowed origins make the calls of the
// Publishable key, and answers the question that they ask first. It reports
// whether the request was that question.
func (b *Sandbox) crossOrigin(w http.ResponseWriter, r *http.Request) (answered bool) {
	origin := r.Header.Get("Origin")
	if origin == "" || !slices.Contains(b.assume.AllowedOrigins, origin) && !slices.Contains(b.assume.AllowedOrigins, "*") {
		return false
	}
	wanted := r.Method
	asks := r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
	if asks {
		wanted = r.Header.Get("Access-Control-Request-Method")
	}
	if op, _, _ := b.routes.find(wanted, r.URL.EscapedPath()); op == nil || op.key == needsSecret {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	if asks {
		h.Set("Access-Control-Allow-Methods", wanted)
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Idempotency-Key")
		w.WriteHeader(http.StatusNoContent)
	}
	return asks
}
