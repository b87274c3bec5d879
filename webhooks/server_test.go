package webhooks_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/webhooks"
)

// head returns the head of a signed request with an announced length.
func head(t *testing.T, length string) string {
	t.Helper()
	r := signed(t, confirmedBody)
	r.Header.Set("Host", "merchant.localhost")
	r.Header.Set("Content-Length", length)
	var out strings.Builder
	_ = r.Header.Write(&out)
	return "POST /webhooks HTTP/1.1\r\n" + out.String() + "\r\n"
}

// answer reads the status of an answer; 0 when the connection ended without one.
func answer(conn net.Conn) int {
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

// drip sends one byte a second until either side hangs up.
func drip(t *testing.T, conn net.Conn) {
	t.Helper()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			if _, err := conn.Write([]byte("x")); err != nil {
				return
			}
			<-time.After(time.Second)
		}
	}()
	t.Cleanup(func() {
		conn.Close()
		<-stopped
	})
}

// The limit for the body does not limit the function, and does not last until the
// next request on the connection.
func TestReadTimeoutEndsWithTheBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := webhooks.NewHandler(newVerifier(t), func(ctx context.Context, _ *webhooks.Notification) error {
			select {
			case <-time.After(3 * webhooks.DefaultReadTimeout):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		conn := serve(t, &http.Server{Handler: h, ReadTimeout: 2 * webhooks.DefaultReadTimeout})()
		defer conn.Close()
		for range 2 {
			require.NoError(t, signed(t, confirmedBody).Write(conn))
			require.Equal(t, http.StatusOK, answer(conn), "answered")
			<-time.After(time.Second)
		}
	})
}

// A sender that goes away ends the function's context; the notification is not
// taken for handled.
func TestSenderGoesAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var store webhooks.MemoryStore
		runs := 0
		handle := func(ctx context.Context, _ *webhooks.Notification) error {
			runs++
			if runs > 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		dial := serve(t, &http.Server{Handler: webhooks.NewHandler(newVerifier(t), handle, webhooks.WithStore(&store))})
		conn := dial()
		require.NoError(t, signed(t, confirmedBody).Write(conn))
		synctest.Wait()
		conn.Close()
		synctest.Wait()

		again := dial()
		defer again.Close()
		require.NoError(t, signed(t, confirmedBody).Write(again))
		if status := answer(again); status != http.StatusOK || runs != 2 {
			t.Errorf("answered %d after %d calls", status, runs)
		}
	})
}
