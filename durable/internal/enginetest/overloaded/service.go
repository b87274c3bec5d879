// Package overloaded has a service that hangs above its capacity, and shares no code with the sandbox.
package overloaded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Service answers requests while no more are under way than its Capacity. If there are more none is
// answered until callers have given up. Only payments and look-ups count. It carries payments out at once, one for
// each key. It is the transport of a client.
type Service struct {
	Capacity int
	Takes    time.Duration // an answer
	Loses    int           // each so many-th answer to a payment is lost; none if it is 0

	mu             sync.Mutex
	hangs, refuses bool
	under, most    int
	answered       int
	keys           map[string]map[string]any
	begun          []time.Time
}

// Hang has it answer nothing until that is ended.
func (s *Service) Hang(hangs bool) { s.set(func() { s.hangs = hangs }) }

// Refuse has something in front of it refuse all until that is ended.
func (s *Service) Refuse(refuses bool) { s.set(func() { s.refuses = refuses }) }

// UnderWay is how many requests are under way.
func (s *Service) UnderWay() (n int) {
	s.set(func() { n = s.under })
	return n
}

// Most is how many were under way at once since it was asked last.
func (s *Service) Most() (most int) {
	s.set(func() { most, s.most = s.most, s.under })
	return most
}

// Begun is when each payment came in.
func (s *Service) Begun() (begun []time.Time) {
	s.set(func() { begun = append(begun, s.begun...) })
	return begun
}

func (s *Service) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// RoundTrip carries out a request and answers it.
func (s *Service) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent map[string]any
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			return nil, err
		}
	}
	status, body, counts := 0, any(nil), sent != nil || strings.HasSuffix(r.URL.Path, "/for-reference-number")
	s.set(func() {
		if counts {
			s.under++
			s.most = max(s.most, s.under)
		}
		status, body = s.carryOut(r, sent)
	})
	if !counts {
		return answer(r, status, body)
	}
	defer s.set(func() { s.under-- })
	for {
		pause := time.NewTimer(s.Takes)
		select {
		case <-r.Context().Done():
			pause.Stop()
			return nil, r.Context().Err()
		case <-pause.C:
		}
		answers, lost := false, false
		s.set(func() {
			if answers = !s.hangs && s.under <= s.Capacity; answers && sent != nil {
				s.answered++
				lost = s.Loses > 0 && s.answered%s.Loses == 0
			}
		})
		if lost {
			return nil, io.ErrUnexpectedEOF
		}
		if answers {
			return answer(r, status, body)
		}
	}
}

func (s *Service) carryOut(r *http.Request, sent map[string]any) (status int, body any) {
	if sent != nil {
		s.begun = append(s.begun, time.Now())
	}
	switch {
	case s.refuses:
		return http.StatusTooManyRequests, "<html>"
	case sent != nil:
		key := ""
		for name, values := range r.Header { // in the letters in which it was sent
			if strings.EqualFold(name, "Idempotency-Key") {
				key = strings.Join(values, "")
			}
		}
		if s.keys == nil {
			s.keys = map[string]map[string]any{}
		}
		made := s.keys[key]
		if made == nil {
			made = sent
			made["receiptNumber"], made["status"], made["summaryCode"] = fmt.Sprint(1000+len(s.keys)), "Approved", "0"
			made["principalAmount"] = map[string]any{"amount": sent["principalAmount"], "currency": sent["currency"]}
			s.keys[key] = made
		}
		return http.StatusCreated, made
	default:
		found := []any{}
		for _, made := range s.keys {
			if wanted := r.URL.Query().Get("referenceNumber"); wanted != "" && made["paymentReferenceNumber"] == wanted {
				found = append(found, made)
			}
		}
		return http.StatusOK, map[string]any{"data": found}
	}
}

func answer(r *http.Request, status int, body any) (*http.Response, error) {
	text, err := json.Marshal(body)
	if page, refused := body.(string); refused {
		text = []byte(page)
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(text)), Body: io.NopCloser(bytes.NewReader(text)), Request: r,
	}, err
}
