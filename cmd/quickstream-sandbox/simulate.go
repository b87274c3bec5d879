package main

import (
	"crypto/rand"
	"embed"
	"errors"
	"html/template"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

//go:embed pages
var pageFiles embed.FS

// pages are the HTML pages. They show what happens, and their forms make things happen.
type pages struct {
	*control
	templates *template.Template

	mu     sync.Mutex
	on     string // the kind of fault that was switched on last
	struck int    // how often that kind had struck before
}

func newPages(c *control) (*pages, error) {
	p := &pages{control: c}
	var err error
	p.templates, err = template.New("").Funcs(p.functions()).ParseFS(pageFiles, "pages/*.html")
	return p, err
}

func (p *pages) add(mux *http.ServeMux) {
	page := func(path, file string, data func(*http.Request) any) {
		mux.HandleFunc("GET "+controlPath+path, func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Content-Type", "text/html; charset=utf-8")
			h.Set("Content-Security-Policy", policy)
			h.Set("Cache-Control", "no-store")
			_ = p.templates.ExecuteTemplate(w, file, data(r)) // the browser may have gone
		})
	}
	page("/{$}", "activity.html", p.activity)
	page("/simulate", "simulate.html", p.simulate)
	page("/detail", "detail.html", p.detail)
	mux.HandleFunc("POST "+controlPath+"/{$}", p.answer("/"))
	mux.HandleFunc("POST "+controlPath+"/simulate", p.answer("/simulate"))
	for _, file := range []string{"pages.js", "style.css"} {
		mux.HandleFunc("GET "+controlPath+"/"+file, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, pageFiles, "pages/"+file)
		})
	}
	mux.Handle("GET /{$}", http.RedirectHandler(controlPath+"/", http.StatusFound))
}

// policy lets pages use what comes from this port and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// answer does what a form asks for and leads back to its page, or says what is wrong. Browsers report other statuses than
// 200 as errors of the page.
func (p *pages) answer(path string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		if err := p.act(r); err != nil {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, err.Error())
			return
		}
		p.log.Info("control", "call", "form "+r.PostFormValue("do"))
		http.Redirect(w, r, controlPath+path, http.StatusSeeOther)
	}
}

// act carries out a form. Its field do names the action, and its field with is the argument.
func (p *pages) act(r *http.Request) error {
	ctx, with := r.Context(), r.PostFormValue("with")
	switch r.PostFormValue("do") {
	case "pay":
		return p.pay(ctx, "CLICK-"+rand.Text()[:8], object{
			"eci": "MAIL", "storedCredentialData": object{"entryMode": "MANUAL"},
			"creditCard": object{"cardNumber": with, "expiryDateMonth": "12", "expiryDateYear": "2099"},
		})
	case "outcome":
		return p.nextOutcome(with)
	case "fault":
		return p.switchOn(with)
	case "clear-faults":
		p.box.ClearFaults()
		return nil
	case "agreement":
		_, err := p.newAgreement(ctx)
		return err
	case "payer":
		return p.box.Payer(r.PostFormValue("agreementToken"), sandbox.PayerAction(with))
	case "challenge":
		return p.box.AnswerChallenge(r.PostFormValue("singleUseTokenId"), sandbox.TransStatus(with))
	case "event":
		_, err := p.raise(ctx, with, "")
		return err
	case "redeliver":
		return p.box.Redeliver(with)
	case "advance":
		var d duration
		if err := d.UnmarshalText([]byte(with)); err != nil {
			return err
		}
		return p.move(ctx, time.Duration(d))
	}
	return errors.New("nothing was asked for")
}

// simulateView is what the page of simulations shows. Test cards and faults never change, and are in the page itself.
type simulateView struct {
	Agreements []sandbox.AgreementEntry // that wait for their payers
	Challenges []sandbox.Challenge
	On         string // the kind of fault that is switched on
	Waiting    int    // faults that may still meet a call
	Events     []string
}

func (p *pages) simulate(*http.Request) any {
	v := simulateView{Challenges: p.box.Challenges(), On: p.faultOn(), Waiting: p.box.WaitingFaults(), Events: eventTypes()}
	for _, a := range p.box.Agreements() {
		if a.Status == "PENDING" || a.PendingAmendment {
			v.Agreements = append(v.Agreements, a)
		}
	}
	return v
}
