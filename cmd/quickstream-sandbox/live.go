package main

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

const (
	rowsShown = 50 // of each list, the newest first

	// How often the sandbox is looked at for a page. A look that takes long is not
	// repeated so soon: a page takes a twentieth of a processor at most.
	lookEvery = 250 * time.Millisecond
	lookShare = 20

	// A page that is told nothing for so long is told that, so that it is noticed
	// when it has gone.
	longestSilence = 15 * time.Second
)

// liveView is what the page shows.
type liveView struct {
	Now        time.Time
	Ahead      int64 // milliseconds
	Events     []event
	Ledger     []sandbox.Entry
	Requests   []requestRow
	Deliveries []sandbox.Delivery
}

type requestRow struct {
	sandbox.Request
	Number, Hundreds int
}

func (p *pages) view() liveView {
	v := liveView{
		Now: p.box.Now(), Ahead: p.clock.Ahead().Milliseconds(), Events: events(),
		Ledger: newest(p.box.Ledger()), Deliveries: newest(p.box.Deliveries()),
	}
	requests := p.box.Requests()
	for i, r := range newest(requests) {
		v.Requests = append(v.Requests, requestRow{r, len(requests) - i, r.Status / 100})
	}
	return v
}

func newest[S ~[]T, T any](list S) S {
	list = slices.Clone(list[max(0, len(list)-rowsShown):])
	slices.Reverse(list)
	return list
}

// news is what a page is told: how far the sandbox's clock is ahead of this
// machine's, and the rows of its lists.
type news struct {
	Ahead int64             `json:"ahead"`
	Rows  map[string]string `json:"rows"`
}

func (p *pages) news() (news, error) {
	v := p.view()
	out := news{v.Ahead, make(map[string]string)}
	for name, list := range map[string]any{"ledger": v.Ledger, "requests": v.Requests, "deliveries": v.Deliveries} {
		var sb strings.Builder
		if err := p.templates.ExecuteTemplate(&sb, name, list); err != nil {
			return news{}, err
		}
		out.Rows[name] = sb.String()
	}
	return out, nil
}

// live tells a page what changes, as server-sent events, until it or the server
// goes.
func (p *pages) live(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	var known news
	var told time.Time
	for {
		begun := time.Now()
		now, err := p.news()
		if err != nil {
			return
		}
		changed := news{now.Ahead, maps.Clone(now.Rows)}
		maps.DeleteFunc(changed.Rows, func(list, rows string) bool {
			before, told := known.Rows[list]
			return told && rows == before
		})
		if message, due := changed.message(known, begun.Sub(told)); due {
			known, told = now, begun
			connection := http.NewResponseController(w)
			_ = connection.SetWriteDeadline(begun.Add(longestSilence)) // fails in tests only
			if _, err := w.Write(message); err != nil || connection.Flush() != nil {
				return
			}
		}
		select {
		case <-time.After(max(lookEvery, lookShare*time.Since(begun))):
		case <-r.Context().Done():
			return
		case <-p.ended:
			return
		}
	}
}

// message is an event of what has changed, or a comment after a long silence.
func (n news) message(known news, silence time.Duration) (message []byte, due bool) {
	if len(n.Rows) == 0 && n.Ahead == known.Ahead {
		return []byte(":\n\n"), silence > longestSilence
	}
	raw, _ := json.Marshal(n) // texts and a number
	return fmt.Appendf(nil, "data: %s\n\n", raw), true
}

// act does what a form of the page asks for.
func (p *pages) act(r *http.Request) error {
	delivery, event := r.PostFormValue("redeliver"), r.PostFormValue("event")
	switch {
	case delivery != "":
		return p.box.Redeliver(delivery)
	case event != "":
		_, err := p.raise(r.Context(), event, "")
		return err
	default:
		return p.move(r.Context(), r.PostFormValue("advance"))
	}
}

// functions are those of the templates.
func (p *pages) functions() template.FuncMap {
	return template.FuncMap{
		"money":  func(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) },
		"when":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"veiled": p.veiled,
		"path":   unescaped,
	}
}

// unescaped is a path in which nothing hides in an escape.
func unescaped(path string) string {
	if text, err := url.PathUnescape(path); err == nil {
		return text
	}
	return path
}

// longNumber has the form of a card number.
var longNumber = regexp.MustCompile(`[0-9](?:[ -]?[0-9]){11,18}`)

// veiled is a text from outside as a page shows it: not long, and without keys and
// whole card numbers, wherever somebody put them.
func (p *pages) veiled(text string) string {
	keys := p.box.Keys()
	text = strings.NewReplacer(keys.Secret, "...", keys.Publishable, "...").Replace(text)
	text = longNumber.ReplaceAllStringFunc(text, func(number string) string { return number[:4] + "..." + number[len(number)-3:] })
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:50]) + "..."
	}
	return text
}
