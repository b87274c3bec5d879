package store

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"time"
)

//go:embed all:templates
var templates embed.FS

// pages are the templates by name: each file of templates/ is a page, together with all
// files that begin with an underscore, which hold what pages share.
type pages map[string]*template.Template

func loadPages() (pages, error) {
	shared, err := template.New("").Funcs(template.FuncMap{"money": money, "time": shownTime}).ParseFS(templates, "templates/_*.html")
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(templates, "templates/[^_]*.html")
	if err != nil {
		return nil, err
	}
	all := pages{}
	for _, file := range files {
		page, err := shared.Clone()
		if err == nil {
			page, err = page.ParseFS(templates, file)
		}
		if err != nil {
			return nil, err
		}
		all[strings.TrimSuffix(strings.TrimPrefix(file, "templates/"), ".html")] = page
	}
	return all, nil
}

// page is what every template gets: of the configuration what anybody may know.
type page struct {
	Title     string
	FormToken string
	Script    string // the address of the service's script, which takes the card in the browser
	Key       string // the publishable one
	Business  string
	Bank      string // the address of the payer's banking app, where there is one
	Address   string // where the page is read again when something has changed; empty after a form
	At        string // when it was read
	Data      any
}

// show writes a page of the shop.
func (s *server) show(w http.ResponseWriter, r *http.Request, status int, name, title string, data any) {
	s.write(w, r, status, name, "page", title, data)
}

func (s *server) write(w http.ResponseWriter, r *http.Request, status int, name, layout, title string, data any) {
	body, err := s.render(r, name, layout, title, data)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // html/template has escaped it
}

// render executes one block of a page.
func (s *server) render(r *http.Request, name, block, title string, data any) ([]byte, error) {
	t := s.pages[name]
	if t == nil {
		return nil, fmt.Errorf("there is no page %q", name)
	}
	var out bytes.Buffer
	address := ""
	if r.Method == http.MethodGet && visitorOf(r).number != "" {
		address = r.URL.RequestURI()
	}
	err := t.ExecuteTemplate(&out, block, page{
		Address: address, At: s.clock.Now().In(s.sydney).Format("2 January, 15:04:05 MST"),
		Title: title, FormToken: visitorOf(r).formToken, Script: s.config.Service + "/rest/v1/quickstream-api-1.0.min.js",
		Key: s.config.PublishableKey, Business: s.config.Business, Bank: s.config.Bank, Data: data,
	})
	return out.Bytes(), err
}

// fail logs an error and shows that there was one.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody is left to be told
	}
	s.logger.ErrorContext(r.Context(), "a page failed", "route", r.Pattern, "error", err)
	http.Error(w, "Something went wrong here. If you were paying, look at your order before you pay again.", http.StatusInternalServerError)
}

// message is what a page says that says one thing, and where it leads.
type message struct {
	Text, To, Label string
	Order           string // that the browser can come back to after its session has ended
}

func (s *server) message(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	s.show(w, r, status, "message", title, message{Text: text, To: "/", Label: "Back to the shop"})
}

func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	s.message(w, r, http.StatusNotFound, "Not found", "There is nothing at this address, or it belongs to somebody else.")
}

// money shows an amount of cents.
func money(cents int64) string { return fmt.Sprintf("$%d.%02d", cents/100, cents%100) }

// shownTime shows microseconds.
func shownTime(at int64) string { return time.UnixMicro(at).UTC().Format("2 Jan 2006 15:04:05 UTC") }
