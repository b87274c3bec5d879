package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/leaktest"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }

// printed is what the command prints with a flag that ends it.
func printed(t *testing.T, flag string) string {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{flag}, &out, io.Discard))
	return out.String()
}

// receiver is a merchant's program, which knows nothing of the sandbox's clock. It verifies events and passes on their types.
func receiver(t *testing.T, secret string) (handler http.HandlerFunc, eventTypes <-chan string) {
	v, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{secret})
	require.NoError(t, err)
	events := make(chan string, 100)
	return func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.NoError(t, v.Verify(r.Header.Values(signature.Header), raw))
		var in struct{ EventType string }
		assert.NoError(t, json.Unmarshal(raw, &in))
		events <- in.EventType
	}, events
}

// The tour of the help works as it stands, with the variables that the command prints, and a receiver that
// checks the time of signatures by the real clock after the sandbox's was moved by two days.
func TestTheTourOfTheHelp(t *testing.T) {
	handler, posted := receiver(t, "whsec")
	hook := httptest.NewServer(handler)
	defer hook.Close()
	sh := serving(t)
	_, script, _ := strings.Cut(printed(t, "-help"), "A TOUR WITH CURL\n")
	require.Contains(t, script, "http://127.0.0.1:4242/")
	out := sh.run(strings.Replace(script, "http://127.0.0.1:4242/", hook.URL, 1))

	assert.ElementsMatch(t, []string{"payto.agreement.confirmed", "payto.payment.approved", "payto.agreement.declined"}, []string{<-posted, <-posted, <-posted})
	for order, net := range map[string]int{"ORDER-1": 1050 - 400, "ORDER-2": 0, "ORDER-3": 500, "ORDER-4": 1500, "ORDER-5": 1050} {
		var ledger struct{ Net int }
		require.NoError(t, json.Unmarshal([]byte(sh.run(`curl "$SANDBOX/ledger?order=`+order+`"`)), &ledger))
		assert.Equal(t, net, ledger.Net, order)
	}
	var delivered []delivery
	require.NoError(t, json.Unmarshal([]byte(sh.run("curl $SANDBOX/deliveries")), &delivered))
	assert.Len(t, delivered, 3)
	sums := regexp.MustCompile(`= ([0-9a-f]{64})\nt=[0-9]+,v1=([0-9a-f]{64})\n$`).FindStringSubmatch(out)
	require.NotNil(t, sums, out)
	assert.Equal(t, sums[1], sums[2], "what openssl computes is what was sent")
}

// Every endpoint that is served stands in the help with an example that works, and
// every flag and assumption is there.
func TestTheHelpIsComplete(t *testing.T) {
	help := printed(t, "-help")
	b := newBench(t)
	server := httptest.NewServer(b.handler)
	defer server.Close()
	token, authenticate := b.cardToken()
	require.Equal(t, "C", authenticate())
	b.subscribe(http.NotFoundHandler())
	sh := &shell{t: t, vars: map[string]string{
		"SANDBOX": server.URL + controlPath, "AGREEMENT": b.agreement(), "CHALLENGED": token, "DELIVERY": b.trigger("payto.agreement.confirmed"),
	}}
	var patterns []string
	for _, e := range regexp.MustCompile(`(?m)^((?:GET|POST|DELETE) /\S+)\n(?:    [^c].*\n)+    (curl .*)$`).FindAllStringSubmatch(help, -1) {
		patterns = append(patterns, e[1])
		if e[1] != "POST /clock" { // challenges do not wait for two days
			sh.run(e[2])
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys((&control{}).endpoints())), patterns)
	sh.run(`curl -d '{"advance":"48h"}' $SANDBOX/clock`)
	for _, name := range append(slices.Collect(maps.Keys(faultKinds())), eventTypes()...) {
		assert.Contains(t, help, name)
	}
	listed := printed(t, "-assumptions")
	for _, a := range sandbox.DefaultAssumptions().List() {
		assert.Contains(t, listed, "\n"+a.Name+" = "+a.Value+"\n")
	}
	assert.Contains(t, listed, ", unstable, gone\n")
	for line := range strings.Lines(help) {
		assert.Less(t, len(line), 180, line)
	}
}
