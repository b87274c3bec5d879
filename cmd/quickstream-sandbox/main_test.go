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

// serving runs the command on a free port until the test ends, and returns a shell with the
// variables that it prints. The command ends without an error.
func serving(t *testing.T, args ...string) *shell {
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, append(args, "-addr", "127.0.0.1:0"), in) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return newShell(t, readLines(t, out, 7))
}

func TestServesUntilTheContextEnds(t *testing.T) {
	vars := serving(t, "-seed", "7", "-origins", "http://a.example,http://b.example", "-auto-confirm",
		"-world", "PageSize=1 NothingFound=empty", "-assume", "PageSize=7", "-assume", "VoidableTypes=PAYMENT").vars
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

	_, _, assumptions := request("GET", control+"/assumptions", "")
	var listed []sandbox.Assumption
	require.NoError(t, json.Unmarshal(assumptions, &listed))
	inForce := map[string]string{}
	for _, a := range listed {
		inForce[a.Name] = a.Value
	}
	assert.Equal(t, []string{"7", "empty", "PAYMENT", "2s"},
		[]string{inForce["PageSize"], inForce["NothingFound"], inForce["VoidableTypes"], inForce["LookupLag"]})
}

func TestPostsToAWebhookFromTheStart(t *testing.T) {
	r := newReceiver(t, "mine")
	hook := httptest.NewServer(r)
	defer hook.Close()
	serving(t, "-webhook", hook.URL, "-webhook-secret", "mine").run("curl -X POST $SANDBOX/trigger/payto.agreement.recalled")
	assert.Equal(t, []string{"payto.agreement.recalled"}, r.next(1))
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
