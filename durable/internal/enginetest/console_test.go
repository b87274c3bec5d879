package enginetest

import (
	"database/sql"
	"errors"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/console"
	"github.com/quickstream-go/quickstream/durable/durabletest"
	"github.com/quickstream-go/quickstream/sandbox"
)

// office is the console of a shop, under a prefix. The cookie names the person.
type office struct {
	*shop[*sql.Tx]
	server *httptest.Server
	people map[string]console.Person
	clicks int // of all people
}

// errLogin is the refusal of a request without a cookie.
var errLogin = errors.New("nobody is logged in")

func openOffice(t *testing.T, edits ...func(*console.Options)) *office {
	t.Helper()
	return officeOf(open(t, onFile(t, filepath.Join(t.TempDir(), "shop.db"))), edits...)
}

// officeOf returns the console of a shop.
func officeOf(s *shop[*sql.Tx], edits ...func(*console.Options)) *office {
	t := s.T
	t.Helper()
	o := &office{shop: s, people: map[string]console.Person{
		"jo": {Name: "Jo", Read: true, Act: true, Export: true}, "kim": {Name: "Kim", Read: true, Act: true},
		"reader": {Name: "Reader", Read: true}, "nobody": {Name: "Nobody", Act: true, Export: true},
	}}
	opts := console.Options{Authorize: o.authorize}
	for _, edit := range edits {
		edit(&opts)
	}
	handler, err := console.New(o.Engine(), o.db.Database, opts)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/pay/desk/", http.StripPrefix("/pay/desk", handler))
	o.server = httptest.NewServer(mux)
	t.Cleanup(o.server.Close)
	t.Cleanup(handler.Close)
	return o
}

func (o *office) authorize(r *http.Request) (console.Person, error) {
	cookie, err := r.Cookie("person")
	if err != nil {
		return console.Person{}, errLogin
	}
	p, known := o.people[cookie.Value]
	if !known {
		return p, errLogin
	}
	return p, nil
}

// reply is a page with its status and header.
type reply struct {
	*testing.T
	status int
	header http.Header
	body   string
}

// send makes a request as a person, and follows no redirect.
func (o *office) send(person, method, path string, form url.Values, headers ...string) reply {
	o.T.Helper()
	r, err := http.NewRequestWithContext(o.T.Context(), method, o.server.URL+"/pay/desk/"+strings.TrimPrefix(path, "./"), strings.NewReader(form.Encode()))
	require.NoError(o.T, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r.AddCookie(&http.Cookie{Name: "person", Value: person})
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	require.NoError(o.T, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(o.T, err)
	return reply{o.T, answer.StatusCode, answer.Header, string(body)}
}

func (o *office) get(person, path string) reply {
	o.T.Helper()
	o.clicks++
	return o.send(person, http.MethodGet, path, nil)
}

// form is a form of a page by its action, with its hidden fields, as a browser would send it.
func (p reply) form(action string) url.Values {
	p.Helper()
	_, rest, there := strings.Cut(p.body, `action="`+action+`"`)
	require.True(p, there, "there is no form %q in\n%s", action, p.body)
	rest, _, _ = strings.Cut(rest, "</form>")
	values := url.Values{}
	for _, field := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`).FindAllStringSubmatch(rest, -1) {
		values.Set(field[1], html.UnescapeString(field[2]))
	}
	return values
}

// offers reports whether a page has a form.
func (p reply) offers(action string) bool { return strings.Contains(p.body, `action="`+action+`"`) }

// submit sends a form of a payment's page with what was filled in, and shows the page that comes after it.
func (o *office) submit(person string, p reply, action string, filled ...string) reply {
	o.T.Helper()
	values := p.form(action)
	for i := 0; i+1 < len(filled); i += 2 {
		values.Set(filled[i], filled[i+1])
	}
	o.clicks++
	answer := o.send(person, http.MethodPost, action, values)
	if answer.status != http.StatusSeeOther {
		return answer
	}
	return o.send(person, http.MethodGet, answer.header.Get("Location"), nil)
}

// refunds asks for a refund, and confirms it on the second page.
func (o *office) refunds(person string, p reply, how, amount, note string) reply {
	o.T.Helper()
	asked := o.submit(person, p, "refund", "how", how, "amount", amount)
	if asked.status != http.StatusOK {
		return asked
	}
	return o.submit(person, asked, "refund", "note", note)
}

func (o *office) page(person, id string) reply {
	o.T.Helper()
	p := o.get(person, "payment?id="+url.QueryEscape(id))
	require.Equal(o.T, http.StatusOK, p.status)
	return p
}

// ends pays an order, and waits for the outcome.
func (o *office) ends(id, order string, p quickstream.TransactionParams) durable.Write {
	o.T.Helper()
	_, err := o.tryPay(durable.NewWrite{ID: id, Order: order}, p)
	require.NoError(o.T, err)
	return o.Settled(id)
}

// serves returns a shop of a sandbox with other options.
func serves(t *testing.T, opts ...sandbox.Option) *shop[*sql.Tx] {
	t.Helper()
	s := &shop[*sql.Tx]{T: t, db: onFile(t, filepath.Join(t.TempDir(), "shop.db"))}
	s.Kit = durabletest.New(t, s.db.Database, durable.Options[*sql.Tx]{OnOutcome: s.reported}, opts...)
	return s
}

// lost returns a payment that is not found, and that was not looked up in the last minute and will not be in the next hour.
func (o *office) lost(order string) durable.Write {
	o.T.Helper()
	o.notFound(order)
	eventually(o.T, func() bool {
		d := o.details(order)
		if errors.Is(d.NotDecidable, durable.ErrLookUpFirst) && (d.Write.Due.IsZero() || d.Write.Due.After(d.At.Add(time.Hour))) {
			return true
		}
		o.Advance(10 * time.Minute)
		return false
	}, "it waits for a person")
	return o.shop.get(order)
}

// Each request asks what the person may do, and each page says for whom it was made and when.
func TestConsolePeople(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.paid("A")
	pages := []string{"", "payment?id=" + url.QueryEscape(p.ID), "installation"}
	for _, path := range pages {
		for _, person := range []string{"nobody", "unknown"} {
			answer := o.get(person, path)
			assert.Equal(t, http.StatusForbidden, answer.status, path)
			assert.NotContains(t, answer.body, p.ReceiptNumber)
		}
		reader := o.get("reader", path)
		assert.Equal(t, http.StatusOK, reader.status, path)
		assert.Contains(t, reader.body, "You are Reader, and may read")
		assert.Regexp(t, `As of .*\d\d:\d\d:\d\d AE[DS]T</time>`, reader.body)
		for _, act := range []string{"refund", "decide", "look-up", "notify", "retry", "pause", "export"} {
			assert.False(t, reader.offers(act), "%s offers %s to a reader", path, act)
		}
	}
	form := o.page("jo", p.ID).form("refund")
	for _, act := range []string{"refund", "decide", "look-up", "look-up-all", "compare", "cancel", "notify", "retry", "pause", "unpause", "confirm-history", "end-restoring", "confirm-facility", "export"} {
		form.Set("note", "x")
		assert.Equal(t, http.StatusForbidden, o.send("reader", http.MethodPost, act, form).status, act)
		assert.Equal(t, http.StatusNotFound, o.get("jo", act).status, "%s is no page", act)
	}
	assert.Equal(t, http.StatusForbidden, o.send("kim", http.MethodPost, "export", url.Values{}).status)
	assert.Empty(t, o.details(p.ID).FollowUps)
	assert.Zero(t, o.health().Paused)
}

// Each answer has the headers that keep a page to itself, and posts of other sites are refused.
func TestConsoleHeaders(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.paid("A")
	for _, answer := range []reply{o.get("jo", ""), o.get("jo", "console.js"), o.get("nobody", ""), o.get("jo", "stream/x"), o.get("jo", "none")} {
		policy := answer.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			assert.Contains(t, policy, part)
		}
		assert.NotContains(t, policy, "unsafe")
		for name, value := range map[string]string{
			"Referrer-Policy": "same-origin", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
		} {
			assert.Equal(t, value, answer.header.Get(name), name)
		}
		assert.Contains(t, answer.header.Get("Permissions-Policy"), "payment=()")
	}
	page := o.page("jo", p.ID)
	assert.NotContains(t, page.body, "<script>")
	assert.NotContains(t, page.body, "style=")
	form := page.form("refund")
	form.Set("how", "all")
	form.Set("note", "x")
	for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"} {
		assert.Equal(t, http.StatusForbidden, o.send("jo", http.MethodPost, "refund", form, name, value).status)
	}
	form.Set("note", strings.Repeat("x", 1<<16))
	assert.Equal(t, http.StatusBadRequest, o.send("jo", http.MethodPost, "refund", form).status)
	assert.Empty(t, o.details(p.ID).FollowUps)
}
