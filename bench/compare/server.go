package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The service is played by a child process, so that its processor time and its
// garbage are not the client's, and by little more than a socket, so that it is
// not what is measured.

const (
	apiBase   = "/rest/v1"
	slowBase  = "/slow" + apiBase // pages take a time there
	listRoute = "/transactions/for-settlement-date?settlementDate=2024-02-03"
)

// pageTime is how long the service takes for a page at its slow address.
const pageTime = 10 * time.Millisecond

// service answers requests from what it has made once.
type service struct {
	base string // scheme and host
	made sync.Map
}

// answer returns the whole answer to a request for a target.
func (s *service) answer(target string) []byte {
	if made, ok := s.made.Load(target); ok {
		return made.([]byte)
	}
	body := s.body(target)
	status := "200 OK"
	if body == "" {
		status = "404 Not Found"
		body = "{}"
	}
	made := []byte("HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	s.made.Store(target, made)
	return made
}

// body returns the body of an answer, and "" where there is nothing.
func (s *service) body(target string) string {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return ""
	}
	number := func(name string, missing int) int {
		if n, err := strconv.Atoi(u.Query().Get(name)); err == nil {
			return n
		}
		return missing
	}
	page, pages := number("page", 0), number("pages", 1)
	route, _, _ := strings.Cut(listRoute, "?")
	switch u.Path {
	case apiBase + route:
		return pageJSON(s.base+apiBase, listRoute, page, pages)
	case slowBase + route:
		return pageJSON(s.base+slowBase, listRoute, page, pages)
	case apiBase + "/transactions/" + receipt:
		return transactionJSON(s.base+apiBase, 1000000001)
	case "/v1/payment_intents/pi_1":
		return intentJSON(1)
	case "/v1/payment_intents":
		if after := u.Query().Get("starting_after"); after != "" {
			last, err := strconv.Atoi(strings.TrimPrefix(after, "pi_"))
			if err != nil {
				return ""
			}
			page = (last + 1) / pageSize
		}
		return intentPageJSON(page, pages)
	}
	return ""
}

// serve answers the requests of every connection, until the listener is closed.
func (s *service) serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go s.converse(conn)
	}
}

func (s *service) converse(conn net.Conn) {
	defer func() { _ = conn.Close() }() // whatever was to be said has been written
	for r := bufio.NewReader(conn); ; {
		request, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		_, rest, _ := strings.Cut(string(request), " ")
		target, _, ok := strings.Cut(rest, " ")
		for len(request) > 2 { // none of these requests has a body
			if request, err = r.ReadSlice('\n'); err != nil {
				return
			}
		}
		if !ok {
			return
		}
		answer := s.answer(target)
		if strings.HasPrefix(target, slowBase) {
			<-time.After(pageTime)
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

// listen starts the service on the loopback interface.
func listen(ctx context.Context) (*service, net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	return &service{base: "http://" + listener.Addr().String()}, listener, nil
}

// serveParent is what a child process does: it says what its parent wants to
// know, and ends with it.
func serveParent(ctx context.Context, task string, in io.Reader, out io.Writer) error {
	if task != "service" {
		return fmt.Errorf("no such task: %s", task)
	}
	s, listener, err := listen(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // ends with the process anyway
	if _, err := fmt.Fprintln(out, s.base); err != nil {
		return err
	}
	go s.serve(listener)
	_, err = io.Copy(io.Discard, in)
	return err
}

// startService starts the child process and returns the address at which it
// serves, and a function that ends it.
func startService(ctx context.Context) (base string, stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-child", "service") //nolint:gosec // this very program
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() error { return errors.Join(in.Close(), cmd.Wait()) }
	base, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, errors.Join(err, stop())
	}
	return strings.TrimSpace(base), stop, nil
}
