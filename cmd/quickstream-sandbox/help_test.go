package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
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

// asCommand makes the test program be the command.
const asCommand = "QUICKSTREAM_SANDBOX_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	os.Exit(leaktest.Main(m))
}

func command(t *testing.T, args ...string) *exec.Cmd {
	program, err := os.Executable()
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), program, args...)
	c.Env = append(os.Environ(), asCommand+"=1")
	return c
}

// readLines reads the first lines of what a command prints.
func readLines(t *testing.T, from io.Reader, n int) string {
	var sb strings.Builder
	for lines := bufio.NewScanner(from); n > 0 && lines.Scan(); n-- {
		sb.WriteString(lines.Text() + "\n")
	}
	require.Zero(t, n, sb.String())
	return sb.String()
}

// receiver is a merchant's program, which knows nothing of the sandbox's clock.
type receiver struct {
	t      *testing.T
	verify *signature.Verifier
	events chan string
}

func newReceiver(t *testing.T, secret string) *receiver {
	v, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{secret})
	require.NoError(t, err)
	return &receiver{t: t, verify: v, events: make(chan string, 100)}
}

func (r *receiver) ServeHTTP(_ http.ResponseWriter, q *http.Request) {
	raw, err := io.ReadAll(q.Body)
	assert.NoError(r.t, err)
	assert.NoError(r.t, r.verify.Verify(q.Header.Values(signature.Header), raw))
	var in struct{ EventType string }
	assert.NoError(r.t, json.Unmarshal(raw, &in))
	r.events <- in.EventType
}

// next waits for so many events.
func (r *receiver) next(n int) (list []string) {
	for range n {
		list = append(list, <-r.events)
	}
	return list
}

// What the help prints works as it stands: the command line, the variables that it
// prints then, and the tour, with a receiver that checks the time of signatures by
// the real clock after the sandbox's was moved by two days.
func TestTheTourOfTheHelp(t *testing.T) {
	help, err := command(t, "-help").Output()
	require.NoError(t, err)
	r := newReceiver(t, "whsec")
	hook := httptest.NewServer(r)
	defer hook.Close()

	server := command(t, "-addr", "127.0.0.1:0")
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	sh := newShell(t, readLines(t, out, 7))

	_, script, _ := strings.Cut(string(help), "A TOUR WITH CURL\n")
	require.Contains(t, script, "http://127.0.0.1:4242/")
	printed := sh.run(strings.Replace(script, "http://127.0.0.1:4242/", hook.URL, 1))

	assert.ElementsMatch(t, []string{"payto.agreement.confirmed", "payto.payment.approved", "payto.agreement.declined"}, r.next(3))
	for order, net := range map[string]int{"ORDER-1": 1050 - 400, "ORDER-2": 0, "ORDER-3": 500, "ORDER-4": 1500, "ORDER-5": 1050} {
		var ledger struct{ Net int }
		require.NoError(t, json.Unmarshal([]byte(sh.run(`curl "$SANDBOX/ledger?order=`+order+`"`)), &ledger))
		assert.Equal(t, net, ledger.Net, order)
	}
	var delivered []delivery
	require.NoError(t, json.Unmarshal([]byte(sh.run("curl $SANDBOX/deliveries")), &delivered))
	assert.Len(t, delivered, 3)
	sums := regexp.MustCompile(`= ([0-9a-f]{64})\nt=[0-9]+,v1=([0-9a-f]{64})\n$`).FindStringSubmatch(printed)
	require.NotNil(t, sums, printed)
	assert.Equal(t, sums[1], sums[2], "what openssl computes is what was sent")
}

// Every endpoint that is served stands in the help with an example that works, and
// every flag and assumption is there.
func TestTheHelpIsComplete(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-help"}, &out, io.Discard))
	help := out.String()

	b := newBench(t)
	server := httptest.NewServer(b.handler)
	defer server.Close()
	sh := newShell(t, "export SANDBOX="+server.URL+controlPath)
	sh.vars["AGREEMENT"] = b.agreement()
	token, authenticate := b.cardToken()
	require.Equal(t, "C", authenticate())
	sh.vars["CHALLENGED"] = token
	require.NoError(t, b.box.Subscribe(sandbox.Subscription{Handler: http.NotFoundHandler(), Secret: "s", Scheme: signature.AssumedHMAC{}}))
	sh.vars["DELIVERY"] = b.trigger("payto.agreement.confirmed")
	described := regexp.MustCompile(`(?m)^((?:GET|POST|DELETE) /\S+)\n(?:    [^c].*\n)+    (curl .*)$`).FindAllStringSubmatch(help, -1)
	var patterns []string
	for _, e := range described {
		patterns = append(patterns, e[1])
		if e[1] != "POST /clock" { // challenges do not wait for two days
			sh.run(e[2])
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys((&control{}).endpoints())), patterns)
	sh.run(`curl -d '{"advance":"48h"}' $SANDBOX/clock`)
	for _, f := range faults() {
		assert.Contains(t, help, f.Kind)
	}
	for _, e := range events() {
		assert.Contains(t, help, e.Name)
	}
	var listed bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-assumptions"}, &listed, io.Discard))
	for _, a := range sandbox.DefaultAssumptions().List() {
		assert.Contains(t, listed.String(), "\n"+a.Name+" = "+a.Value+"\n")
	}
	assert.Contains(t, listed.String(), ", unstable, gone\n")
	for line := range strings.Lines(help) {
		assert.Less(t, len(line), 180, line)
	}
}
