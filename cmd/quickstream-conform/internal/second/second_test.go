package second

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/conform"
)

// clock is the time of a run and of the service.
type clock struct {
	mu      sync.Mutex
	now     time.Time
	service *service
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.After(c.now) {
		c.now = now
	}
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	until := c.Now().Add(d)
	for {
		due, found := c.service.next()
		if !found || due.After(until) {
			break
		}
		c.set(due)
		c.service.deliver(c.Now())
	}
	c.set(until)
	return ctx.Err()
}

func (c *clock) Timeout(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Minute)
}

type finding struct{ Name, Value, Other, Open, How string }

type found struct {
	Findings        []finding
	SignatureScheme string
}

// ask runs conform against a service in a world, for as long as any question needs.
func ask(t *testing.T, w world) (found, *service, conform.Report) {
	t.Helper()
	return askFor(t, w, 9*24*time.Hour)
}

func askFor(t *testing.T, w world, wait time.Duration) (found, *service, conform.Report) {
	t.Helper()
	c := &clock{now: time.Date(2027, 3, 2, 22, 0, 0, 0, time.UTC)}
	s := newService(w, c)
	c.service = s
	receiver := conform.NewReceiver()
	s.notify = func(signature string, body []byte) int {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header.Set("X-Webhook-Signature", signature)
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		receiver.ServeHTTP(answer, r)
		return answer.Code
	}
	server, listener := httptest.NewServer(s), httptest.NewServer(receiver)
	defer server.Close()
	defer listener.Close()
	if err := receiver.Ping(t.Context(), listener.Client(), listener.URL); err != nil {
		t.Fatal(err)
	}
	report, err := conform.Run(t.Context(), conform.Config{
		Environment: quickstream.CustomURL(server.URL), Keys: conform.Keys{Secret: "SECRET", Publishable: "PUBLISHABLE"},
		Wait: wait, PayID: "payer@example.com", Webhooks: receiver, WebhookSecret: webhookSecret, Clock: c,
	})
	if err != nil {
		t.Error(err)
	}
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var f found
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f, s, report
}

const worlds = 24

// TestWorlds deals every option to one of the worlds, so that no world has two answers to a question.
func TestWorlds(t *testing.T) {
	told, open := 0, 0
	for i, hand := range deal(worlds) {
		t.Run(fmt.Sprintf("world %d", i), func(t *testing.T) {
			w, want := plain(), plainAnswers()
			for _, o := range hand {
				t.Log(o.what)
				o.set(&w)
				maps.Copy(want, o.want)
			}
			f, s, report := ask(t, w)
			for _, wrong := range judge(want, f.Findings) {
				t.Error(wrong)
			}
			for _, left := range slices.Concat(report.Left, s.undone(), s.broken) {
				t.Error(left)
			}
			if want := "sha256 t.body text hex"; f.SignatureScheme != want {
				t.Errorf("notifications are signed with %q, want %q", f.SignatureScheme, want)
			}
			for _, x := range f.Findings {
				if x.Open != "" {
					open++
				} else {
					told++
				}
			}
		})
	}
	t.Logf("%d answers, %d open", told, open)
	if open*5 > told {
		t.Errorf("%d answers are open, and only %d are not", open, told)
	}
}

// TestLie shows that the judge and the ledger find a service that does not do what its world says.
func TestLie(t *testing.T) {
	w := plain()
	w.keyMismatch, w.nothingFound = "409", 410
	f, _, _ := ask(t, w)
	if wrong := judge(plainAnswers(), f.Findings); len(wrong) != 2 {
		t.Errorf("%d answers are wrong, want 2: %q", len(wrong), wrong)
	}
	w = plain()
	w.voidsInWords = true
	_, s, report := askFor(t, w, 20*time.Minute)
	if len(s.undone()) == 0 {
		t.Error("the ledger does not have the payment that was not voided")
	}
	if len(report.Left) == 0 {
		t.Error("the report does not have the payment that was not voided")
	}
}

// deal shuffles the options, and gives each to the first world from its turn on that has no other
// option for the same questions.
func deal(worlds int) [][]option {
	hands, all := make([][]option, worlds), options()
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i, o := range all {
		at := i % worlds
		for slices.ContainsFunc(hands[at], func(other option) bool { return conflict(o, other) }) {
			at = (at + 1) % worlds
		}
		hands[at] = append(hands[at], o)
	}
	return hands
}

func conflict(a, b option) bool {
	for name := range a.want {
		if _, both := b.want[name]; both {
			return true
		}
	}
	return false
}

// judge returns what is wrong in the answers. An open answer is never wrong if it says why.
func judge(want map[string]string, findings []finding) (wrong []string) {
	if len(findings) != len(want) {
		wrong = append(wrong, fmt.Sprintf("%d answers, want %d", len(findings), len(want)))
	}
	for _, f := range findings {
		form, outside := strings.CutPrefix(want[f.Name], elsewhere)
		switch {
		case f.Open != "" && f.Value == "" && f.Other == "":
		case outside && f.Value == "" && f.Other != "" && strings.Contains(f.Other, form):
		case !outside && f.Other == "" && f.Value == want[f.Name]:
		case !outside && f.Value == "" && within(want[f.Name], f.Other):
		default:
			wrong = append(wrong, fmt.Sprintf("%s is %q %q %q, want %q", f.Name, f.Value, f.Other, f.Open, want[f.Name]))
		}
	}
	return wrong
}

// within says whether a value is in a span, such as "between 5s and 1m".
func within(value, span string) bool {
	low, high, found := strings.Cut(strings.TrimPrefix(span, "between "), " and ")
	v, isValue := number(value)
	from, isFrom := number(low)
	to, isTo := number(strings.TrimSuffix(high, " characters"))
	return found && isValue && isFrom && isTo && from <= v && v <= to
}

// number reads a duration, a number, or a time of the day in hours.
func number(text string) (float64, bool) {
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds(), true
	}
	if at, err := time.Parse("15:04", text); err == nil {
		return float64(at.Hour()) + float64(at.Minute())/60, true
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}
