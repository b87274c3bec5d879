package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// quick is a trial as fast as it goes.
func quick(deliveries int) settings {
	return settings{deliveries: deliveries, seed: 7, connections: 8, ids: memorable, margin: 16}
}

// failing makes a trial and returns what does not hold.
func failing(t *testing.T, s settings, build func(settings, webhooks.Func) (http.Handler, error)) []string {
	t.Helper()
	o, err := try(t.Context(), s, build)
	if err != nil {
		t.Error(err)
		return nil
	}
	var what []string
	for _, c := range o.checks() {
		if !c.holds {
			what = append(what, c.what)
		}
	}
	var out strings.Builder
	holds, err := o.print(&out)
	if err != nil || holds != (len(what) == 0) || strings.Contains(out.String(), "  NO") == holds {
		t.Errorf("%v does not hold, %v; printed\n%s", what, err, &out)
	}
	return what
}

func TestMerchantHolds(t *testing.T) {
	if what := failing(t, quick(2500), merchant); len(what) > 0 {
		t.Errorf("does not hold: %v", what)
	}
}

// broken is an endpoint around what a merchant has: it makes the function worse, or
// the handler.
func broken(function func(webhooks.Func) webhooks.Func, handler func(http.Handler) http.Handler) func(settings, webhooks.Func) (http.Handler, error) {
	return func(s settings, handle webhooks.Func) (http.Handler, error) {
		if function != nil {
			handle = function(handle)
		}
		h, err := merchant(s, handle)
		if err == nil && handler != nil {
			h = handler(h)
		}
		return h, err
	}
}

// credulous handles what it can read, whoever sent it.
func credulous(_ settings, handle webhooks.Func) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}()
		if body, err := io.ReadAll(r.Body); err == nil {
			if n, err := webhooks.Parse(body); err == nil && handle(r.Context(), n) != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
	}), nil
}

// forgetful handles every delivery.
func forgetful(_ settings, handle webhooks.Func) (http.Handler, error) {
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret(secret)})
	if err != nil {
		return nil, err
	}
	return webhooks.NewHandler(verifier, handle), nil
}

func TestBrokenEndpointsFail(t *testing.T) {
	const few = 800
	drops := func(handle webhooks.Func) webhooks.Func {
		return func(ctx context.Context, n *webhooks.Notification) error {
			if strings.HasSuffix(n.ID, "13") {
				return nil
			}
			return handle(ctx, n)
		}
	}
	fails := func(handle webhooks.Func) webhooks.Func {
		return func(ctx context.Context, n *webhooks.Notification) error {
			return errors.Join(handle(ctx, n), errOnPurpose)
		}
	}
	hoards := func(handle webhooks.Func) webhooks.Func {
		ballast := make(chan []byte, 2*few)
		return func(ctx context.Context, n *webhooks.Notification) error {
			ballast <- make([]byte, 200_000)
			return handle(ctx, n)
		}
	}
	swallows := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusOK)
		})
	}
	explains := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			_, _ = io.WriteString(w, "because")
		})
	}
	hangsUp := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
	}
	moves := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			recorder := httptest.NewRecorder()
			next.ServeHTTP(recorder, r)
			if recorder.Code == http.StatusOK {
				recorder.Code = http.StatusNoContent
			}
			w.WriteHeader(recorder.Code)
		})
	}
	var tests sync.WaitGroup // at the same time, since each waits for its server to end
	defer tests.Wait()
	for name, test := range map[string]struct {
		build func(settings, webhooks.Func) (http.Handler, error)
		want  []string
	}{
		"accepts everything":            {credulous, []string{"forged ones that reached the function", "forged ones refused with the documented status"}},
		"does not recognise duplicates": {forgetful, []string{"handled more than once"}},
		"drops":                         {broken(drops, nil), []string{"genuine notifications handled at least once", "answered with 200 before they were handled"}},
		"never succeeds":                {broken(fails, nil), []string{"genuine notifications answered with 200"}},
		"swallows failures":             {broken(nil, swallows), []string{"answers of 500, one for each failure that was heard"}},
		"says why":                      {broken(nil, explains), []string{"answers that say why, in a body"}},
		"hangs up":                      {broken(nil, hangsUp), []string{"deliveries without an answer, but on purpose"}},
		"says 204":                      {broken(nil, moves), []string{"genuine deliveries answered with neither 200 nor 500"}},
		"keeps everything":              {broken(hoards, nil), []string{"MB of live heap in the last quarter, at least"}},
	} {
		tests.Go(func() {
			what := failing(t, quick(few), test.build)
			for _, want := range test.want {
				if !slices.Contains(what, want) {
					t.Errorf("%s: %q holds; what does not is %q", name, want, what)
				}
			}
		})
	}
}

func TestTooSlowFails(t *testing.T) {
	s := settings{deliveries: 100, rate: 100_000, seed: 1, connections: 1, ids: 5, work: time.Millisecond, margin: 16}
	if what := failing(t, s, merchant); !slices.Contains(what, "deliveries a second") || !slices.Contains(what, "kinds of delivery that did not come") {
		t.Errorf("of what does not hold there is %q", what)
	}
}

func TestEndedFromOutside(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := try(ctx, quick(800), merchant); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	args := []string{"-rate", "4000", "-for", "200ms", "-connections", "4", "-work", "0", "-margin", "-1000"}
	if err := run(t.Context(), args, &out); !errors.Is(err, errFailed) {
		t.Error(err)
	}
	if got := out.String(); !strings.Contains(got, "800 deliveries, 4000 a second over 4 connections, seed 1") {
		t.Errorf("printed %s", got)
	}
	for _, args := range [][]string{{"-rate", "0"}, {"-for", "1ms"}, {"-connections", "-1"}, {"-ids", "9"}, {"-colour"}} {
		if err := run(t.Context(), args, io.Discard); err == nil || errors.Is(err, errFailed) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// Every forgery is refused for what is forged about it, and for nothing else.
func TestForgeries(t *testing.T) {
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret(secret)})
	if err != nil {
		t.Fatal(err)
	}
	b := newBook(10, forgeries())
	b.open(5, 0)
	f := newForger("http://merchant.localhost"+path, b)
	for i, forgery := range b.all {
		for random := range uint64(20) {
			r, breaksOff, err := f.request(t.Context(), delivery{kind: forged + kind(i), number: 5, random: random * 0x9e3779b97f4a7c15})
			if err != nil {
				t.Fatal(err)
			}
			if breaksOff { // in a way that only shows on a connection
				continue
			}
			_, err = verifier.Verify(r)
			_, unreadable := errors.AsType[*webhooks.ParseError](err)
			if forgery.reason != nil && !errors.Is(err, forgery.reason) || forgery.reason == nil && !unreadable {
				t.Errorf("%s: %v", forgery.name, err)
			}
		}
	}

	var bodies, headers []string
	for _, k := range []kind{original, twin, duplicate, latecomer, repetition} {
		r, _, err := f.request(t.Context(), delivery{kind: k, number: 5})
		if err != nil {
			t.Fatal(err)
		}
		n, err := verifier.Verify(r)
		if err != nil {
			t.Fatal(err)
		}
		if number, ok := numberOf(n.ID); !ok || number != 5 {
			t.Errorf("%s is not number 5", n.ID)
		}
		bodies, headers = append(bodies, string(n.Raw())), append(headers, r.Header.Get(signature.Header))
	}
	if len(slices.Compact(bodies)) != 1 || len(slices.Compact(headers[:4])) != 1 {
		t.Errorf("duplicates differ: %q", headers)
	}
}

// Each notification is sent for the first time once, and out of order by no more
// than the window; the same seed draws the same.
func TestPlan(t *testing.T) {
	draw := func(seed uint64) []delivery {
		b := newBook(2000, forgeries())
		p := newPlan(settings{seed: seed, ids: 100}, b, b.all)
		all := make([]delivery, 2000)
		for i := range all {
			all[i] = p.draw()
			if d := all[i]; d.kind < forged {
				b.call(d.number)
				b.done(d.number, nil)
				b.enter(d, answer{status: http.StatusOK})
			}
		}
		return all
	}
	one := draw(1)
	if !slices.Equal(one, draw(1)) || slices.Equal(one, draw(2)) {
		t.Error("what is drawn does not depend on the seed, or on something else")
	}
	seen, disorder := map[int]bool{}, 0
	for _, d := range one {
		if d.kind != original {
			continue
		}
		if seen[d.number] {
			t.Errorf("number %d comes twice", d.number)
		}
		off := d.number - len(seen)
		if off <= -window || off >= window {
			t.Errorf("number %d comes at place %d", d.number, len(seen))
		}
		if off != 0 {
			disorder++
		}
		seen[d.number] = true
	}
	if disorder < len(seen)/2 {
		t.Errorf("%d of %d are out of order", disorder, len(seen))
	}
}

func TestRedeliveryWaitsAndEnds(t *testing.T) {
	b := newBook(1000, forgeries())
	b.open(3, 0)
	for range 2 { // the second failure of a twin does not repeat it twice
		b.enter(delivery{number: 3}, answer{status: http.StatusInternalServerError})
	}
	waited := 0
	for ; waited < 10*patience; waited++ {
		if number, ok := b.overdue(); ok {
			if number != 3 {
				t.Errorf("number %d is repeated", number)
			}
			break
		}
	}
	if waited+1 != patience {
		t.Errorf("repeated after %d", waited+1)
	}
	b.enter(delivery{kind: repetition, number: 3, loss: answerLost}, answer{})
	b.enter(delivery{kind: duplicate, number: 3}, answer{status: http.StatusOK})
	if number, ok := b.rest(); ok {
		t.Errorf("number %d is repeated after 200", number)
	}
	if b.counts.hollow != 1 {
		t.Errorf("%d answers of 200 before anything was handled", b.counts.hollow)
	}
}

func TestQuarters(t *testing.T) {
	samples := make([]memory, points)
	for i := range samples {
		samples[i] = memory{live: uint64(100 + i), inUse: uint64(200 - i), goroutines: i}
	}
	least, most := quarter(samples, 1)
	if least != (memory{108, 185, 8}) || most != (memory{115, 192, 15}) {
		t.Errorf("second quarter: %v to %v", least, most)
	}
	if _, most := quarter(samples, 3); most.live != 131 {
		t.Errorf("last quarter: %v", most)
	}
}

func TestHistogram(t *testing.T) {
	for d := time.Duration(0); d < time.Minute; d += d/7 + time.Microsecond {
		end := bound(bucket(d))
		if end <= d || end > d+d/16+time.Microsecond {
			t.Errorf("%v is in a bucket that ends at %v", d, end)
		}
	}
	var h histogram
	for i := range 1000 {
		h.add(time.Duration(i+1) * time.Millisecond)
	}
	for share, want := range map[float64]time.Duration{0.5: 500 * time.Millisecond, 0.99: 990 * time.Millisecond, 1: time.Second} {
		if got := h.quantile(share); got < want || got > want+want/16+time.Millisecond {
			t.Errorf("%v of 1 to 1000 ms is %v", share, got)
		}
	}
}
