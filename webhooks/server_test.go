package webhooks_test

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
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
