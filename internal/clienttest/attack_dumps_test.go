package clienttest_test

import (
	"bytes"
	"context"
	"errors"
	"expvar"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestAttack60DumpsOfARunningCall looks into a process in the middle of a payment: its
// goroutines, their labels and its published variables show nothing of it. The naive
// program labels its work with what the work is about.
func TestAttack60DumpsOfARunningCall(t *testing.T) {
	arrived, done := make(chan bool), make(chan bool)
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		arrived <- true
		<-done
		return answer(422, ""), nil
	})
	go func() {
		_, err := client.Transactions.Pay(context.Background(), payment())
		assert.Error(t, err)
		arrived <- true
	}()
	<-arrived
	dumps := func() []string {
		stack := make([]byte, 1<<20)
		texts := []string{string(stack[:runtime.Stack(stack, true)])}
		for _, debug := range []int{1, 2} { // 1 shows labels
			var b bytes.Buffer
			require.NoError(t, pprof.Lookup("goroutine").WriteTo(&b, debug))
			texts = append(texts, b.String())
		}
		return texts
	}
	texts := dumps()
	pprof.Do(t.Context(), pprof.Labels("card", callCard), func(context.Context) {
		assert.NotEmpty(t, secretIn(strings.Join(dumps(), "")), "the naive program's labels show it")
	})
	assert.NotEmpty(t, secretIn(expvar.Func(func() any { return naiveKeys{"SECRET_KEY_1"} }).String()), "and so does its variable")
	for _, v := range []any{client, *client, testKeys(), payment()} {
		assert.Empty(t, secretIn(published(v)), "%T", v)
	}
	close(done)
	<-arrived
	for _, text := range texts {
		assert.Contains(t, text, "TransactionsService")
		assert.Empty(t, secretIn(text))
	}
}

type naiveKeys struct{ Secret string }

// published is how a variable of the process shows a value, or why it cannot.
func published(v any) (shown string) {
	defer func() {
		if failed := recover(); failed != nil {
			shown = fmt.Sprint(failed)
		}
	}()
	return expvar.Func(func() any { return v }).String()
}

// TestAttack61PrintedClient prints a client that has been used, by every route: the
// buffers of its open connections hold what was sent last, and dumps in test output
// follow pointers. They must not arrive there.
func TestAttack61PrintedClient(t *testing.T) {
	client, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, approvedBody)
	}, plain)
	_, err := client.Transactions.Pay(t.Context(), payment())
	require.NoError(t, err)
	found, _ := leaks(routes(t), client)
	assert.Empty(t, found)
	var dump recorder
	assert.Equal(&dump, &quickstream.Client{}, client)
	assert.NotEmpty(t, dump)
	assert.NotContains(t, dump, callCard[:8], "a hex dump shows 16 characters in a line")
	assert.NotContains(t, dump, "Authorizat")
}

// TestAttack59Panics lets processes of their own panic, with everything that can hold a
// secret. The naive card is shown.
func TestAttack59Panics(t *testing.T) {
	const variable = "QUICKSTREAM_TEST_PANIC"
	values := map[string]any{
		"naive":  errors.New("refused: " + callCard),
		"secret": quickstream.NewSecret(callCard), "card": secretCard(), "source": quickstream.FromCard(secretCard()),
		"keys": variants()[reflect.TypeFor[quickstream.SecretKey]()][0], "link": secretLink(), "cursor": quickstream.ParseCursor(secretAddress()),
		"error":   refusalThatSays(t, callEcho),
		"unknown": &quickstream.UnknownOutcomeError{Reference: callRef, IdempotencyKey: callKey, ReceiptNumber: callHandle, Cause: errors.New(callEcho)},
	}
	if name, child := os.LookupEnv(variable); child {
		panic(values[name])
	}
	for name := range values {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAttack59Panics$")
		cmd.Env = append(os.Environ(), variable+"="+name, "GOTRACEBACK=all", "GORACE=atexit_sleep_ms=0")
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "panic: ", name)
		if name == "naive" {
			assert.NotEmpty(t, secretIn(string(out)), "the naive error is shown")
			continue
		}
		assert.Empty(t, secretIn(string(out)), "%s: %s", name, out)
		assert.Empty(t, leaked(string(out)), "%s: %s", name, out)
	}
}
