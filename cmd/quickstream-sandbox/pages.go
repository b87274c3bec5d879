package main

import (
	"embed"
	"html/template"
	"net/http"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
)

//go:embed pages
var pageFiles embed.FS

// pages are what people see: what goes on, the help, the payer's banking app and the
// challenge of 3D Secure.
type pages struct {
	*control
	templates *template.Template
	ended     <-chan struct{} // when the server ends
}

func newPages(c *control, ended <-chan struct{}) (*pages, error) {
	p := &pages{control: c, ended: ended}
	var err error
	p.templates, err = template.New("").Funcs(p.functions()).ParseFS(pageFiles, "pages/*.html")
	return p, err
}

func (p *pages) add(mux *http.ServeMux) {
	page := func(path, file string, data func(*http.Request) any, act func(*http.Request) error) {
		mux.HandleFunc("GET "+controlPath+path, p.show(file, data))
		mux.HandleFunc("POST "+controlPath+path, p.answer(strings.TrimSuffix(path, "{$}"), act))
	}
	page("/{$}", "live.html", func(*http.Request) any { return p.view() }, p.act)
	page("/payer", "payer.html", func(*http.Request) any { return p.waitingForPayers() }, func(r *http.Request) error {
		return p.answerAgreement(r.PostFormValue("agreementToken"), r.PostFormValue("action"))
	})
	page("/challenge", "challenge.html", p.openChallenges, func(r *http.Request) error {
		return p.box.AnswerChallenge(r.PostFormValue("singleUseTokenId"), sandbox.TransStatus(r.PostFormValue("transStatus")))
	})
	mux.HandleFunc("GET "+controlPath+"/help", p.show("help.html", func(*http.Request) any { return manual() }))
	mux.HandleFunc("GET "+controlPath+"/live", p.live)
	for _, file := range []string{"live.js", "style.css"} {
		mux.HandleFunc("GET "+controlPath+"/"+file, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, pageFiles, "pages/"+file)
		})
	}
	mux.Handle("GET /{$}", http.RedirectHandler(controlPath+"/", http.StatusFound))
}

// policy lets pages use what comes from this port and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

func (p *pages) show(name string, data func(*http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-store")
		_ = p.templates.ExecuteTemplate(w, name, data(r)) // the browser may have gone
	}
}

// answer does what a form asks for and shows the page again.
func (p *pages) answer(path string, do func(*http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		if err := do(r); err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		http.Redirect(w, r, controlPath+path, http.StatusSeeOther)
	}
}

// waitingForPayers are the agreements and amendments that nobody has answered.
func (p *pages) waitingForPayers() []sandbox.AgreementEntry {
	var waiting []sandbox.AgreementEntry
	for _, a := range p.box.Agreements() {
		if a.Status == "PENDING" || a.PendingAmendment {
			waiting = append(waiting, a)
		}
	}
	return waiting
}

// openChallenges are all, or the one of the token that the page was asked for.
func (p *pages) openChallenges(r *http.Request) any {
	var open []sandbox.Challenge
	only := r.URL.Query().Get("singleUseTokenId")
	for _, ch := range p.box.Challenges() {
		if only == "" || ch.SingleUseTokenID == only {
			open = append(open, ch)
		}
	}
	return open
}
