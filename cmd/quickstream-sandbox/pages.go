package main

import (
	"embed"
	"html/template"
	"net/http"

	"github.com/quickstream-go/quickstream/sandbox"
)

//go:embed pages
var pageFiles embed.FS

// pages are what people see: the payer's banking app, the challenge of 3D Secure,
// and an index of everything under /_sandbox.
type pages struct {
	*control
	templates *template.Template
}

func newPages(c *control) (*pages, error) {
	templates, err := template.ParseFS(pageFiles, "pages/*.html")
	if err != nil {
		return nil, err
	}
	return &pages{control: c, templates: templates}, nil
}

func (p *pages) add(mux *http.ServeMux) {
	mux.HandleFunc("GET "+controlPath+"/style.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, pageFiles, "pages/style.css")
	})
	mux.Handle("GET /{$}", http.RedirectHandler(controlPath+"/", http.StatusFound))
	mux.HandleFunc("GET "+controlPath+"/{$}", p.show("index.html", func(*http.Request) any { return nil }))
	mux.HandleFunc("GET "+controlPath+"/help", p.show("help.html", func(*http.Request) any { return manual() }))
	mux.HandleFunc("GET "+controlPath+"/payer", p.show("payer.html", func(*http.Request) any { return p.waitingForPayers() }))
	mux.HandleFunc("POST "+controlPath+"/payer", p.answer("payer", func(r *http.Request) error {
		return p.answerAgreement(r.PostFormValue("agreementToken"), r.PostFormValue("action"))
	}))
	mux.HandleFunc("GET "+controlPath+"/challenge", p.show("challenge.html", p.openChallenges))
	mux.HandleFunc("POST "+controlPath+"/challenge", p.answer("challenge", func(r *http.Request) error {
		return p.box.AnswerChallenge(r.PostFormValue("singleUseTokenId"), sandbox.TransStatus(r.PostFormValue("transStatus")))
	}))
}

func (p *pages) show(name string, data func(*http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		_ = p.templates.ExecuteTemplate(w, name, data(r)) // the browser may have gone
	}
}

// answer does what a form asks for and shows the page again.
func (p *pages) answer(page string, do func(*http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		if err := do(r); err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		http.Redirect(w, r, controlPath+"/"+page, http.StatusSeeOther)
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
