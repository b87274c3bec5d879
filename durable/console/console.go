package console

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// Person is one whom the merchant's login has let in.
type Person struct {
	// Name stands in the histories of what they have done: one line of up to 200 printable bytes.
	Name string
	// Read lets them see all pages, with receipt numbers. Act lets them decide, refund, look up, pause and erase,
	// and Export download lists. Without Read the others count for nothing.
	Read, Act, Export bool
}

// Options are the merchant's choices.
type Options struct {
	// Authorize says who makes a request. It is asked on each one, and each minute of a stream. The console
	// has no login: an error or a person who may not read gets 403. Required.
	Authorize func(*http.Request) (Person, error)
	// PayAgain returns the parameters of another payment instead of one that is not found, as by the customer's
	// stored account. Without it the console does not offer that.
	PayAgain func(ctx context.Context, p durable.Write) (quickstream.TransactionParams, error)
	// Login is the address of the merchant's page where people log out; none is linked if it is empty.
	Login string
	// Logger gets what went wrong. It gets no handles.
	Logger *slog.Logger
}

// Handler serves the console.
type Handler struct {
	handle func(w http.ResponseWriter, r *http.Request)
	end    func()
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handle(w, r) }

// Close ends the streams: give it to [http.Server.RegisterOnShutdown], because Shutdown waits for them.
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
	if c.opts.Logger == nil {
		c.opts.Logger = slog.New(slog.DiscardHandler)
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
	streams streams
	ending  context.Context
	end     context.CancelFunc

	glancing sync.Mutex
	glanced  glance
}

// request is a request of a person.
type request struct {
	*http.Request
	w      http.ResponseWriter
	person Person
}

// field is one of a form or of the address, without blanks around it.
func (q request) field(name string) string { return strings.TrimSpace(q.Form.Get(name)) }

// id is that of a write or a notification, which may have blanks around it.
func (q request) id() string { return q.Form.Get("id") }

// may is what a person needs for a route.
type may func(Person) bool

func mayRead(p Person) bool   { return p.Read }
func mayAct(p Person) bool    { return p.Read && p.Act }
func mayExport(p Person) bool { return p.Read && p.Export }

// handler shows a page, or does something. notice is why something was not done.
type handler func(q request, notice string)

type route struct {
	handle handler
	may    may
}

// allRoutes are the pages and the forms. All are in one folder, so that their links need no prefix.
func (c *console[TTx]) allRoutes() map[string]route {
	all := map[string]route{
		"GET /":             {c.payments, mayRead},
		"GET /payment":      {c.payment, mayRead},
		"GET /attention":    {c.attention, mayRead},
		"GET /installation": {c.installation, mayRead},
		"GET /stream":       {c.stream, mayRead},
		"POST /customer":    {c.customer, mayRead}, // their number is personal, and stays out of addresses
		"POST /export":      {c.export, mayExport},
		"POST /erase":       {c.erase, mayAct},
		"POST /retry":       {c.act(c.retry, "attention", c.attention), mayAct},
	}
	for name, do := range map[string]act{
		"refund": c.refund, "decide": c.decide, "pay-again": c.payAgain, "look-up": c.lookUp, "notify": c.notifyAgain,
	} {
		all["POST /"+name] = route{c.act(do, "payment", c.payment), mayAct}
	}
	for name, do := range map[string]func(ctx context.Context, by, note string) error{
		"pause": c.engine.Pause, "unpause": c.engine.Unpause, "confirm-history": c.engine.ConfirmHistory,
		"end-restoring": c.engine.EndRestoring, "confirm-facility": c.engine.ConfirmFacility,
	} {
		all["POST /"+name] = route{c.act(func(q request) error { return do(q.Context(), q.person.Name, q.field("note")) }, "installation", c.installation), mayAct}
	}
	return all
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
	if _, err := fs.Stat(static, "static"+r.URL.Path); err == nil && path.Ext(r.URL.Path) != "" { // there is nothing to protect in it
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
	case r.ParseForm() != nil:
		c.message(q, http.StatusBadRequest, "Refused", "The form is too long, or cannot be read. Nothing was done.")
	default:
		at.handle(q, "")
	}
}

//go:embed templates
var templates embed.FS

// parse reads the templates, of which each page is one.
func (c *console[TTx]) parse() (err error) {
	c.pages, err = template.New("").Funcs(template.FuncMap{
		"money": money, "stamp": c.stamp, "span": span, "ahead": ahead, "words": words, "receipt": receipt, "evidence": evidence, "consequence": consequence, "found": found, "isTransaction": isTransaction, "takes": takes,
	}).ParseFS(templates, "templates/*.html")
	return err
}

// page is what each template gets.
type page struct {
	Name, Title string
	Person      Person
	Login       string
	Notice      string // what came of a form
	Done        bool   // it was done
	Address     string // where the page is read anew; empty if it does not change by itself
	Glance      glance
	At          time.Time
	Content     any
}

// show writes a page: with 422 if it says that something was not done, and with what was done before a redirect.
func (c *console[TTx]) show(q request, p page) {
	status := http.StatusOK
	if p.Notice != "" && !p.Done {
		status = http.StatusUnprocessableEntity
	}
	if text := done(q.URL.Query().Get("done")); text != "" && p.Notice == "" {
		p.Notice, p.Done = text, true
	}
	c.write(q, status, p)
}

func (c *console[TTx]) write(q request, status int, p page) {
	p.Person, p.Login = q.person, c.opts.Login
	var err error
	if q.person.Read {
		if p.Glance, err = c.glance(q.Context()); err != nil {
			c.fail(q, err)
			return
		}
		p.At = p.Glance.now()
	}
	var out bytes.Buffer
	if err := c.pages.ExecuteTemplate(&out, p.Name, p); err != nil {
		c.opts.Logger.ErrorContext(q.Context(), "console: a page cannot be shown", "page", p.Name, "error", err)
		http.Error(q.w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.WriteHeader(status)
	_, _ = q.w.Write(out.Bytes())
}

// message shows a page that says one thing.
func (c *console[TTx]) message(q request, status int, title, text string) {
	if status == http.StatusInternalServerError {
		q.person = Person{} // what the header would show cannot be read either
	}
	c.write(q, status, page{Name: "message", Title: title, Content: text})
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
	c.message(q, http.StatusInternalServerError, "Something went wrong", text)
}

// within runs an act in a transaction, and again if another one was in its way.
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
