package clienttest_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

var agreementsReport = quickstream.Request{Method: "GET", Route: "/payto-agreements/csv"}

// written answers with a body of a kind.
func written(status int, kind, body string) *http.Response {
	resp := answer(status, body)
	resp.Header = http.Header{"Content-Type": {kind}}
	return resp
}

// TestDoWritesABody byte by byte, whatever its form, and asks for no form.
func TestDoWritesABody(t *testing.T) {
	const report = "Payee Reference,Agreement Token\r\nR-1,\"C\xff\"\r\n"
	for kind, body := range map[string]string{"text/plain;charset=UTF-8": report, "text/csv": report, "application/json": `{"a":1,"a":2}`, "": "", "application/pdf": strings.Repeat("\x00", 9<<20)} {
		var resp quickstream.Response
		var out bytes.Buffer
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			assert.NotContains(t, r.Header, "Accept")
			return written(200, kind, body), nil
		})
		require.NoError(t, client.Do(t.Context(), agreementsReport, &out, quickstream.WithResponseInto(&resp)), kind)
		assert.True(t, body == out.String(), kind)
		assert.Equal(t, kind, resp.Header.Get("Content-Type"))
	}
	client := clientOf(t, func(*http.Request) (*http.Response, error) { return written(204, "", ""), nil })
	require.NoError(t, client.Do(t.Context(), agreementsReport, iotest.TruncateWriter(io.Discard, 0)))
}

// TestDoWritesASuccessOnly: whatever else is answered, nothing of it is written.
func TestDoWritesASuccessOnly(t *testing.T) {
	for name, test := range map[string]struct {
		answer func() *http.Response
		want   error
	}{
		"refused":   {func() *http.Response { return written(422, "text/plain", errorBody) }, quickstream.ErrInvalid},
		"not ready": {func() *http.Response { return written(202, "text/plain", "come back") }, quickstream.ErrReportNotReady},
		"a proxy's": {func() *http.Response { return written(200, "text/html; charset=utf-8", "<html>") }, nil},
		"moved":     {func() *http.Response { return written(302, "text/plain", "there") }, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			err := clientOf(t, func(*http.Request) (*http.Response, error) { return test.answer(), nil }).Do(t.Context(), agreementsReport, &out)
			require.Error(t, err, name)
			if test.want != nil {
				require.ErrorIs(t, err, test.want, name)
			}
			assert.Empty(t, out.String(), name)
		})
	}
}

// TestDoNamesTheWriter: an error of the writer ends the call and is wrapped, also where it took a part.
func TestDoNamesTheWriter(t *testing.T) {
	full := errors.New("the disk is full")
	for _, writer := range []failingWriter{{0, full}, {1, full}, {1, nil}} {
		sent := 0
		client := clientOf(t, func(*http.Request) (*http.Response, error) { sent++; return written(200, "text/csv", "xy"), nil })
		err := client.Do(t.Context(), agreementsReport, writer)
		require.ErrorContains(t, err, "the report could not be written")
		if writer.err != nil {
			require.ErrorIs(t, err, full)
		}
		assert.Equal(t, 1, sent)
	}
}

type failingWriter struct {
	takes int
	err   error
}

func (w failingWriter) Write([]byte) (int, error) { return w.takes, w.err }

// TestDoRefusesAWriter for a write, whose answer says what was done, and one that is nil.
func TestDoRefusesAWriter(t *testing.T) {
	client := clientOf(t, func(*http.Request) (*http.Response, error) { t.Error("sent"); return answer(200, "{}"), nil })
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		require.ErrorIs(t, client.Do(t.Context(), quickstream.Request{Method: method, Route: "/notes"}, new(bytes.Buffer)), quickstream.ErrInvalid)
	}
	require.ErrorIs(t, client.Do(t.Context(), agreementsReport, (*bytes.Buffer)(nil)), quickstream.ErrInvalid)
}
