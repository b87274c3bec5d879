package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// Upload is a request body that is sent while it is read. It is read at most
// once: after its first byte was taken there is no further attempt.
type Upload struct {
	Content     io.Reader
	Length      int64 // of the content
	ContentType string
}

// patience ends an attempt that has waited for the other side for too long. It
// begins anew with every piece of a streamed body, and does not count while this
// side is at work.
type patience struct {
	limit time.Duration
	timer *time.Timer
	end   context.CancelFunc
	over  atomic.Bool
}

func (p *patience) start(limit time.Duration) {
	p.limit = limit
	p.timer = time.AfterFunc(limit, func() {
		p.over.Store(true)
		p.end()
	})
}

func (p *patience) stop()  { p.timer.Stop() }
func (p *patience) renew() { p.timer.Reset(p.limit) }

var errUploadEnded = errors.New("the upload has ended")

// outgoing is an upload's body in one attempt. net/http reads it on a goroutine
// of its own, which can outlive the attempt.
type outgoing struct {
	upload   *Upload
	run      *run
	patience *patience
	ended    atomic.Bool
}

func (o *outgoing) Read(p []byte) (int, error) {
	o.run.begun.Store(true) // before the look at ended, which is set before begun is read
	if o.ended.Load() {
		return 0, errUploadEnded
	}
	o.patience.stop()
	n, err := o.upload.Content.Read(p)
	o.patience.renew()
	return n, err
}

// endUpload lets nothing more be read for an attempt that is over.
func (t *trace) endUpload() {
	if t.upload != nil {
		t.upload.ended.Store(true)
	}
}

// Close leaves the content alone: it is the caller's, and a next attempt's where
// this one did not get as far as reading it.
func (o *outgoing) Close() error { return nil }

// deliver hands a body over while it arrives.
func (r *run) deliver(resp *http.Response, sink io.Writer, t *trace) {
	defer resp.Body.Close()
	r.last = Result{Status: resp.StatusCode, Header: resp.Header}
	body := &incoming{body: resp.Body, patience: &t.patience}
	n, err := io.Copy(sink, body)
	if err == nil && n < resp.ContentLength { // of RoundTrippers other than net/http's
		err = io.ErrUnexpectedEOF
		body.failed = true
	}
	if err == nil {
		return
	}
	r.delivered = n > 0 || !body.failed
	r.failed(clean(err), t)
	r.last.Status, r.last.Header = resp.StatusCode, resp.Header
}

// incoming is a streamed answer.
type incoming struct {
	body     io.Reader
	patience *patience
	failed   bool
}

func (i *incoming) Read(p []byte) (int, error) {
	i.patience.renew()
	n, err := i.body.Read(p)
	i.patience.stop()
	i.failed = err != nil && !errors.Is(err, io.EOF)
	return n, err
}
