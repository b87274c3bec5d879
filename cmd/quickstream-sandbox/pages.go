package main

import (
	"embed"
	"errors"
	"html/template"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

//go:embed pages
var pageFiles embed.FS

// pages are what people see: what happens, and what to make happen.
type pages struct {
	*control
	templates *template.Template
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
	page("/{$}", "happens.html", p.happens)
	page("/make", "make.html", p.makes)
	page("/detail", "detail.html", p.detail)
	mux.HandleFunc("POST "+controlPath+"/{$}", p.answer("/"))
	mux.HandleFunc("POST "+controlPath+"/make", p.answer("/make"))
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
		field, err := p.act(r)
		p.log.Info("control", "call", "form "+field, "ok", err == nil)
		if err != nil {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, err.Error())
			return
		}
		http.Redirect(w, r, controlPath+path, http.StatusSeeOther)
	}
}

// fields are the forms' fields, with what each does.
func (p *pages) fields() map[string]func(*http.Request, string) error {
	return map[string]func(*http.Request, string) error{
		"redeliver": func(_ *http.Request, id string) error { return p.box.Redeliver(id) },
		"event": func(r *http.Request, name string) error {
			_, err := p.raise(r.Context(), name, "")
			return err
		},
		"advance": func(r *http.Request, text string) error {
			var d duration
			if err := d.UnmarshalText([]byte(text)); err != nil {
				return err
			}
			return p.move(r.Context(), time.Duration(d))
		},
		"card":  func(r *http.Request, number string) error { return p.payByCard(r.Context(), number) },
		"fault": func(_ *http.Request, name string) error { return p.breakNext(name) },
		"mend":  func(*http.Request, string) error { p.box.ClearFaults(); return nil },
		"outcome": func(_ *http.Request, text string) error {
			outcome, err := parseOutcome(text)
			if err == nil {
				p.box.NextTransaction(outcome)
			}
			return err
		},
		"payer": func(r *http.Request, action string) error {
			return p.box.Payer(r.PostFormValue("agreementToken"), sandbox.PayerAction(action))
		},
		"transStatus": func(r *http.Request, status string) error {
			return p.box.AnswerChallenge(r.PostFormValue("singleUseTokenId"), sandbox.TransStatus(status))
		},
	}
}

// act does what the one field of a form says.
func (p *pages) act(r *http.Request) (field string, err error) {
	for field, do := range p.fields() {
		if r.PostFormValue(field) != "" {
			return field, do(r, r.PostFormValue(field))
		}
	}
	return "", errors.New("nothing was asked for")
}

// makeView is what can be made to happen.
type makeView struct {
	Cards      []sandbox.TestCard
	Agreements []sandbox.AgreementEntry // that wait for their payers
	Challenges []sandbox.Challenge
	Faults     []fault
	Waiting    int // faults that may still strike
	Struck     map[string]int
	Outcomes   []string
	Events     []event
}

func (p *pages) makes(*http.Request) any {
	v := makeView{
		Cards: shownCards(), Challenges: p.box.Challenges(), Faults: pageFaults(), Waiting: p.box.WaitingFaults(), Struck: p.box.FaultCounts(), Events: events(),
		Outcomes: []string{"approved", "approved 4.00", "declined 51", "declined 01", "rejected QA", "erred", "suspended", "pending"},
	}
	for _, a := range p.box.Agreements() {
		if a.Status == "PENDING" || a.PendingAmendment {
			v.Agreements = append(v.Agreements, a)
		}
	}
	return v
}

// shownCards are one test card of each kind, Visa's if there is one. -help lists all.
func shownCards() (shown []sandbox.TestCard) {
	for _, card := range sandbox.TestCards() {
		i := slices.IndexFunc(shown, func(c sandbox.TestCard) bool { return c.DeclineCode == card.DeclineCode && c.ThreeDS == card.ThreeDS })
		switch {
		case i < 0:
			shown = append(shown, card)
		case card.Number == "4242424242424242" || shown[i].Scheme != "VISA" && card.Scheme == "VISA":
			shown[i] = card
		}
	}
	return shown
}
