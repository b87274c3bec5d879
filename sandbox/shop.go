package sandbox

import (
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// The paths of the pages for payers. The script has the path of the service's own.
const (
	scriptPath    = basePath + "/quickstream-api-1.0.min.js"
	shopPath      = "/_shop/"
	challengePath = shopPath + "challenge"

	// PayerPage is the path of the payer's banking app, on the host of the service. There
	// payers confirm, decline, suspend and cancel PayTo agreements.
	PayerPage = shopPath + "payer"
)

//go:embed shop
var shopFiles embed.FS

// WithShop lets the web pages of origins, such as http://127.0.0.1:8080, take payments in a
// browser. The sandbox then serves a stand-in of the service's browser script at its public
// path, {base}/quickstream-api-1.0.min.js. Pages of these origins may make the script's
// calls, put the challenge page into a frame, and open [PayerPage].
//
// The functions of the script are those that public pages call. What they do is unconfirmed.
// The real service does not answer calls that pages make without its script: use the script,
// and never fetch.
func WithShop(origins ...string) Option {
	return func(s *settings) { s.shops = append(s.shops, origins...) }
}

// ForShop reports whether a request comes from a browser on a page of [WithShop]: for the
// script, a token, the challenge page or the payer's page. Servers that refuse other sites
// let these requests in.
func (b *Sandbox) ForShop(r *http.Request) bool {
	switch {
	case len(b.shops) == 0:
		return false
	case r.URL.Path == scriptPath:
		return r.Method == http.MethodGet // the same for everybody
	case len(r.Header.Values("Origin")) > 0:
		return len(r.Header.Values("Origin")) == 1 && b.callOfShop(r.Header.Get("Origin"), wantedMethod(r), r.URL.EscapedPath())
	case r.URL.Path == challengePath || r.URL.Path == PayerPage:
		from, err := url.Parse(r.Referer())
		return err == nil && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
			slices.Contains(b.shops, from.Scheme+"://"+from.Host)
	default:
		return false
	}
}

// callOfShop reports whether the script may make a call from an origin.
func (b *Sandbox) callOfShop(origin, method, escapedPath string) bool {
	op, _, _ := b.routes.find(method, escapedPath)
	return op != nil && op.id == "POST /single-use-tokens" && slices.Contains(b.shops, origin)
}

// newShopFront returns the handler for browsers; nil without shops.
func (b *Sandbox) newShopFront() http.Handler {
	if len(b.shops) == 0 {
		return nil
	}
	s := &shopPages{Sandbox: b, templates: template.Must(template.ParseFS(shopFiles, "shop/*.html"))}
	mux := http.NewServeMux()
	files := map[string]string{scriptPath: "quickstream-api.js", shopPath + "answered.js": "answered.js", shopPath + "style.css": "style.css"}
	for path, name := range files {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			http.ServeFileFS(w, r, shopFiles, "shop/"+name)
		})
	}
	mux.HandleFunc("GET "+challengePath, s.challenge)
	mux.HandleFunc("POST "+challengePath, s.answerChallenge)
	mux.HandleFunc("GET "+PayerPage, s.payer)
	mux.HandleFunc("POST "+PayerPage, s.answerAgreement)
	return http.NewCrossOriginProtection().Handler(mux)
}

// ofShopFront reports whether a path belongs to the pages for browsers.
func (b *Sandbox) ofShopFront(path string) bool {
	return b.shopFront != nil && (path == scriptPath || strings.HasPrefix(path, shopPath))
}

type shopPages struct {
	*Sandbox
	templates *template.Template
}

// show writes a page that uses only its own files. Only the origins in ancestors may put it
// into a frame.
func (s *shopPages) show(w http.ResponseWriter, name, ancestors string, data any) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors "+ancestors)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_ = s.templates.ExecuteTemplate(w, name, data) // the browser may have gone
}

// challengeView is an open challenge, or its answer. Shop is the origin of the page that has
// it in a frame and is notified.
type challengeView struct {
	Challenge

	Shop   string
	Status TransStatus // empty: not answered
	Open   bool
}

// view reads the challenge of a page. Only shops are notified.
func (s *shopPages) view(token, shop string) challengeView {
	v := challengeView{Challenge: Challenge{SingleUseTokenID: token}}
	if slices.Contains(s.shops, shop) {
		v.Shop = shop
	}
	for _, ch := range s.Challenges() {
		if ch.SingleUseTokenID == token {
			v.Challenge, v.Open = ch, true
		}
	}
	return v
}

func (s *shopPages) challenge(w http.ResponseWriter, r *http.Request) {
	s.showChallenge(w, s.view(r.FormValue("singleUseTokenId"), r.FormValue("shop")))
}

// answerChallenge answers for the payer. An answer that comes too late is a failure.
func (s *shopPages) answerChallenge(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	v := s.view(r.PostFormValue("singleUseTokenId"), r.PostFormValue("shop"))
	status := TransStatus(r.PostFormValue("transStatus"))
	if v.Open && s.AnswerChallenge(v.SingleUseTokenID, status) == nil {
		v.Status = status
	}
	v.Open = false
	s.showChallenge(w, v)
}

func (s *shopPages) showChallenge(w http.ResponseWriter, v challengeView) {
	s.show(w, "challenge.html", strings.Join(s.shops, " "), v)
}

// Passed reports an answer after which the payment can go on.
func (v challengeView) Passed() bool { return v.Status.passed() }

// payer shows the agreements, newest first, or only the one in the address.
func (s *shopPages) payer(w http.ResponseWriter, r *http.Request) {
	only := r.FormValue("agreementToken")
	list := slices.DeleteFunc(s.Agreements(), func(a AgreementEntry) bool { return only != "" && a.Token != only })
	slices.Reverse(list)
	views := make([]agreementView, len(list))
	for i, entry := range list {
		views[i] = s.agreementView(entry)
	}
	s.show(w, "payer.html", "'none'", views)
}

// agreementView is an agreement with its terms.
type agreementView struct {
	AgreementEntry

	Payee, Description string
	Amounts            []string
	Paid               int // number of approved payments
}

func (s *shopPages) agreementView(entry AgreementEntry) agreementView {
	v := agreementView{AgreementEntry: entry}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.agreements.byID[entry.Token]
	v.Payee, v.Description = a.shop.name, a.purpose.description
	least := ""
	if a.terms.kind != kindFixed { // the contract has one member for the amount and for the smallest one
		least = "at least "
	}
	often := map[string]string{"DAIL": " a day", "WEEK": " a week", "FRTN": " a fortnight", "MNTH": " a month", "QURT": " a quarter", "MIAN": " each half-year", "YEAR": " a year"}[a.terms.frequency]
	for _, term := range []struct {
		format string
		amount *cents
	}{{least + "%s" + often, a.terms.each}, {"%s first", a.terms.first}, {"%s last", a.terms.last}, {"at most %s" + often, a.terms.maximum}} {
		if term.amount != nil {
			v.Amounts = append(v.Amounts, fmt.Sprintf(term.format, term.amount.display()))
		}
	}
	for _, tx := range a.payments {
		if tx.result == resultApproved {
			v.Paid++
		}
	}
	return v
}

//nolint:gochecknoglobals // an immutable table
var payerButtons = []PayerAction{
	ConfirmAgreement, DeclineAgreement, SuspendAgreement, ReactivateAgreement, CancelAgreement, AcceptAmendment, RefuseAmendment,
}

func (s *shopPages) answerAgreement(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	action := PayerAction(r.PostFormValue("action"))
	if !slices.Contains(payerButtons, action) {
		http.Error(w, "There is no such action.", http.StatusUnprocessableEntity)
		return
	}
	_ = s.Payer(r.PostFormValue("agreementToken"), action) // the page shows the result
	http.Redirect(w, r, PayerPage+"?"+url.Values{"agreementToken": r.URL.Query()["agreementToken"]}.Encode(), http.StatusSeeOther)
}

// crossOrigin lets pages of shops make the calls of the script. It answers preflight requests, and reports whether
// the request was one.
func (b *Sandbox) crossOrigin(w http.ResponseWriter, r *http.Request) (answered bool) {
	origin, wanted := r.Header.Get("Origin"), wantedMethod(r)
	if origin == "" || !b.callOfShop(origin, wanted, r.URL.EscapedPath()) {
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

// asks reports a preflight request.
func asks(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// wantedMethod returns the method of the call, or of the call that a preflight request is
// for.
func wantedMethod(r *http.Request) string {
	if asks(r) {
		return r.Header.Get("Access-Control-Request-Method")
	}
	return r.Method
}
