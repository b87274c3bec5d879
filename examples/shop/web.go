package main

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

//go:embed pages static
var files embed.FS

// web are the shop's pages.
type web struct {
	*shop
	templates *template.Template
}

// handler serves the shop's pages, and the console below /console/.
func (s *shop) handler() http.Handler {
	w := &web{shop: s}
	w.templates = template.Must(template.New("").Funcs(template.FuncMap{"money": money, "stamp": s.stamp, "label": label}).ParseFS(files, "pages/*.html"))
	static, err := fs.Sub(files, "static")
	if err != nil {
		panic(err) // the folder is in the program
	}
	mux := http.NewServeMux()
	mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(static)))
	mux.HandleFunc("GET /{$}", w.page("product", product))
	mux.HandleFunc("GET /orders", w.page("orders", "Orders"))
	mux.HandleFunc("POST /orders", w.place)
	mux.HandleFunc("GET /orders/{id}", w.order)
	mux.HandleFunc("POST /orders/{id}/card", w.card)
	mux.HandleFunc("POST /orders/{id}/payto", w.payTo)
	mux.HandleFunc("POST /orders/{id}/bank", w.bank)
	mux.HandleFunc("GET /trouble", w.page("trouble", "Trouble"))
	mux.HandleFunc("POST /trouble", w.act)
	mux.HandleFunc("GET /events", w.events)
	mux.HandleFunc("GET /login", w.page("login", "Staff"))
	mux.HandleFunc("POST /login", w.enter)
	mux.HandleFunc("GET /logout", w.leave)
	mux.Handle("/console/", http.StripPrefix("/console", s.staffOnly()))
	return s.guard(http.NewCrossOriginProtection().Handler(mux))
}

// guard sets the policy of all pages, and refuses requests for a host name that is not this machine's own: another site has sent them.
func (s *shop) guard(next http.Handler) http.Handler {
	policy := "default-src 'none'; script-src 'self' SERVICE; style-src 'self'; img-src 'self'; connect-src 'self' SERVICE; frame-src SERVICE; " +
		"worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	policy = strings.ReplaceAll(policy, "SERVICE", s.service)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil || host != "localhost" && !net.ParseIP(host).IsLoopback() {
			http.Error(w, "This is not the shop's address.", http.StatusMisdirectedRequest)
			return
		}
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			w.Header().Set(name, value)
		}
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		next.ServeHTTP(w, r)
	})
}

// page is the data of each template.
type page struct {
	snapshot

	Name, Title  string
	Notice       string
	Clock        time.Time
	Staff        string // who is logged in
	Order        account
	Form         string // the id of the next order, or of the next agreement
	Service, Key string
	Business     string
}

// show writes a page, with what is switched on and the verdict as they are now.
func (s *web) show(w http.ResponseWriter, r *http.Request, status int, p page) {
	if p.Version == "" {
		var err error
		if p.snapshot, err = s.look(r.Context()); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	p.Clock = s.clock.Now()
	p.Staff = s.staffOf(r)
	p.Service, p.Key, p.Business = s.service, s.box.Keys().Publishable, sandbox.DefaultBusiness
	var out bytes.Buffer
	if err := s.templates.ExecuteTemplate(&out, p.Name, p); err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes())
}

func (s *web) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		s.log.ErrorContext(r.Context(), "shop: a request failed", "path", r.URL.Path, "error", err)
	}
	http.Error(w, "Something went wrong here. It is not known how your order stands: load its page again.", http.StatusInternalServerError)
}

// message shows a page that says one thing.
func (s *web) message(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	s.show(w, r, status, page{Name: "message", Title: title, Notice: text})
}

// stamp is a time in Sydney.
func (s *shop) stamp(t time.Time) string { return t.In(s.sydney).Format("2 Jan 2006, 15:04:05") }

// page returns the handler of a page that needs no data of its own.
func (s *web) page(name, title string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.show(w, r, http.StatusOK, page{Name: name, Title: title, Form: rand.Text()})
	}
}

func (s *web) place(w http.ResponseWriter, r *http.Request) {
	form := r.PostFormValue("form")
	if len(form) < 20 || len(form) > 50 {
		s.message(w, r, http.StatusBadRequest, "Nothing was ordered", "The form is not one of this shop.")
		return
	}
	id, err := s.shop.place(r.Context(), form)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/orders/"+id, http.StatusSeeOther)
}

// ordered reads the order of a request; ok is false if it has been answered.
func (s *web) ordered(w http.ResponseWriter, r *http.Request) (p page, ok bool) {
	now, err := s.look(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return p, false
	}
	a, there := now.find(r.PathValue("id"))
	if !there {
		s.message(w, r, http.StatusNotFound, "Not found", "There is no such order.")
		return p, false
	}
	return page{Name: "order", Title: "Order " + strings.TrimPrefix(a.ID, "ORDER-"), snapshot: now, Order: a, Form: fmt.Sprintf("%s-P%d", a.ID, a.Asked+1)}, true
}

func (s *web) order(w http.ResponseWriter, r *http.Request) {
	if p, ok := s.ordered(w, r); ok {
		s.show(w, r, http.StatusOK, p)
	}
}

// card answers the script of the page, which sends a token.
func (s *web) card(w http.ResponseWriter, r *http.Request) {
	p, ok := s.ordered(w, r)
	if !ok {
		return
	}
	attempt, said := r.PostFormValue("attempt"), answer{nextStop, "The form is not one of this order. You have paid nothing by it."}
	if isAttempt(p.Order.ID, attempt, len(p.Order.Payments)) {
		var err error
		if said, err = s.payCard(r.Context(), p.Order.ID, attempt, r.PostFormValue("singleUseTokenId")); err != nil {
			s.log.WarnContext(r.Context(), "shop: a card was not taken", "order", p.Order.ID, "error", err)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(said)
}

func (s *web) payTo(w http.ResponseWriter, r *http.Request) {
	p, ok := s.ordered(w, r)
	if !ok {
		return
	}
	a := agreement{Reference: r.PostFormValue("reference"), Order: p.Order.ID, Attempt: r.PostFormValue("attempt")}
	name, payID := strings.TrimSpace(r.PostFormValue("name")), strings.TrimSpace(r.PostFormValue("payid"))
	known := strings.HasPrefix(a.Reference, a.Order+"-P") && len(a.Reference) <= 35 && isAttempt(a.Order, a.Attempt, len(p.Order.Payments))
	switch {
	case !known || len(name) > 100 || len(payID) > 200 || name == "" || !strings.Contains(payID, "@"):
		p.Notice = "Fill in your name, and the email address that is your PayID. You have not been charged."
		s.show(w, r, http.StatusUnprocessableEntity, p)
		return
	case p.Order.MayPay && a.Attempt == p.Order.Attempt(): // else the order has changed since
		if err := s.ask(r.Context(), a, name, payID); err != nil {
			s.log.WarnContext(r.Context(), "shop: an agreement failed", "order", a.Order, "error", err)
		}
	}
	http.Redirect(w, r, "/orders/"+a.Order, http.StatusSeeOther)
}

// bank is the payer's banking app.
func (s *web) bank(w http.ResponseWriter, r *http.Request) {
	p, ok := s.ordered(w, r)
	if !ok {
		return
	}
	if err := s.answerBank(p.Order.Agreement.Reference, r.PostFormValue("answer") == "confirm"); err != nil {
		p.Notice = "Your banking app has no open request of this order."
		s.show(w, r, http.StatusUnprocessableEntity, p)
		return
	}
	http.Redirect(w, r, "/orders/"+p.Order.ID, http.StatusSeeOther)
}

// act makes trouble, or ends it.
func (s *web) act(w http.ResponseWriter, r *http.Request) {
	var err error
	switch do := r.PostFormValue("do"); do {
	case "kill":
		err = s.kill(r.Context())
	case "later":
		err = s.later(r.Context())
	default:
		name, on, _ := strings.Cut(do, "-")
		err = s.switchFault(name, on == "on")
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/trouble", http.StatusSeeOther)
}

// beat is how often a stream looks for a change, and alive how often it sends something if nothing changes.
const (
	beat  = time.Second
	alive = 5 * time.Second
)

// events tells a browser when something has changed, by the version of what is shown. It looks only while a browser
// listens.
func (s *web) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	control, tick := http.NewResponseController(w), time.NewTicker(beat)
	defer tick.Stop()
	for version, said := "", (time.Time{}); ; {
		now, err := s.look(r.Context())
		if err != nil {
			return // the page says that the connection is lost
		}
		if now.Version != version || time.Since(said) >= alive {
			version, said = now.Version, time.Now()
			if _, err := fmt.Fprintf(w, "data: %s\n\n", version); err != nil || control.Flush() != nil {
				return
			}
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}
