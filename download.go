package quickstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

// pollInterval is how long the service asks to wait before asking again.
const pollInterval = time.Minute

var errNotReport = errors.New("the answer is not a report")

// download is an answer that goes to a writer while it arrives, whatever its
// size.
type download struct {
	accept  string
	to      io.Writer
	awaited bool                // the service may still be making it, and it has a header record
	arrived func(written int64) // may be nil
	written int64
	pending bool  // the service is still making it
	err     error // of the writer
}

// sink takes a report. A page of some gateway, or JSON, is no report, whatever its
// status says.
func (d *download) sink(status int, header http.Header) io.Writer {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	if status != http.StatusOK || kind == "text/html" || kind == "application/json" {
		return nil
	}
	return d
}

// Write passes on what has arrived, and keeps the writer's errors apart from
// those of the network.
func (d *download) Write(p []byte) (int, error) {
	n, err := d.to.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	d.written += int64(max(n, 0))
	d.err = err
	if d.arrived != nil {
		d.arrived(d.written)
	}
	return n, err
}

// fetch sends the call and writes the report. It returns how much was written,
// also with an error.
func (c *call) fetch(ctx context.Context, d *download) (int64, error) {
	if d.to == nil && c.ended == nil {
		c.ended = &ValidationError{Operation: c.op.name, Findings: []Finding{{
			Rule: "report.writer.required", Path: "(writer)", Message: "is required",
		}}}
	}
	d.pending, c.report = false, d
	err := c.do(ctx, func(status int, _ []byte) error {
		if d.pending = status == http.StatusAccepted && d.awaited; d.pending {
			return nil
		}
		return errNotReport
	})
	return d.written, err
}

// conclude returns what a call for a report returns, whose error is err.
func (d *download) conclude(c *call, err error) error {
	switch {
	case d.err != nil:
		return fmt.Errorf("quickstream: %s: the report could not be written: %w", c.op.name, d.err)
	case err == nil && d.pending:
		return fmt.Errorf("quickstream: %s: %w", c.op.name, ErrReportNotReady)
	case err == nil && d.awaited && d.written == 0:
		return c.decodeError(errors.New("the report is empty: it lacks its header record"))
	}
	return err
}

// pause waits between two questions, for a minute where no interval was chosen.
func pause(ctx context.Context, interval time.Duration) error {
	if interval <= 0 {
		interval = pollInterval
	}
	timer := time.NewTimer(interval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
