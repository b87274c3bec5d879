package store

import (
	"net/http"
	"strings"
)

// route is one address of the shop.
type route struct {
	pattern string // as http.ServeMux takes it
	handle  http.HandlerFunc
	guard   func(http.HandlerFunc) http.HandlerFunc // who may call it
}

// routes are all that the shop serves.
func (s *server) routes() []route {
	visitor := s.visited
	return []route{
		{"GET /{$}", s.catalogue, visitor},
		{"POST /orders", s.placeOrder, visitor},
		{"GET /orders/{order}", s.orderPage, visitor},
		{"GET /checkout/{order}", s.checkout, visitor},
		{"POST /orders/{order}/pay", s.pay, visitor},
		{"POST /orders/{order}/authenticated", s.authenticated, visitor},
		{"GET /customers/", s.customer, visitor},
		{"POST /customers/cards/{card}/remove", s.removeCard, visitor},
		{"POST /payto", s.askToAgree, visitor},
		{"GET /payto/{agreement}", s.agreementPage, visitor},
		{"GET /changes", s.changes, visitor},
		{"POST /webhooks", s.webhook, anybody},
		{"GET /static/{file}", http.FileServerFS(static).ServeHTTP, anybody},
		{"GET /", s.notFound, visitor},
	}
}

// anybody guards what looks for itself who calls, or is for everybody.
func anybody(next http.HandlerFunc) http.HandlerFunc { return next }

// handler serves the routes, each with the policy of the shop's pages.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range append(s.routes(), s.officeRoutes()...) {
		mux.HandleFunc(r.pattern, s.telemetry.traced(r.pattern, r.guard(r.handle)))
	}
	// Only the service's own script talks to the service.
	policy := strings.Join([]string{
		"default-src 'none'", "script-src 'self' " + s.config.Service, "style-src 'self'", "img-src 'self'",
		"connect-src 'self' " + s.config.Service, "frame-src " + s.config.Service,
		"form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
	}, "; ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store") // going back asks the shop what has become of the order
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		mux.ServeHTTP(w, r)
	})
}
