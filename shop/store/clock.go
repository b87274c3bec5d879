package store

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// clock is this machine's, or follows that of a sandbox, which can be moved forward to
// see what two days bring. A shop at the real service has no use for it.
type clock struct {
	address string
	lead    atomic.Int64 // how far the sandbox is ahead
}

// Now is the time that everything due is compared with.
func (c *clock) Now() time.Time { return time.Now().Add(time.Duration(c.lead.Load())) }

// follow keeps up with the sandbox's clock until ctx ends.
func (c *clock) follow(ctx context.Context) {
	if c.address == "" {
		return
	}
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		select {
		case <-tick.C:
			_ = c.read(ctx) // the next one may work
		case <-ctx.Done():
			tick.Stop()
			return
		}
	}
}

func (c *clock) read(ctx context.Context) error {
	if c.address == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.address, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("the sandbox's clock: %w", err)
	}
	defer answer.Body.Close()
	var told struct {
		Now time.Time `json:"now"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&told); err != nil {
		return fmt.Errorf("the sandbox's clock: %w", err)
	}
	// Never behind this machine's clock, by which the library says when it has sent: an
	// answer from before its question would be waited for until tomorrow.
	c.lead.Store(int64(max(0, time.Until(told.Now))))
	return nil
}

// client returns the HTTP client for calls to the service. The date of an answer tells the
// library how far the two machines' clocks differ; that a sandbox was moved is no such
// difference.
func (c *clock) client() *http.Client {
	if c.address == "" {
		return &http.Client{}
	}
	return &http.Client{Transport: dated{}}
}

type dated struct{}

// RoundTrip dates the answer by this machine's clock.
func (dated) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && answer.Header.Get("Date") != "" {
		answer.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	return answer, err
}
