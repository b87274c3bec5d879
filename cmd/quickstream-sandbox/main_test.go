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

// answered is how a request is answered.
func answered(t *testing.T, method, address, key, body string, changes ...func(*http.Request)) (int, http.Header) {
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	if key != "" {
		r.SetBasicAuth(key, "")
	}
	r.Header.Set("Content-Type", "application/json")
	for _, change := range changes {
		change(r)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, resp.Header
}

func TestServesUntilTheContextEnds(t *testing.T) {
	vars := serving(t, "-shop", "http://a.example,http://b.example", "-world", "unkind PageSize=1", "-world", "NothingFound=empty").vars
	base, control := vars["QUICKSTREAM_ENVIRONMENT"], vars["SANDBOX"]
	assert.Equal(t, base, strings.TrimSuffix(control, controlPath)+"/rest/v1")

	_, header := answered(t, "OPTIONS", base+"/single-use-tokens", "", "", func(r *http.Request) {
		r.Header = http.Header{"Origin": {"http://b.example"}, "Access-Control-Request-Method": {"POST"}}
	})
	assert.Equal(t, "http://b.example", header.Get("Access-Control-Allow-Origin"))
	status, _ := answered(t, "GET", base+"/transactions/for-settlement-date?settlementDate=1990-01-02", vars["QUICKSTREAM_SECRET_KEY"], "")
	assert.Equal(t, http.StatusOK, status, "nothing found is a list in this world")
}

// The last word on an assumption counts.
func TestWorlds(t *testing.T) {
	flags, s := newFlags()
	require.NoError(t, flags.Parse([]string{"-world", "LookupLag=1h unkind LookupLag=7m", "-world", "TermsEnforced=false"}))
	a := s.assumptions
	assert.Equal(t, []any{7 * time.Minute, false, "new"}, []any{a.LookupLag, a.TermsEnforced, a.UnknownMembers})
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
		answered(t, "POST", sh.vars["QUICKSTREAM_ENVIRONMENT"]+request.path, request.key, request.body)
	}
	answered(t, "GET", sh.vars["SANDBOX"]+"/clock", "", "", func(r *http.Request) { r.Host = "sandbox" })
	logged := sh.stop()
	for _, line := range []string{
		`msg=refused status=403 host=sandbox why="This port is reached by a loopback name, or by one that -host names."`,
		`msg=request call="POST /transactions" status=201 key=secret committed=true`, `msg=control call="POST /trigger/{eventType}" status=200`,
		`msg=delivery event=payto.agreement.declined id=`, `attempt=1 status=404`, `status=503 key=secret committed=false replayed=false fault=Status`,
		`call="POST (no such path)" status=404`, `status=401 key=unknown`,
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
		status, _ := answered(t, "GET", sh.vars["SANDBOX"]+"/ledger", token, "")
		return status
	}
	assert.Equal(t, []int{200, 401, 401}, []int{status(token), status(""), status("a token of another")})
}

// Webhooks are posted to the named hosts and to no other, and their links lead here.
func TestWebhookHosts(t *testing.T) {
	sh := serving(t, "-webhook-host", "app,192.0.2.7", "-world", "plain UnknownMembers=new")
	for _, target := range []string{"http://app/hook", "https://APP:3000/", "http://192.0.2.7:80/", "http://localhost:1/", "http://[::1]:1/"} {
		sh.run(`curl -d '{"url":"` + target + `","secret":"s"}' $SANDBOX/subscriptions`)
	}
	for _, target := range []string{"http://192.0.2.8/", "http://192.0.2.70/", "http://me@app/", "ftp://app/"} {
		status, _ := answered(t, "POST", sh.vars["SANDBOX"]+"/subscriptions", "", `{"url":"`+target+`","secret":"s"}`)
		assert.Equal(t, http.StatusUnprocessableEntity, status, target)
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
		{"-world", "plane"},
		{"-world", "PageSize"},
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
