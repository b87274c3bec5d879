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
		{"POST /orders/{order}/back", s.comeBack, s.sameOrigin},
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

// SetHeaders sets the headers that every answer has, errors and redirects too. A page may set stricter ones.
func SetHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
}

// LongestBody is the most bytes that a request to a path may have.
func LongestBody(path string) int64 {
	if path == "/webhooks" {
		return 128 << 10
	}
	return 16 << 10
}

// handler serves the routes, each with the policy of the shop's pages. A body is read by the route, after its guard has
// judged who sends it.
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
		SetHeaders(w.Header())
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-store") // going back asks the shop what has become of the order
		longest := LongestBody(r.URL.Path)
		if r.ContentLength > longest {
			http.Error(w, "The request is too long.", http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, longest)
		mux.ServeHTTP(w, r)
	})
}
