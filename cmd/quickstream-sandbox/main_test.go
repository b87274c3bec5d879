package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
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
	stop := sync.OnceValue(func() string {
		cancel()
		require.NoError(t, <-done)
		return logged.String()
	})
	t.Cleanup(func() { stop() })
	sh := &shell{t, map[string]string{}, stop}
	for lines := bufio.NewScanner(out); sh.vars["SANDBOX"] == "" && lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		sh.vars[name] = value
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // the other lines
	return sh
}

// answered is how a request is answered.
func answered(t *testing.T, method, address, key, body string, header http.Header) (int, http.Header) {
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	maps.Copy(r.Header, header)
	if key != "" {
		r.SetBasicAuth(key, "")
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, resp.Header
}

func TestServesUntilTheContextEnds(t *testing.T) {
	vars := serving(t, "-shop", "http://a.example,http://b.example", "-world", "unkind PageSize=1", "-world", "NothingFound=empty").vars
	base, control := vars["QUICKSTREAM_ENVIRONMENT"], vars["SANDBOX"]
	assert.Equal(t, base, strings.TrimSuffix(control, controlPath)+"/rest/v1")

	preflight := http.Header{"Origin": {"http://b.example"}, "Access-Control-Request-Method": {"POST"}}
	_, header := answered(t, "OPTIONS", base+"/single-use-tokens", "", "", preflight)
	assert.Equal(t, "http://b.example", header.Get("Access-Control-Allow-Origin"))
	status, _ := answered(t, "GET", base+"/transactions/for-settlement-date?settlementDate=1990-01-02", vars["QUICKSTREAM_SECRET_KEY"], "", nil)
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
	sh := serving(t, "-webhook", hook.URL)
	secret, service := sh.vars["QUICKSTREAM_SECRET_KEY"], sh.vars["QUICKSTREAM_ENVIRONMENT"]
	paid, err := json.Marshal(payment("ORDER-2"))
	require.NoError(t, err)
	for _, request := range []struct{ key, address, body string }{
		{secret, service + "/transactions", string(paid)},
		{"", sh.vars["SANDBOX"] + "/trigger/payto.agreement.declined", ""},
		{"", sh.vars["SANDBOX"] + "/faults", `{"kind":"Status","status":503,"nth":1}`},
		{secret, service + "/transactions", `{}`}, // the fault
		{secret, service + "/transactions", `{"transactionType":"PAYMENT","4012888888881881":1}`},
		{secret, service + "/4242424242424242", `{}`},
		{"a key of somebody", service + "/transactions", `{}`},
	} {
		answered(t, "POST", request.address, request.key, request.body, nil)
	}
	answered(t, "GET", sh.vars["SANDBOX"]+"/clock", "", "", http.Header{"Origin": {"http://evil.example"}})
	logged := sh.stop()
	for _, line := range []string{
		`msg=refused status=403 host=127.0.0.1:`, `why="Another site asked for this.`,
		`msg=request call="POST /transactions" status=201 key=secret committed=true`, `msg=control call="POST /trigger/{eventType}" status=200`,
		`msg=delivery event=payto.agreement.declined id=`, `attempt=1 status=404`, `status=503 key=secret committed=false replayed=false fault=Status`,
		`call="POST (no such path)" status=404`, `status=401 key=unknown`,
	} {
		assert.Contains(t, logged, line)
	}
	for _, hidden := range []string{secret, sh.vars["QUICKSTREAM_PUBLISHABLE_KEY"], "4242424242424242", "4012888888881881", "ORDER-2", "a key of somebody", "whsec"} {
		assert.NotContains(t, logged, hidden)
	}
}

// Beyond loopback there is a token.
func TestExposed(t *testing.T) {
	sh := serving(t, "-expose", "-host", "Sandbox.Example,127.0.0.1")
	assert.Contains(t, sh.vars["SANDBOX"], "http://sandbox.example:", "how others call it")
	const token = "a-token-of-my-own"
	sh = serving(t, "-expose", "-token", token)
	for given, want := range map[string]int{token: 200, "": 401, "a token of another": 401} {
		status, _ := answered(t, "GET", sh.vars["SANDBOX"]+"/ledger", given, "", nil)
		assert.Equal(t, want, status, given)
	}
}

// Webhooks are posted to the named hosts and to no other.
func TestWebhookHosts(t *testing.T) {
	sh := serving(t, "-webhook-host", "app,192.0.2.7")
	for target, want := range map[string]int{
		"http://app/hook": 200, "https://APP:3000/": 200, "http://192.0.2.7:80/": 200, "http://localhost:1/": 200, "http://[::1]:1/": 200,
		"http://192.0.2.8/": 422, "http://192.0.2.70/": 422, "http://me@app/": 422, "ftp://app/": 422,
	} {
		status, _ := answered(t, "POST", sh.vars["SANDBOX"]+"/subscriptions", "", `{"url":"`+target+`","secret":"s"}`, nil)
		assert.Equal(t, want, status, target)
	}
}

func TestRefusesBadArguments(t *testing.T) {
	for _, line := range []string{
		"-nonsense", "extra", "-addr 192.0.2.1:80", "-addr nowhere", "-world Colour=red", "-world plane", "-world PageSize", "-world PageSize=many",
		"-token short", "-token sixteen-with:a-colon", "-expose -addr 192.0.2.1:80 -token short",
		"-secret-key SANDBOX_PUB_MINE", "-secret-key LIVE_SECRET", "-publishable-key SANDBOX_PUB_", "-host sandbox:8642", "-webhook-host *",
		"-webhook http://192.0.2.1/ -webhook-host 192.0.2.2", "-webhook http://192.0.2.1/", "-webhook http://127.0.0.1/ -webhook-secret=",
	} {
		args := strings.Fields(line)
		if !slices.Contains(args, "-addr") {
			args = append([]string{"-addr", "127.0.0.1:0"}, args...)
		}
		err := run(t.Context(), args, io.Discard, io.Discard)
		require.Error(t, err, line)
		assert.NotContains(t, err.Error(), "LIVE_SECRET")
	}
	assert.False(t, tokenForm.MatchString("a token with blanks"))
}
