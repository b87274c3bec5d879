package console

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/quickstream-go/quickstream/durable"
)

// Person is a person whom the merchant's login has admitted.
type Person struct {
	// Name is stored in the history of what they do: one line of up to 200 printable bytes.
	Name string
	// Read lets them see all pages, with receipt numbers. Act lets them decide, refund, look up and pause,
	// and Export download lists. Without Read the others have no effect.
	Read, Act, Export bool
}

// Options configure a console.
type Options struct {
	// Authorize returns the person who makes a request. It is called for each one, and an open page reloads every
	// few seconds. The console has no login: an error or a person who may not read gets 403. Required.
	Authorize func(*http.Request) (Person, error)
	// Login is the address of the merchant's page where people log out; none is linked if it is empty.
	Login string
	// Now is this machine's clock; [time.Now] by default. A program on a sandbox's clock passes that one's.
	Now func() time.Time
	// Logger gets errors and warnings, without handles.
	Logger *slog.Logger
}

// Handler serves the console.
type Handler struct {
	handle func(w http.ResponseWriter, r *http.Request)
	end    func()
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handle(w, r) }

// Close ends look-ups and comparisons that people have started: give it to [http.Server.RegisterOnShutdown].
func (h *Handler) Close() { h.end() }

// New returns the console of an engine and its database.
func New[TTx any](engine *durable.Engine[TTx], db durable.Database[TTx], opts Options) (*Handler, error) {
	if opts.Authorize == nil {
		return nil, errors.New("console: Options.Authorize is required: only the merchant knows who may do what")
	}
	sydney, err := time.LoadLocation("Australia/Sydney") // durable brings the zones
	if err != nil {
		return nil, err
	}
	c := &console[TTx]{engine: engine, db: db, opts: opts, sydney: sydney, origins: http.NewCrossOriginProtection()}
	c.ending, c.end = context.WithCancel(context.Background()) //nolint:gosec // Close calls it
	c.opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	if err := c.parse(); err != nil {
		return nil, err
	}
	c.routes = c.allRoutes()
	return &Handler{c.serve, c.end}, nil
}

// console is a handler with the merchant's type of transaction.
type console[TTx any] struct {
	engine  *durable.Engine[TTx]
	db      durable.Database[TTx]
	opts    Options
	sydney  *time.Location
	origins *http.CrossOriginProtection
	pages   *template.Template
	routes  map[string]route
	ending  context.Context
	end     context.CancelFunc

	mu   sync.Mutex
	work work
}

// request is a request of a person.
type request struct {
	*http.Request
	w         http.ResponseWriter
	person    Person
	technical string // why something was not done
}

// field returns a field of the form or of the address, without blanks around it.
func (q request) field(name string) string { return strings.TrimSpace(q.Form.Get(name)) }

// id returns the id of a write or a notification, which may have blanks around it.
func (q request) id() string { return q.Form.Get("id") }

// handler shows a page, or does an act. notice is why something was not done.
type handler func(q request, notice string)

// route is a page or a form, the permission that it needs beside Read, and the notice when it was done.
type route struct {
	handle handler
	may    func(Person) bool
	done   string
}

func mayRead(Person) bool     { return true }
func mayAct(p Person) bool    { return p.Act }
func mayExport(p Person) bool { return p.Export }

// allRoutes returns the pages and the forms. All are in one folder, so that their links need no prefix.
func (c *console[TTx]) allRoutes() map[string]route {
	all := map[string]route{
		"GET /":             {c.first, mayRead, ""},
		"GET /payments":     {c.payments, mayRead, ""},
		"GET /payment":      {c.payment, mayRead, ""},
		"GET /installation": {c.installation, mayRead, ""},
		"POST /find":        {c.payments, mayRead, ""}, // a customer's reference is personal, and stays out of addresses
		"POST /export":      {c.export, mayExport, ""},
		"POST /refund":      {c.refund, mayAct, "The refund is stored, and sent by itself. What becomes of it is shown here."},
	}
	do := func(name, done string, do act, to string, show handler) {
		all["POST /"+name] = route{c.act(do, to, show), mayAct, done}
	}
	do("retry", "It is tried again in the next seconds. If that works, it goes from this page. If not, its number of failures goes up.", c.retry, "./", c.first)
	do("look-up-all", "All are looked up, one after the other.", c.lookUpAll, "./", c.first)
	do("compare", "It is being compared.", c.compare, "installation", c.installation)
	do("decide", "Decided.", c.decide, "payment", c.payment)
	about := func(name, done string, step func(ctx context.Context, id, by, note string) error) {
		do(name, done, func(q request) error { return step(q.Context(), q.id(), q.person.Name, q.field("note")) }, "payment", c.payment)
	}
	about("look-up", "The service was asked. What is known now is shown here.", c.lookUpOne)
	about("notify", "The shop's program has accepted the outcome.", c.engine.NotifyAgain)
	about("cancel", "If this was in time, it stands as cancelled below.", c.engine.Cancel)
	for name, step := range map[string]func(ctx context.Context, by, note string) error{
		"pause": c.engine.Pause, "unpause": c.engine.Unpause, "confirm-history": c.engine.ConfirmHistory,
		"end-restoring": c.engine.EndRestoring, "confirm-facility": c.engine.ConfirmFacility,
	} {
		do(name, "Done.", func(q request) error {
			if err := c.lasts(q); err != nil {
				return err
			}
			return step(q.Context(), q.person.Name, q.field("note"))
		}, "installation", c.installation)
	}
	return all
}

// lasts reports an error if the pause or the restoring that a form ends is not the one that lasts now.
func (c *console[TTx]) lasts(q request) error {
	begun := q.field("begun")
	if begun == "" {
		return nil
	}
	h, err := c.engine.Health(q.Context())
	if err == nil && begun != stored(h.Paused) && begun != stored(h.Restoring) {
		err = errForm("It has ended since your page was shown. Here is what lasts now.")
	}
	return err
}

//go:embed static
var static embed.FS

// longestForm is how many bytes a form can have.
const longestForm = 16 << 10

func (c *console[TTx]) serve(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
			"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
		"Referrer-Policy": "same-origin", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
		"X-Robots-Tag":       "noindex",
	} {
		w.Header().Set(name, value)
	}
	method := strings.Replace(r.Method, http.MethodHead, http.MethodGet, 1)
	if _, err := fs.Stat(static, "static"+r.URL.Path); err == nil && path.Ext(r.URL.Path) != "" { // static files are public
		http.ServeFileFS(w, r, static, "static"+r.URL.Path)
		return
	}
	q := request{Request: r, w: w}
	if c.origins.Check(r) != nil {
		c.message(q, http.StatusForbidden, "Refused", "This was not sent by a page of the console.")
		return
	}
	var err error
	if q.person, err = c.opts.Authorize(r); err != nil || !q.person.Read {
		q.person = Person{}
		c.message(q, http.StatusForbidden, "Not allowed", "You are not logged in any more, or may not see payments.")
		return
	}
	at, there := c.routes[method+" "+r.URL.Path]
	r.Body = http.MaxBytesReader(w, r.Body, longestForm)
	switch {
	case !there:
		c.message(q, http.StatusNotFound, "Not found", "There is nothing at this address.")
	case !at.may(q.person):
		c.message(q, http.StatusForbidden, "Not allowed", "You may see this, and not do it.")
	case r.ParseForm() != nil || !readable(r.Form):
		c.message(q, http.StatusBadRequest, "Refused", "The form is too long, or cannot be read. Nothing was done.")
	default:
		at.handle(q, "")
	}
}

// readable reports whether all values of a form are UTF-8 and short enough: an id has up to 255 bytes.
func readable(form url.Values) bool {
	for name, values := range form {
		most := 512
		if name == "id" || name == "write" || name == "find" {
			most = 255
		}
		for _, value := range values {
			if len(value) > most || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
				return false
			}
		}
	}
	return true
}

//go:embed templates
var templates embed.FS

// parse reads the templates, one for each page.
func (c *console[TTx]) parse() (err error) {
	c.pages, err = template.New("").Funcs(template.FuncMap{
		"money": money, "stamp": c.stamp, "stored": stored, "span": span, "long": long, "count": count, "ahead": ahead, "words": words, "label": label, "what": what,
		"evidence": evidence, "last": lastLook, "found": found, "takes": takes,
		"newID": func() string { return formPrefix + rand.Text() }, // a second click makes nothing
		"note": func(p page, form string) map[string]string {
			return map[string]string{"Form": form, "Value": p.Typed(form, "note")}
		},
	}).ParseFS(templates, "templates/*.html")
	return err
}

// page is the data of a template.
type page struct {
	Name, Title string
	Status      int // 200 if it is zero
	Person      Person
	Login       string
	Notice      string  // the result of a form
	Technical   string  // the error in it
	Done        bool    // it was done
	Address     string  // where the page is reloaded from; empty if it does not change by itself
	Glance      *glance // nil for a person who may not read
	Content     any

	form  string // the form that was not done, with what was typed into it
	typed url.Values
}

// Typed is what was typed into a field of a form that was not done.
func (p page) Typed(form, name string) string {
	if p.form != form {
		return ""
	}
	return p.typed.Get(name)
}

// show writes a page: with 422 if something was not done, and with the notice of what was done before a redirect.
func (c *console[TTx]) show(q request, p page) {
	p.Person, p.Login = q.person, c.opts.Login
	if p.Notice != "" {
		p.Status, p.form, p.typed, p.Technical = http.StatusUnprocessableEntity, strings.TrimPrefix(q.URL.Path, "/"), q.PostForm, q.technical
	} else if p.Notice = c.routes["POST /"+q.URL.Query().Get("done")].done; p.Notice != "" {
		p.Done = true
	}
	if q.person.Read && p.Glance == nil {
		g, err := c.glance(q.Context())
		if err != nil {
			c.fail(q, err)
			return
		}
		p.Glance = &g
	}
	var out bytes.Buffer
	if err := c.pages.ExecuteTemplate(&out, p.Name, p); err != nil {
		c.opts.Logger.ErrorContext(q.Context(), "console: a page cannot be shown", "page", p.Name, "error", err)
		http.Error(q.w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.WriteHeader(cmp.Or(p.Status, http.StatusOK))
	_, _ = q.w.Write(out.Bytes())
}

// message shows a page with one sentence.
func (c *console[TTx]) message(q request, status int, title, text string) {
	c.show(q, page{Name: "message", Status: status, Title: title, Content: text})
}

// fail says that something could not be read or done.
func (c *console[TTx]) fail(q request, err error) {
	if q.Context().Err() != nil {
		return // the connection is gone
	}
	if errors.Is(err, durable.ErrNoWrite) {
		c.message(q, http.StatusNotFound, "Not found", "There is no payment of that id.")
		return
	}
	c.opts.Logger.ErrorContext(q.Context(), "console: a request failed", "path", q.URL.Path, "error", err)
	text := "It could not be read: the database may be away, or the payment is of another version of the program. Try again."
	if q.Method == http.MethodPost {
		text = "It could not be done, or it is not known whether it was. Look at the payment before you try again: a form that is sent twice does nothing twice."
	}
	q.person = Person{} // what the header would show cannot be read either
	c.message(q, http.StatusInternalServerError, "Something went wrong", text)
}

// within runs an act in a transaction, up to three times if another transaction changed the same writes.
func (c *console[TTx]) within(ctx context.Context, act func(tx TTx) error) (err error) {
	for range 3 {
		if err = c.once(ctx, act); !errors.Is(err, durable.ErrChanged) {
			break
		}
	}
	return err
}

func (c *console[TTx]) once(ctx context.Context, act func(tx TTx) error) error {
	tx, err := c.db.Begin(ctx)
	if err != nil {
		return err
	}
	if err := act(c.db.Leave(tx)); err != nil {
		return errors.Join(err, tx.Rollback(context.WithoutCancel(ctx)))
	}
	return tx.Commit(ctx)
}
