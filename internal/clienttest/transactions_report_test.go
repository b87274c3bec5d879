package clienttest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/csvreport"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const csvOperation = "GET /transactions/csv"

// reportDay is the settlement date on which the clock of a bubble begins.
func reportDay() quickstream.ReportParams {
	return quickstream.ReportParams{SettlementDate: quickstream.NewDate(2000, time.January, 1)}
}

// withReport runs f in a bubble with a sandbox that has the report of three
// payments ready.
func withReport(t *testing.T, f func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
			a.ReportGeneration, a.LookupLag = 0, 0
		}))
		for range 3 {
			_, err := client.Transactions.Pay(t.Context(), payment())
			require.NoError(t, err)
		}
		box.ResetRequests()
		f(t, box, client)
	})
}

// TestReportRequest asks for the second version, and for text, if nothing else is said.
func TestReportRequest(t *testing.T) {
	withReport(t, func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client) {
		var to bytes.Buffer
		_, err := client.Transactions.DownloadReport(t.Context(), &to, reportDay())
		require.NoError(t, err)
		sent := box.Requests()[0]
		assert.Equal(t, []string{"text/plain"}, sent.Header["Accept"])
		assert.Equal(t, url.Values{"version": {"2"}, "settlementDate": {"2000-01-01"}}, sent.Query)
	})
}

func TestReportIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		for range 3 {
			_, err := client.Transactions.Pay(t.Context(), payment())
			require.NoError(t, err)
		}
		box.ResetRequests()
		var to bytes.Buffer
		var progress [][2]int64
		start := time.Now()
		n, err := client.Transactions.AwaitReport(t.Context(), &to, reportDay(), quickstream.ReportWait{
			Progress: func(requests int, written int64) { progress = append(progress, [2]int64{int64(requests), written}) },
		})
		require.NoError(t, err)
		assert.EqualValues(t, to.Len(), n)
		assert.Len(t, box.Requests(), 3, "the report takes 90 seconds")
		assert.InDelta(t, 2*time.Minute, time.Since(start), float64(time.Second))
		assert.Equal(t, [][2]int64{{1, 0}, {2, 0}, {3, n}}, progress)

		report, err := csvreport.NewReader(&to)
		require.NoError(t, err)
		records := 0
		for _, err := range report.Rows() {
			require.NoError(t, err)
			records++
		}
		assert.Equal(t, 3, records)
	})
}

func TestAwaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		start := time.Now()
		n, err := client.Transactions.AwaitReport(ctx, io.Discard, reportDay(), quickstream.ReportWait{Interval: 10 * time.Second})
		require.ErrorIs(t, err, quickstream.ErrReportNotReady)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, n)
		assert.Len(t, box.Requests(), 3)
		assert.Equal(t, 25*time.Second, time.Since(start))
	})
}

// TestReportBreaksOff cuts reports off, before and after their first byte, and answers with
// something else, of which nothing is written.
func TestReportBreaksOff(t *testing.T) {
	for name, c := range map[string]struct {
		kind               sandbox.FaultKind
		written, questions int
		ends               string
		network            quickstream.NetworkKind
	}{
		"in the middle":         {sandbox.TruncatedBody(100), 100, 1, network, quickstream.NetworkKindReset},
		"before the first byte": {sandbox.TruncatedBody(0), 0, 3, network, quickstream.NetworkKindReset},
		"before the answer":     {sandbox.ResetBeforeCommit(), 0, 3, network, quickstream.NetworkKindReset},
		"no answer":             {sandbox.HangBeforeCommit(), 0, 3, network, quickstream.NetworkKindTimeout},
		"a page":                {sandbox.Garbage(sandbox.HTML), 0, 3, decoding, ""},
		"JSON":                  {sandbox.Garbage(sandbox.ServiceError), 0, 3, decoding, ""},
		"nothing":               {sandbox.Garbage(sandbox.Empty), 0, 1, decoding, ""},
	} {
		withReport(t, func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client) {
			client.CloseIdleConnections()
			require.NoError(t, box.Inject(sandbox.Fault{Operation: csvOperation, Kind: c.kind}))
			var to bytes.Buffer
			n, err := client.Transactions.DownloadReport(t.Context(), &to, reportDay())
			require.Equal(t, c.ends, ending(err), "%s: %v", name, err)
			if c.network != "" {
				assert.Equal(t, c.network, networkKind(t, err), name)
			}
			assert.EqualValues(t, c.written, n, name)
			assert.Equal(t, c.written, to.Len(), name)
			assert.Len(t, box.Requests(), c.questions, name)
		})
	}
}

func TestReportIsAskedForAgainUntilItBegins(t *testing.T) {
	for _, kind := range []sandbox.FaultKind{
		sandbox.TruncatedBody(0), sandbox.Status(503, sandbox.ServiceError), sandbox.Status(502, sandbox.HTML),
		sandbox.RateLimited("1"), sandbox.Garbage(sandbox.HTML), sandbox.Garbage(sandbox.ServiceError),
	} {
		withReport(t, func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client) {
			client.CloseIdleConnections()
			require.NoError(t, box.Inject(sandbox.Fault{Operation: csvOperation, Kind: kind, Times: 2}))
			var to bytes.Buffer
			n, err := client.Transactions.DownloadReport(t.Context(), &to, reportDay())
			require.NoError(t, err, kind)
			assert.EqualValues(t, to.Len(), n)
			assert.True(t, strings.HasPrefix(to.String(), "Supplier Business Code,"), "%s: %s", kind, to.String())
			assert.Len(t, box.Requests(), 3)
		})
	}
}

// TestSlowReport takes longer than an attempt may, and is whole.
func TestSlowReport(t *testing.T) {
	withReport(t, func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client) {
		require.NoError(t, box.Inject(sandbox.Fault{Operation: csvOperation, Kind: sandbox.SlowBody(5)}))
		start := time.Now()
		var to bytes.Buffer
		n, err := client.Transactions.DownloadReport(t.Context(), &to, reportDay(), quickstream.WithAttemptTimeout(5*time.Second))
		require.NoError(t, err)
		assert.Greater(t, time.Since(start), time.Minute)
		assert.EqualValues(t, to.Len(), n)

		for limit, download := range map[string]func() (int64, error){
			"WithTimeout": func() (int64, error) {
				return client.Transactions.DownloadReport(t.Context(), io.Discard, reportDay(), quickstream.WithTimeout(10*time.Second))
			},
			"context": func() (int64, error) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				return client.Transactions.DownloadReport(ctx, io.Discard, reportDay())
			},
		} {
			box.ResetRequests()
			n, err := download()
			require.ErrorIs(t, err, context.DeadlineExceeded, limit)
			assert.Equal(t, network, ending(err), limit)
			assert.Len(t, box.Requests(), 1, limit)
			assert.InDelta(t, 50, n, 5, limit)
		}
	})
}

func plainReport(r *http.Request, length int64, body io.Reader) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}},
		Body: io.NopCloser(body), ContentLength: length, Request: r,
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestStalledReport stops in the middle, and is given up after the time that an
// attempt may wait.
func TestStalledReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			requests++
			sent := false
			return plainReport(r, -1, readerFunc(func(p []byte) (int, error) {
				if !sent {
					sent = true
					return copy(p, "Receipt Number\r\n"), nil
				}
				<-r.Context().Done()
				return 0, r.Context().Err()
			})), nil
		})
		start := time.Now()
		n, err := client.Transactions.DownloadReport(t.Context(), io.Discard, reportDay(), quickstream.WithAttemptTimeout(7*time.Second))
		broken, ok := errors.AsType[*quickstream.NetworkError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, quickstream.NetworkKindTimeout, broken.Kind)
		timeout, ok := errors.AsType[net.Error](err)
		assert.True(t, ok && timeout.Timeout())
		assert.Equal(t, 7*time.Second, time.Since(start))
		assert.EqualValues(t, 16, n)
		assert.Equal(t, 1, requests)
	})
}

// TestSlowWriter takes long over every piece: the service is not to blame.
func TestSlowWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			body := io.MultiReader(strings.NewReader("a"), strings.NewReader("b"))
			return plainReport(r, -1, readerFunc(func(p []byte) (int, error) {
				if err := r.Context().Err(); err != nil {
					return 0, err
				}
				return body.Read(p)
			})), nil
		})
		n, err := client.Transactions.DownloadReport(t.Context(), writerFunc(func(p []byte) (int, error) {
			<-time.After(time.Hour)
			return len(p), nil
		}), reportDay())
		require.NoError(t, err)
		assert.EqualValues(t, 2, n)
	})
}

// TestShortReport is shorter than announced, over a RoundTripper that does not
// notice.
func TestShortReport(t *testing.T) {
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		return plainReport(r, 100, strings.NewReader("Receipt Number\r\n1")), nil
	})
	n, err := client.Transactions.DownloadReport(t.Context(), io.Discard, reportDay())
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, network, ending(err))
	assert.EqualValues(t, 17, n)
}

func TestWriterFails(t *testing.T) {
	full := errors.New("disk full")
	for name, c := range map[string]struct {
		write func(p []byte) (int, error)
		want  error
	}{
		"at once":  {func([]byte) (int, error) { return 0, full }, full},
		"in part":  {func([]byte) (int, error) { return 10, full }, full},
		"silently": {func([]byte) (int, error) { return 10, nil }, io.ErrShortWrite},
	} {
		withReport(t, func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client) {
			written := 0
			n, err := client.Transactions.DownloadReport(t.Context(), writerFunc(func(p []byte) (int, error) {
				n, err := c.write(p)
				written += n
				return n, err
			}), reportDay())
			require.ErrorIs(t, err, c.want, name)
			assert.NotContains(t, []string{network, answered, decoding, unknown}, ending(err), "%s: not the network's", name)
			assert.EqualValues(t, written, n, name)
			assert.Len(t, box.Requests(), 1, "%s: nothing is repeated", name)
		})
	}
}

func TestReportIsRefused(t *testing.T) {
	withReport(t, func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client) {
		params := reportDay()
		params.Columns = []string{"No Such Column"}
		n, err := client.Transactions.AwaitReport(t.Context(), io.Discard, params, quickstream.ReportWait{})
		require.ErrorIs(t, err, quickstream.ErrInvalid)
		assert.Equal(t, answered, ending(err))
		assert.Zero(t, n)

		for status, sentinel := range map[int]error{401: quickstream.ErrUnauthorized, 406: nil, 500: nil} {
			box.ClearFaults()
			require.NoError(t, box.Inject(sandbox.Fault{Operation: csvOperation, Kind: sandbox.Status(status, sandbox.ServiceError)}))
			_, err := client.Transactions.DownloadReport(t.Context(), io.Discard, reportDay())
			refused, ok := errors.AsType[*quickstream.APIError](err)
			require.True(t, ok, "%d: %v", status, err)
			assert.Equal(t, status, refused.StatusCode)
			if sentinel != nil {
				require.ErrorIs(t, err, sentinel)
			}
		}
	})
}

func TestReportNeedsAWriter(t *testing.T) {
	box, client := sandboxtest.New(t)
	_, err := client.Transactions.DownloadReport(t.Context(), nil, reportDay())
	require.ErrorIs(t, err, quickstream.ErrInvalid)
	_, err = client.Transactions.DownloadReport(t.Context(), nil, quickstream.ReportParams{})
	require.ErrorContains(t, err, "settlementDate", "what else is wrong is said first")
	assert.Empty(t, box.Requests())
}

// TestFileReportNotReady: a report of a payment file may be made on request too.
func TestFileReportNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.FileReports = "202" }))
		file, err := client.PaymentFiles.Upload(t.Context(), upload("a.csv", fileOf("10.50", approvedLine("A"))))
		require.NoError(t, err)
		for _, download := range []func(context.Context, io.Writer, string, ...quickstream.CallOption) (int64, error){
			client.PaymentFiles.DownloadCSV, client.PaymentFiles.DownloadFlatFile, client.PaymentFiles.DownloadMTSRejects,
		} {
			n, err := download(t.Context(), io.Discard, file.PaymentFileID)
			require.ErrorIs(t, err, quickstream.ErrReportNotReady)
			assert.Zero(t, n)
		}
		_, err = client.PaymentFiles.Wait(t.Context(), file.PaymentFileID, quickstream.PaymentFileWait{})
		require.NoError(t, err)
		n, err := client.PaymentFiles.DownloadCSV(t.Context(), io.Discard, file.PaymentFileID)
		require.NoError(t, err)
		assert.NotZero(t, n)
	})
}

// TestFilesMayBeEmpty: a report has a header record, and the errors of a payment file need not.
func TestFilesMayBeEmpty(t *testing.T) {
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		resp := answer(http.StatusOK, "")
		resp.Header.Set("Content-Type", "text/csv")
		return resp, nil
	})
	written, err := client.PaymentFiles.DownloadCSV(t.Context(), io.Discard, "1")
	require.NoError(t, err)
	assert.Zero(t, written)
	_, err = client.Transactions.DownloadReport(t.Context(), io.Discard, reportDay())
	require.Error(t, err)
}

// TestReportTakesConstantMemory downloads 64 MiB.
func TestReportTakesConstantMemory(t *testing.T) {
	const size = 64 << 20
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		return plainReport(r, size, io.LimitReader(readerFunc(func(p []byte) (int, error) { return len(p), nil }), size)), nil
	})
	var n int64
	var err error
	allocated := allocatedBy(mebibyte, func() { n, err = client.Transactions.DownloadReport(t.Context(), io.Discard, reportDay()) })
	require.NoError(t, err)
	assert.EqualValues(t, size, n)
	assert.LessOrEqual(t, allocated, uint64(mebibyte))
}
