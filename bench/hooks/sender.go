package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/webhooks"
)

const (
	// answerTimeout is how long the sender waits for an answer.
	answerTimeout = 30 * time.Second
	// rounds is how often what was not acknowledged is repeated at the end.
	rounds = 20
)

// sender sends what the plan draws, over many connections.
type sender struct {
	settings
	address string
	forger  *forger
	book    *book
	plan    *plan
	gauge   *gauge
	work    chan delivery
	flying  sync.WaitGroup // deliveries that were handed out and have not ended
	fail    context.CancelCauseFunc
}

// try sends to the endpoint that build makes, and returns what came of it.
func try(ctx context.Context, s settings, build func(settings, webhooks.Func) (http.Handler, error)) (*outcome, error) {
	all := forgeries()
	b := newBook(s.deliveries, all)
	handler, err := build(s, function(b, s.work))
	if err != nil {
		return nil, err
	}
	e, err := listen(ctx, handler)
	if err != nil {
		return nil, err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	x := &sender{
		settings: s, address: e.address, forger: newForger("http://"+e.address+path, b), book: b, plan: newPlan(s, b, all),
		gauge: newGauge(), work: make(chan delivery), fail: fail,
	}
	x.send(ctx)
	// What a sender that hung up has left behind may still be running.
	if err := errors.Join(context.Cause(ctx), e.close()); err != nil {
		return nil, err
	}
	return x.outcome()
}

// send sends everything, and then repeats what was not acknowledged until it is.
func (s *sender) send(ctx context.Context) {
	var workers sync.WaitGroup
	for range s.connections {
		workers.Go(func() { s.connection(ctx) })
	}
	defer workers.Wait()
	defer close(s.work)
	defer s.gauge.close()
	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := range s.deliveries {
		due := time.Now()
		if s.rate > 0 {
			due = start.Add(time.Duration(i) * time.Second / time.Duration(s.rate))
			timer.Reset(time.Until(due))
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
		}
		d := s.plan.draw()
		d.due = due
		if !s.hand(ctx, d) {
			return
		}
		if (i+1)*points/s.deliveries > i*points/s.deliveries {
			s.gauge.take()
		}
	}
	s.flying.Wait()
	s.book.took = time.Since(start)
	for range rounds {
		for range s.book.backlog() {
			number, ok := s.book.rest()
			if ok && !s.hand(ctx, delivery{kind: repetition, number: number, due: time.Now()}) {
				return
			}
		}
		s.flying.Wait()
	}
}

func (s *sender) hand(ctx context.Context, d delivery) bool {
	s.flying.Add(1)
	select {
	case s.work <- d:
		return true
	case <-ctx.Done():
		s.flying.Done()
		return false
	}
}

// connection makes deliveries over a connection of its own.
func (s *sender) connection(ctx context.Context) {
	transport := &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: answerTimeout}
	for d := range s.work {
		if err := s.deliver(ctx, client, d); err != nil {
			s.fail(err)
		}
		s.flying.Done()
	}
}

// deliver makes one delivery. That it has no answer is no error here.
func (s *sender) deliver(ctx context.Context, client *http.Client, d delivery) error {
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	if d.loss == hungUp {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { hangUp() }})
	}
	r, breaksOff, err := s.forger.request(ctx, d)
	if err != nil {
		return err
	}
	if d.loss == answerLost {
		r.Header.Set(loseAnswer, "1")
	}
	sent := time.Now()
	var a answer
	if breaksOff {
		a.status, a.length = s.breakOff(r)
	} else {
		a.status, a.length = post(client, r)
	}
	a.took, a.late = time.Since(sent), time.Since(d.due)
	s.book.enter(d, a)
	return nil
}

// post sends a request and returns the status and the length of the answer, or 0.
func post(client *http.Client, r *http.Request) (status int, length int64) {
	resp, err := client.Do(r)
	if err != nil {
		return 0, 0
	}
	defer resp.Body.Close()
	length, err = io.Copy(io.Discard, resp.Body)
	if err != nil {
		return 0, 0
	}
	return resp.StatusCode, length
}

// breakOff sends a request but for its last byte, says that this was all, and
// listens for an answer.
func (s *sender) breakOff(r *http.Request) (status int, length int64) {
	var whole bytes.Buffer
	if r.Write(&whole) != nil {
		return 0, 0
	}
	conn, err := new(net.Dialer).DialContext(r.Context(), "tcp", s.address)
	if err != nil {
		return 0, 0
	}
	defer func() { _ = conn.Close() }()
	tcp, ok := conn.(*net.TCPConn)
	if !ok || tcp.SetDeadline(time.Now().Add(answerTimeout)) != nil {
		return 0, 0
	}
	if _, err := tcp.Write(whole.Bytes()[:whole.Len()-1]); err != nil || tcp.CloseWrite() != nil {
		return 0, 0
	}
	resp, err := http.ReadResponse(bufio.NewReader(tcp), r)
	if err != nil {
		return 0, 0
	}
	defer resp.Body.Close()
	length, err = io.Copy(io.Discard, resp.Body)
	if err != nil {
		return 0, 0
	}
	return resp.StatusCode, length
}
