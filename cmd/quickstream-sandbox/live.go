package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
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
	filter
	Now        time.Time
	Ahead      int64 // milliseconds
	Events     []event
	Ledger     []sandbox.Entry
	Requests   []requestRow
	Deliveries []sandbox.Delivery
}

type requestRow struct {
	sandbox.Request
	Hundreds int
}

func (p *pages) view(f filter) liveView {
	v := liveView{
		filter: f, Now: p.box.Now(), Ahead: p.clock.Ahead().Milliseconds(), Events: events(),
		Ledger: newest(kept(p.box.Ledger(), f.transaction)), Deliveries: newest(kept(p.box.Deliveries(), f.delivery)),
	}
	for _, r := range newest(kept(p.box.Requests(), f.request)) {
		v.Requests = append(v.Requests, requestRow{r, r.Status / 100})
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

func (p *pages) news(f filter) (news, error) {
	v := p.view(f)
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
		now, err := p.news(filterOf(r))
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
func (p *pages) act(r *http.Request) (form, error) {
	delivery, event, advance := r.PostFormValue("redeliver"), r.PostFormValue("event"), r.PostFormValue("advance")
	switch {
	case delivery != "":
		return form{Field: "redeliver"}, p.box.Redeliver(delivery)
	case event != "":
		_, err := p.raise(r.Context(), event, "")
		return form{Field: "event", Given: event}, err
	default:
		return form{Field: "advance", Given: advance}, p.move(r.Context(), advance)
	}
}
