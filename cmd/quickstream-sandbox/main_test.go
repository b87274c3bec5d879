package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// serving runs the command on a free port until the test ends, and returns a shell with the
// variables that it prints. The command ends without an error.
func serving(t *testing.T, args ...string) *shell {
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan error, 1)
	var logged bytes.Buffer
	go func() {
		err := run(ctx, append(args, "-addr", "127.0.0.1:0"), in, &logged)
		_ = in.CloseWithError(err)
		done <- err
	}()
	var once sync.Once
	stop := func() string {
		once.Do(func() {
			cancel()
			require.NoError(t, <-done)
		})
		return logged.String()
	}
	t.Cleanup(func() { stop() })
	sh := newShell(t, readLines(t, out, 7))
	sh.stop = stop
	go func() { _, _ = io.Copy(io.Discard, out) }() // the lines about a token
	return sh
}

func TestServesUntilTheContextEnds(t *testing.T) {
	vars := serving(t, "-seed", "7", "-shop", "http://a.example,http://b.example",
		"-world", "PageSize=1 NothingFound=empty Fault=500after", "-world", "PageSize=7 CutOffHour=20", "-world", "KeyLifetime=5m").vars
	base, control := vars["QUICKSTREAM_ENVIRONMENT"], vars["SANDBOX"]
	assert.Equal(t, base, strings.TrimSuffix(control, controlPath)+"/rest/v1")

	request := func(method, url, key string, header ...string) (int, http.Header, []byte) {
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		require.NoError(t, err)
		if key != "" {
			r.SetBasicAuth(key, "")
		}
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, resp.Header, body
	}
	status, _, _ := request("GET", base, vars["QUICKSTREAM_SECRET_KEY"])
	assert.Equal(t, http.StatusOK, status)
	_, header, _ := request("OPTIONS", base+"/single-use-tokens", "", "Origin", "http://b.example", "Access-Control-Request-Method", "POST")
	assert.Equal(t, "http://b.example", header.Get("Access-Control-Allow-Origin"))
	status, _, _ = request("GET", control+"/clock", "")
	assert.Equal(t, http.StatusOK, status)

	status, _, body := request("GET", base+"/transactions/for-settlement-date?settlementDate=1990-01-02", vars["QUICKSTREAM_SECRET_KEY"])
	assert.Equal(t, http.StatusOK, status, "a world: %s", body)
}

// The flag takes all assumptions, and the names of worlds.
func TestWorlds(t *testing.T) {
	change := func(text string) (a sandbox.Assumptions, err error) {
		var w world
		a, err = sandbox.DefaultAssumptions(), w.Set(text)
		for _, change := range w {
			change(&a)
		}
		return a, err
	}
	plain, err := change("plain")
	require.NoError(t, err)
	assert.Equal(t, sandbox.DefaultAssumptions(), plain)
	mixed, err := change("unkind LookupLag=7m Crash=afterCommit TermsEnforced=false")
	require.NoError(t, err)
	assert.Equal(t, []any{7 * time.Minute, false, "new"}, []any{mixed.LookupLag, mixed.TermsEnforced, mixed.UnknownMembers})
	for _, none := range []string{"", "default", "Fault=500after"} {
		a, err := change(none)
		require.NoError(t, err)
		assert.Equal(t, sandbox.DefaultAssumptions(), a, none)
	}
	for world := range worlds.Generate(1, 50) {
		a, err := change(world.String())
		require.NoError(t, err)
		for _, assumption := range a.List() {
			assert.Equal(t, world.Value(assumption.Name), assumption.Value, assumption.Name)
		}
	}
	for _, bad := range []string{"Colour=red", "plane", "PageSize=many", "Paging=odd", "Fault=odd", "PageSize=1 Colour=red"} {
		_, err := change(bad)
		assert.Error(t, err, bad)
	}
}

// The terminal says what goes on, without keys, references and numbers.
func TestLog(t *testing.T) {
	hook := httptest.NewServer(http.NotFoundHandler())
	defer hook.Close()
	sh := serving(t, "-world", "plain", "-webhook", hook.URL)
	sh.run(`post() { curl -s -u "$QUICKSTREAM_SECRET_KEY:" -H 'Content-Type: application/json' "$@"; }
post -d '{
  "transactionType":"PAYMENT", "supplierBusinessCode":"SANDBOX01", "principalAmount":20.00, "currency":"AUD",
  "customerReferenceNumber":"ORDER-2", "eci":"MAIL", "storedCredentialData":{"entryMode":"MANUAL"},
  "creditCard":{"cardNumber":"4242424242424242", "expiryDateMonth":"02", "expiryDateYear":"2099"}
}' $QUICKSTREAM_ENVIRONMENT/transactions
curl -s -X POST $SANDBOX/trigger/payto.agreement.declined
curl -s -d '{"kind":"Status","status":503,"nth":1}' $SANDBOX/faults`)
	for _, request := range []struct{ key, path, body string }{
		{sh.vars["QUICKSTREAM_SECRET_KEY"], "/transactions", `{}`}, // the fault
		{sh.vars["QUICKSTREAM_SECRET_KEY"], "/transactions", `{"transactionType":"PAYMENT","4012888888881881":1}`},
		{sh.vars["QUICKSTREAM_SECRET_KEY"], "/4242424242424242", `{}`},
		{"a key of somebody", "/transactions", `{}`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, sh.vars["QUICKSTREAM_ENVIRONMENT"]+request.path, strings.NewReader(request.body))
		require.NoError(t, err)
		r.SetBasicAuth(request.key, "")
		r.Header.Set("Content-Type", "application/json")
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sh.vars["SANDBOX"]+"/clock", nil)
	require.NoError(t, err)
	r.Host = "sandbox"
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	logged := sh.stop()
	for _, line := range []string{
		`msg=refused status=403 host=sandbox why="This port is reached by a loopback name, or by one that -host names."`,
		`msg=request call="POST /transactions" status=201 key=secret committed=true`, `msg=control call="POST /trigger/{eventType}" status=200`,
		`msg=delivery event=payto.agreement.declined id=`, `attempt=1 status=404`, `status=503 key=secret fault=Status`, `refused="`, `supplierBusinessCode is required; `,
		`call="POST (no such path)" status=404`, `status=401 key=unknown`, `... is not a member of this request`,
	} {
		assert.Contains(t, logged, line)
	}
	for _, secret := range []string{sh.vars["QUICKSTREAM_SECRET_KEY"], sh.vars["QUICKSTREAM_PUBLISHABLE_KEY"], "4242424242424242", "4012888888881881", "ORDER-2", "a key of somebody", "whsec"} {
		assert.NotContains(t, logged, secret)
	}
}

// Beyond loopback there is a token.
func TestExposed(t *testing.T) {
	sh := serving(t, "-expose", "-host", "Sandbox.Example,127.0.0.1")
	base, err := url.Parse(sh.vars["SANDBOX"])
	require.NoError(t, err)
	assert.Equal(t, "sandbox.example", base.Hostname(), "how others call it")
	sh.stop()

	const token = "a-token-of-my-own"
	sh = serving(t, "-expose", "-token", token)
	status := func(token string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sh.vars["SANDBOX"]+"/ledger", nil)
		require.NoError(t, err)
		r.SetBasicAuth(token, "")
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		return resp.StatusCode
	}
	assert.Equal(t, []int{200, 401, 401}, []int{status(token), status(""), status("a token of another")})
}

// Webhooks are posted to the named hosts and to no other, and their links lead here.
func TestWebhookHosts(t *testing.T) {
	sh := serving(t, "-webhook-host", "app,192.0.2.7", "-world", "plain UnknownMembers=new")
	for _, target := range []string{"http://app/hook", "https://APP:3000/", "http://192.0.2.7:80/", "http://localhost:1/", "http://[::1]:1/"} {
		sh.run(`curl -d '{"url":"` + target + `","secret":"s"}' $SANDBOX/subscriptions`)
	}
	refused := func(target string) bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, sh.vars["SANDBOX"]+"/subscriptions", strings.NewReader(`{"url":"`+target+`","secret":"s"}`))
		require.NoError(t, err)
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		return resp.StatusCode == 422
	}
	for _, target := range []string{"http://192.0.2.8/", "http://192.0.2.70/", "http://me@app/", "ftp://app/"} {
		assert.True(t, refused(target), target)
	}
	hook := newReceiver(t, "s")
	receiver := httptest.NewServer(hook)
	defer receiver.Close()
	sh.run(`curl -d '{"url":"` + receiver.URL + `","secret":"s"}' $SANDBOX/subscriptions
curl -X POST $SANDBOX/trigger/payto.agreement.confirmed`)
	assert.Equal(t, []string{"payto.agreement.confirmed"}, hook.next(1))
	assert.Contains(t, sh.run("curl $SANDBOX/deliveries"), `"href": "`+sh.vars["QUICKSTREAM_ENVIRONMENT"]+`"`)
}

func TestRefusesBadArguments(t *testing.T) {
	for _, args := range [][]string{
		{"-nonsense"},
		{"extra"},
		{"-addr", "192.0.2.1:80"},
		{"-addr", "nowhere"},
		{"-world", "Colour=red"},
		{"-world", "PageSize"},
		{"-world", "Paging=odd"},
		{"-world", "PageSize=many"},
		{"-token", "short"},
		{"-token", "with a blank in it, and: a colon"},
		{"-expose", "-addr", "192.0.2.1:80", "-token", "short"},
		{"-secret-key", "SANDBOX_PUB_MINE"},
		{"-secret-key", "LIVE_SECRET"},
		{"-publishable-key", "SANDBOX_PUB_"},
		{"-host", "sandbox:8642"},
		{"-webhook-host", "*"},
		{"-webhook", "http://192.0.2.1/", "-webhook-host", "192.0.2.2"},
		{"-webhook", "http://192.0.2.1/"},
		{"-webhook", "http://127.0.0.1/", "-webhook-secret", ""},
	} {
		if !slices.Contains(args, "-addr") {
			args = append(args, "-addr", "127.0.0.1:0")
		}
		err := run(t.Context(), args, io.Discard, io.Discard)
		require.Error(t, err, args)
		assert.NotContains(t, err.Error(), "LIVE_SECRET")
	}
}
