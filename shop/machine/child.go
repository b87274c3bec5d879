package machine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// child is the shop's program, which is started again whenever it ends.
type child struct {
	command []string
	env     []string
	log     io.Writer

	mu      sync.Mutex
	process *os.Process
	address *url.URL      // where it listens; nil while it does not
	changed chan struct{} // closed when address has changed
	ready   atomic.Bool   // it has listened once
	ended   chan struct{} // closed when run returns
	failure error         // with which it has ended
}

func newChild(command, env []string, log io.Writer) *child {
	return &child{command: command, env: env, log: log, changed: make(chan struct{}), ended: make(chan struct{})}
}

// restartAfter is the pause before the program is started again: long enough to be seen.
const restartAfter = time.Second

// run keeps the program running until ctx ends.
func (c *child) run(ctx context.Context) {
	defer close(c.ended)
	for ctx.Err() == nil {
		err := c.once(ctx)
		c.moved(nil)
		if ctx.Err() != nil || !c.ready.Load() {
			c.failure = err
			return // one that has never been ready will not be
		}
		_, _ = fmt.Fprintln(c.log, "The shop's program has ended and is started again:", err)
		select {
		case <-time.After(restartAfter):
		case <-ctx.Done():
		}
	}
}

// once runs the program until it ends.
func (c *child) once(ctx context.Context) error {
	cmd := exec.Command(c.command[0], c.command[1:]...) //nolint:gosec,noctx // the caller's own program, which is asked to end and not killed
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stderr = c.log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.mu.Lock()
	c.process = cmd.Process
	c.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = stdin.Close() }) // it ends when its standard input does
	defer stop()
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
			if address, err := url.Parse(text); err == nil {
				c.ready.Store(true)
				c.moved(address)
			}
			continue
		}
		_, _ = fmt.Fprintln(c.log, lines.Text())
	}
	err = cmd.Wait()
	c.mu.Lock()
	c.process = nil
	c.mu.Unlock()
	return err
}

// moved notes where the program listens, or that it does not.
func (c *child) moved(address *url.URL) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.address = address
	close(c.changed)
	c.changed = make(chan struct{})
}

// at is where the program listens, or nil while it is down.
func (c *child) at() *url.URL {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.address
}

// wait returns when the program listens.
func (c *child) wait(ctx context.Context) error {
	for {
		c.mu.Lock()
		up, changed := c.address != nil, c.changed
		c.mu.Unlock()
		if up {
			return nil
		}
		select {
		case <-changed:
		case <-c.ended:
			return fmt.Errorf("the shop's program has ended: %w", c.failure)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// kill ends the program at once, without a word to it.
func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.address = nil
	if c.process != nil {
		_ = c.process.Kill() // it may have ended
	}
}

// end waits for the program, which was told to end, and not for ever.
func (c *child) end() {
	select {
	case <-c.ended:
	case <-time.After(10 * time.Second):
		c.kill()
		<-c.ended
	}
}

// UntilStdinEnds returns a context that ends with the standard input of the program,
// which a child of a Machine has for as long as that lives.
func UntilStdinEnds(ctx context.Context) context.Context {
	ctx, end := context.WithCancel(ctx)
	go func() {
		defer end()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	return ctx
}
