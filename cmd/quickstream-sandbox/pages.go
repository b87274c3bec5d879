package main

import (
	"embed"
	"html/template"
	"io"
	"net/http"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
)

//go:embed pages
var pageFiles embed.FS

// pages are what people see: the inspector, the help, the payer's banking app and the
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

// form is a form of a page, with what was wrong with it when it was sent.
type form struct {
	Field, Given, Error string
}

// screen is what a page shows.
type screen struct {
	form
	Data any
}

func (p *pages) add(mux *http.ServeMux) {
	page := func(path, file string, data func(*http.Request) any, act func(*http.Request) (form, error)) {
		mux.HandleFunc("GET "+controlPath+path, func(w http.ResponseWriter, r *http.Request) {
			p.show(w, http.StatusOK, file, screen{Data: data(r)})
		})
		if act != nil {
			mux.HandleFunc("POST "+controlPath+path, p.answer(path, file, data, act))
		}
	}
	page("/{$}", "live.html", func(r *http.Request) any { return p.view(filterOf(r)) }, p.act)
	page("/inspect", "inspect.html", p.inspected, nil)
	page("/payer", "payer.html", func(*http.Request) any { return p.waitingForPayers() }, func(r *http.Request) (form, error) {
		return form{}, p.answerAgreement(r.PostFormValue("agreementToken"), r.PostFormValue("action"))
	})
	page("/challenge", "challenge.html", p.openChallenges, func(r *http.Request) (form, error) {
		return form{}, p.box.AnswerChallenge(r.PostFormValue("singleUseTokenId"), sandbox.TransStatus(r.PostFormValue("transStatus")))
	})
	page("/help", "help.html", func(*http.Request) any { return manual() }, nil)
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

func (p *pages) show(w http.ResponseWriter, status int, file string, data screen) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = p.templates.ExecuteTemplate(w, file, data) // the browser may have gone
}

// answer does what a form asks for and shows the page again. What is wrong stands beside its
// field: in the page, or as a text for the page's script, which puts it there.
func (p *pages) answer(path, file string, data func(*http.Request) any, act func(*http.Request) (form, error)) http.HandlerFunc {
	path = strings.TrimSuffix(path, "{$}")
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		sent, err := act(r)
		if p.log.Info("control", "call", "form "+path, "ok", err == nil); err == nil {
			http.Redirect(w, r, controlPath+path, http.StatusSeeOther)
			return
		}
		if r.Header.Get("Accept") == "text/plain" { // browsers report other statuses than 200 as errors of the page
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, err.Error())
			return
		}
		sent.Error = err.Error()
		p.show(w, http.StatusUnprocessableEntity, file, screen{sent, data(r)})
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
