package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

func TestServesUntilTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{
			"-addr", "127.0.0.1:0", "-seed", "7", "-origins", "http://a.example,http://b.example", "-auto-confirm",
			"-world", "PageSize=1 NothingFound=empty", "-assume", "PageSize=7", "-assume", "VoidableTypes=PAYMENT",
		}, in)
	}()

	vars := newShell(t, readLines(t, out, 7)).vars
	base, control := vars["QUICKSTREAM_ENVIRONMENT"], vars["SANDBOX"]
	assert.Equal(t, base, strings.TrimSuffix(control, controlPath)+"/rest/v1")

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base, nil)
	require.NoError(t, err)
	r.SetBasicAuth(vars["QUICKSTREAM_SECRET_KEY"], "")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusOK, resp.StatusCode)

	r, err = http.NewRequestWithContext(ctx, http.MethodOptions, base+"/single-use-tokens", nil)
	require.NoError(t, err)
	r.Header.Set("Origin", "http://b.example")
	r.Header.Set("Access-Control-Request-Method", "POST")
	resp, err = (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, "http://b.example", resp.Header.Get("Access-Control-Allow-Origin"))

	r, err = http.NewRequestWithContext(ctx, http.MethodGet, control+"/clock", nil)
	require.NoError(t, err)
	resp, err = (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusOK, resp.StatusCode)

	r, err = http.NewRequestWithContext(ctx, http.MethodGet, control+"/assumptions", nil)
	require.NoError(t, err)
	resp, err = (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	var listed []sandbox.Assumption
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&listed))
	inForce := map[string]string{}
	for _, a := range listed {
		inForce[a.Name] = a.Value
	}
	assert.Equal(t, []string{"7", "empty", "PAYMENT", "2s"},
		[]string{inForce["PageSize"], inForce["NothingFound"], inForce["VoidableTypes"], inForce["LookupLag"]})

	cancel()
	require.NoError(t, <-done)
}

func TestPostsToAWebhookFromTheStart(t *testing.T) {
	r := newReceiver(t, "mine")
	hook := httptest.NewServer(r)
	defer hook.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"-addr", "127.0.0.1:0", "-webhook", hook.URL, "-webhook-secret", "mine"}, in)
	}()
	sh := newShell(t, readLines(t, out, 7))
	sh.run("curl -X POST $SANDBOX/trigger/payto.agreement.recalled")
	assert.Equal(t, []string{"payto.agreement.recalled"}, r.next(1))
	cancel()
	require.NoError(t, <-done)
}

func TestPrintsAssumptions(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-assumptions"}, &out))
	assert.Contains(t, out.String(), "LookupLag = 2s\n")
}

func TestRefusesBadArguments(t *testing.T) {
	for _, args := range [][]string{
		{"-nonsense"},
		{"extra"},
		{"-addr", "192.0.2.1:80"},
		{"-addr", "nowhere"},
		{"-assume", "Colour=red"},
		{"-assume", "PageSize"},
		{"-assume", "TimeForm=odd"},
		{"-world", "PageSize=17"},
		{"-webhook", "http://192.0.2.1/"},
		{"-webhook", "http://127.0.0.1/", "-webhook-secret", ""},
	} {
		require.Error(t, run(t.Context(), args, io.Discard), args)
	}
}
