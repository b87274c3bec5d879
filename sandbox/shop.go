package sandbox

import (
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// The paths that browsers load. The script has the same path as the service's own.
const (
	scriptPath    = basePath + "/quickstream-api-1.0.min.js"
	shopPath      = "/_shop/"
	challengePath = shopPath + "challenge"
)

//go:embed shop
var shopFiles embed.FS

// WithShop lets the web pages of origins, such as http://127.0.0.1:8080, take payments in a
// browser. The sandbox then serves a stand-in for the service's browser script at its public
// path, {base}/quickstream-api-1.0.min.js. Pages of these origins may make the script's
// calls, and put the challenge page into a frame.
//
// The functions of the script are those that public pages call, unconfirmed. The real service answers
// no calls that pages make without its script: never use fetch.
func WithShop(origins ...string) Option {
	return func(s *settings) { s.shops = append(s.shops, origins...) }
}

// ForShop reports whether a request comes from a browser on a page of [WithShop]: for the
// script, a token or the challenge page. A server that refuses other sites can let these in.
func (b *Sandbox) ForShop(r *http.Request) bool {
	switch {
	case len(b.shops) == 0:
		return false
	case r.URL.Path == scriptPath:
		return r.Method == http.MethodGet // the same for everybody
	case len(r.Header.Values("Origin")) > 0:
		return len(r.Header.Values("Origin")) == 1 && b.callOfShop(r.Header.Get("Origin"), wantedMethod(r), r.URL.EscapedPath())
	case r.URL.Path == challengePath:
		from, err := url.Parse(r.Referer())
		return err == nil && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
			slices.Contains(b.shops, from.Scheme+"://"+from.Host)
	default:
		return false
	}
}

// callOfShop reports whether the script may make a call from an origin.
func (b *Sandbox) callOfShop(origin, method, escapedPath string) bool {
	op, _ := b.routes.find(method, escapedPath)
	return op != nil && op.id == "POST /single-use-tokens" && slices.Contains(b.shops, origin)
}

// newShopFront returns the handler for browsers; nil without shops.
func (b *Sandbox) newShopFront() http.Handler {
	if len(b.shops) == 0 {
		return nil
	}
	s := &shopPages{Sandbox: b, page: template.Must(template.ParseFS(shopFiles, "shop/challenge.html"))}
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
	return http.NewCrossOriginProtection().Handler(mux)
}

type shopPages struct {
	*Sandbox
	page *template.Template
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

// showChallenge writes the page, which uses only its own files. Only shops may put it into a frame.
func (s *shopPages) showChallenge(w http.ResponseWriter, v challengeView) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors "+strings.Join(s.shops, " "))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_ = s.page.Execute(w, v) // the browser may have gone
}

// Passed reports whether the payment can go on after the answer.
func (v challengeView) Passed() bool { return v.Status.passed() }

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
