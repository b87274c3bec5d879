package conform

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
	"github.com/quickstream-go/quickstream/sandbox"
)

// Difference is something in a real answer that the file of the facility does not have. It holds no
// value of the answer.
type Difference struct {
	// Route is the method and the path, without identifiers.
	Route string
	// What is a new member, an unknown status, or another form of a time.
	What string
}

// Watch returns a transport that notes where answers differ from what was found of a facility: give
// it to the client with quickstream.WithHTTPClient. Each difference is noted once. Watch sends every
// request once, changes nothing, and reads bodies of at most 1 MiB as the caller reads them. note is
// called by one goroutine at a time.
func Watch(next http.RoundTripper, file sandbox.Facility, note func(Difference)) http.RoundTripper {
	w := &watcher{next: next, note: note, seen: map[Difference]bool{}, known: modelled(), file: file}
	w.times, _ = file.Value("TimeForm")
	w.statuses = []string{"Approved", "Approved*", "Pending", "Declined", "Voided", "Suspended"}
	if form, _ := file.Value("StatusForm"); form == "unlisted" {
		w.statuses = append(w.statuses, "Settled", "Refused", "Reversed")
	}
	return w
}

type watcher struct {
	next     http.RoundTripper
	note     func(Difference)
	file     sandbox.Facility
	known    map[string]bool
	times    string
	statuses []string

	mu   sync.Mutex
	seen map[Difference]bool
}

const maxWatched = 1 << 20

// RoundTrip sends the request once.
func (w *watcher) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(r)
	if err == nil && resp.StatusCode < 300 && strings.Contains(resp.Header.Get("Content-Type"), "json") {
		resp.Body = &watched{ReadCloser: resp.Body, done: func(body []byte) { w.look(r.Method+" "+routeOf(r.URL.Path), body) }}
	}
	return resp, err
}

// routeOf is a path without identifiers.
func routeOf(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.ContainsAny(part, "0123456789") && part != "v1" || strings.ToLower(part) != part {
			parts[i] = "{}"
		}
	}
	return strings.Join(parts, "/")
}

func (w *watcher) look(route string, body []byte) {
	v, err := shape.Parse(body)
	if err != nil {
		return
	}
	var found []string
	v.Each(func(path []string, v shape.Value) {
		if ofMerchant(path) {
			return
		}
		at := strings.TrimPrefix(strings.Join(path, "."), "data.")
		isTransaction := !v.Get("receiptNumber").Empty() && !v.Get("transactionType").Empty()
		for i, name := range v.Names {
			switch full := strings.TrimPrefix(at+"."+name, "."); {
			case !w.known[name] && w.file.Members[full] == "" && w.file.Members[name] == "":
				found = append(found, "a new member: "+full+", "+string(v.Items[i].Kind))
			case isTransaction && name == "status" && !w.hasStatus(v.Items[i].Text):
				found = append(found, "an unknown status: "+word(v.Items[i].Text))
			case name == "transactionTime" && w.times != "":
				if t, ok := timeOf(v.Items[i]); !ok || t.form != w.times && (t.form != "Z" || w.times != "wrong") {
					found = append(found, "another form of time: "+described(v.Items[i]))
				}
			}
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, what := range found {
		if d := (Difference{route, what}); !w.seen[d] {
			w.seen[d] = true
			w.note(d)
		}
	}
}

func (w *watcher) hasStatus(status string) bool {
	return slices.ContainsFunc(w.statuses, func(known string) bool { return strings.EqualFold(known, status) })
}

// word is a text that is a word of the service, and no value: letters only.
func word(text string) string {
	if len(text) < 20 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ*_") == "" {
		return text
	}
	return shape.Pattern(text)
}

// watched copies a body while it is read.
type watched struct {
	io.ReadCloser
	copied bytes.Buffer
	once   sync.Once
	done   func([]byte)
}

// Read implements io.Reader.
func (b *watched) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	if b.copied.Len()+n <= maxWatched {
		b.copied.Write(p[:n])
	}
	if err == io.EOF {
		b.once.Do(func() { b.done(b.copied.Bytes()) })
	}
	return n, err
}
