package machine

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"embed"
	"html/template"
	"io"
	"log"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

//go:embed pages
var pageFiles embed.FS

// trouble is the page of switches.
type trouble struct {
	machine   *Machine
	templates *template.Template

	mu       sync.Mutex
	sessions map[string]string // form tokens by cookie
	on       map[string]bool   // switches, by name
}

// fault is a switch that stays on until it is switched off.
type fault struct {
	Name, Label, About string
	fault              sandbox.Fault // what the service does; nothing for killsName
}

// action is something that happens once.
type action struct {
	Name, Label, About string
	do                 func(ctx context.Context, m *Machine)
}

const (
	pay         = "POST /transactions"
	killsName   = "kill-in-payment"
	troublePath = "/trouble"
	cookieName  = "shop_trouble"
)

// faults are the switches. Of several that are on the service meets the first.
func faults() []fault {
	return []fault{
		{
			"down", "The service is down", "Every call ends without an answer, and nothing is carried out.",
			sandbox.Fault{Kind: sandbox.ResetBeforeCommit()},
		},
		{
			"lost-before", "The request of a payment is lost", "The payment does not reach the service. The shop cannot know that.",
			sandbox.Fault{Operation: pay, Kind: sandbox.ResetBeforeCommit()},
		},
		{
			"lost-after", "The answer to a payment is lost", "The money is taken, and the shop is not told.",
			sandbox.Fault{Operation: pay, Kind: sandbox.ResetAfterCommit()},
		},
		{
			killsName, "The shop's program is killed in the next payment", "At the moment at which the service has taken the money. Once.",
			sandbox.Fault{},
		},
		{
			"no-3ds", "3D Secure is not enabled", "The service answers that it authenticates no cards.",
			sandbox.Fault{Operation: "POST /single-use-tokens/{singleUseTokenId}/three-ds2-authentication", Kind: sandbox.Status(http.StatusServiceUnavailable, sandbox.ServiceError)},
		},
	}
}

func actions() []action {
	return []action{
		{"forward", "Move the clock forward by 48 hours", "For the service and the shop. What becomes due on the way happens.", func(ctx context.Context, m *Machine) {
			m.Forward(ctx, 48*time.Hour)
		}},
		{"twice", "Send every webhook again", "All that were sent before, once more; and the next one arrives twice.", func(_ context.Context, m *Machine) {
			for _, d := range m.box.Deliveries() {
				_ = m.box.Redeliver(d.ID) // one that is too old is not kept
			}
			m.box.NextDelivery(sandbox.DeliveryFault{Twice: true})
		}},
		{"kill", "Kill the shop's program now", "As a power cut would. It is started again after a second.", func(_ context.Context, m *Machine) {
			m.Kill()
		}},
		{"normal", "Back to normal", "All switches off. What has happened stays.", func(_ context.Context, m *Machine) {
			m.trouble.mu.Lock()
			defer m.trouble.mu.Unlock()
			clear(m.trouble.on)
			m.trouble.arm()
		}},
	}
}

func newTrouble(m *Machine) (*trouble, error) {
	t := &trouble{machine: m, sessions: make(map[string]string), on: make(map[string]bool)}
	var err error
	t.templates, err = template.New("").Funcs(template.FuncMap{"money": money, "time": shownTime, "lower": lower}).ParseFS(pageFiles, "pages/*.html")
	return t, err
}

func (t *trouble) add(mux *http.ServeMux) {
	same := http.NewCrossOriginProtection()
	mux.HandleFunc("GET "+troublePath, t.page)
	mux.Handle("POST "+troublePath, same.Handler(http.HandlerFunc(t.act)))
	mux.HandleFunc("GET "+troublePath+"/now", t.now)
	mux.HandleFunc("GET "+troublePath+"/bar", func(w http.ResponseWriter, r *http.Request) {
		t.show(w, http.StatusOK, "bar", t.bar(r.FormValue("order"), r.FormValue("says")))
	})
	for _, file := range []string{"trouble.js", "trouble.css", "bar.js", "bar.css", "scenarios.js", "away.js"} {
		mux.HandleFunc("GET "+troublePath+"/"+file, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			http.ServeFileFS(w, r, pageFiles, "pages/"+file)
		})
	}
}

// troubleView is what the page shows.
type troubleView struct {
	FormToken string
	Bar       barView
	Script    string // the service's, which takes a card in the browser
	Key       string // the publishable one
	Business  string
	Switches  []switchView
	Actions   []action
	Now       nowView
}

type switchView struct {
	fault

	On bool
}

// nowView is the part that changes by itself.
type nowView struct {
	Verdict  string
	Good, Up bool
	Time     time.Time
	Ahead    time.Duration
	Accounts []account
	On       string // the switches that are on
}

func (t *trouble) view() nowView {
	list := accounts(t.machine.box.Ledger())
	words, good := verdict(list)
	t.mu.Lock()
	on := strings.Join(slices.Sorted(maps.Keys(t.on)), " ")
	t.mu.Unlock()
	return nowView{
		On:      on,
		Verdict: words, Good: good, Up: t.machine.child.at() != nil, Accounts: list,
		Time: t.machine.box.Now(), Ahead: t.machine.clock.Ahead(),
	}
}

func (t *trouble) page(w http.ResponseWriter, r *http.Request) {
	v := troubleView{
		FormToken: t.session(w, r), Bar: t.bar("", ""), Actions: actions(), Now: t.view(), Business: sandbox.DefaultBusiness,
		Script: t.machine.service + "/rest/v1/quickstream-api-1.0.min.js", Key: t.machine.box.Keys().Publishable,
	}
	t.mu.Lock()
	for _, f := range faults() {
		v.Switches = append(v.Switches, switchView{f, t.on[f.Name]})
	}
	t.mu.Unlock()
	t.show(w, http.StatusOK, "trouble.html", v)
}

// now writes what changes by itself, for the script of the page.
func (t *trouble) now(w http.ResponseWriter, _ *http.Request) {
	t.show(w, http.StatusOK, "now", t.view())
}

func (t *trouble) show(w http.ResponseWriter, status int, name string, data any) {
	t.machine.policy(w.Header())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = t.templates.ExecuteTemplate(w, name, data) // the browser may have gone
}

// session returns the form token of a browser, which may be a new one.
func (t *trouble) session(w http.ResponseWriter, r *http.Request) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cookie, err := r.Cookie(cookieName); err == nil && t.sessions[cookie.Value] != "" {
		return t.sessions[cookie.Value]
	}
	id, token := rand.Text(), rand.Text()
	if len(t.sessions) > 1000 {
		clear(t.sessions) // browsers that have gone; the others load the page again
	}
	t.sessions[id] = token
	//nolint:gosec // a loopback address has no TLS
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: id, Path: troublePath, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return token
}

// act switches, or does something once. It comes from the page itself, or not at all.
func (t *trouble) act(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	t.mu.Lock()
	known := ""
	if cookie, err := r.Cookie(cookieName); err == nil {
		known = t.sessions[cookie.Value]
	}
	t.mu.Unlock()
	if known == "" || !hmac.Equal([]byte(known), []byte(r.PostFormValue("form"))) {
		http.Error(w, "This form is not from your page of switches. Open it again.", http.StatusForbidden)
		return
	}
	if !t.toggle(r.PostFormValue("switch")) && !t.do(r.Context(), r.PostFormValue("do")) {
		http.Error(w, "There is no such switch.", http.StatusUnprocessableEntity)
		return
	}
	http.Redirect(w, r, troublePath, http.StatusSeeOther)
}

func (t *trouble) toggle(name string) bool {
	if !slices.ContainsFunc(faults(), func(f fault) bool { return f.Name == name }) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.on[name] {
		delete(t.on, name)
	} else {
		t.on[name] = true
	}
	t.arm()
	return true
}

func (t *trouble) do(ctx context.Context, name string) bool {
	list := actions()
	i := slices.IndexFunc(list, func(a action) bool { return a.Name == name })
	if i >= 0 {
		list[i].do(ctx, t.machine)
	}
	return i >= 0
}

// arm has the service meet the faults that are on. The caller holds mu.
func (t *trouble) arm() {
	t.machine.box.ClearFaults()
	for _, f := range faults() {
		if t.on[f.Name] && f.Name != killsName {
			_ = t.machine.box.Inject(f.fault) // of the table above, which a test tries
		}
	}
}

// killsAt reports the payment during which the shop's program is to be killed, once.
func (t *trouble) killsAt(r *http.Request) bool {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/transactions") {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	hit := t.on[killsName]
	delete(t.on, killsName)
	return hit
}

// quiet is a log of what is expected, such as a program that is away.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
