package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
)

// value is that of a dimension, and that of the default world without one.
func (s *service) value(dimension string) string {
	if s.world == nil {
		return sandbox.World{}.Value(dimension)
	}
	return s.world.Value(dimension)
}

// enter begins a story in a world: somewhere in two weeks with a long weekend, with
// the end of daylight saving or with neither.
func (s *service) enter() {
	weeks := []time.Time{
		time.Date(2027, time.March, 18, 0, 0, 0, 0, time.UTC), // Easter, and daylight saving ends
		time.Date(2026, time.December, 18, 0, 0, 0, 0, time.UTC),
		time.Date(2027, time.June, 15, 0, 0, 0, 0, time.UTC),
	}
	dice := s.dice("begin")
	s.clock = sandbox.NewClock(weeks[dice.IntN(len(weeks))].Add(time.Duration(dice.IntN(14*24*60)) * time.Minute))
	s.retries = resolve.ServiceRetriesOff()
	if s.value("SoftDeclineCodes") != "none" {
		last := time.Hour
		for _, wait := range s.waits() {
			last += wait
		}
		s.retries = resolve.ServiceRetriesFor(last)
	}
}

// isFormless reports whether a world's error bodies are not in the service's words: a
// gateway could have said the same, and a write that is refused so is looked up.
func isFormless(world sandbox.World) bool {
	return slices.Contains([]string{"list", "texts", "html", "empty"}, world.Value("ErrorForm"))
}

func isRefusal(status int) bool { return status >= 400 && status < 500 }

// formless returns the idempotency keys of the writes that the service has refused in
// another form than its words.
func (s *service) formless() map[string]bool {
	keys := make(map[string]bool)
	if !isFormless(*s.world) {
		return keys
	}
	for _, r := range s.box.Requests() {
		if r.Method != http.MethodGet && isRefusal(r.Status) {
			keys[r.IdempotencyKey] = true
		}
	}
	return keys
}

// waits are those of the world's service between its own attempts at a payment.
func (s *service) waits() (waits []time.Duration) {
	for text := range strings.SplitSeq(s.value("RetrySchedule"), ",") {
		if wait, err := time.ParseDuration(text); err == nil {
			waits = append(waits, wait)
		}
	}
	return waits
}

// calm tells that no call hangs here.
func (s *service) calm(c config) bool {
	return s.world != nil && (c.faults == 0 || !slices.Contains([]string{"hangAfterCommit", "slowBody"}, s.value(sandbox.DimensionFault)))
}

// now is the merchant's clock.
func (s *service) now() time.Time {
	if s.world == nil {
		return s.clock.Now()
	}
	return s.world.MerchantTime(s.clock.Now(), s.begun)
}

// ask adds to an order what merchants ask of a service: references of their own,
// refunds, two equal ones too, voids, and customers who come back after a decline.
func (s *service) ask(p *plan, i int, dice *rand.Rand, faults float64) {
	o := &p.order
	if dice.IntN(3) == 0 {
		o.Reference = fmt.Sprintf("Inv-%d", i+1) // the first is how others begin
	}
	part := step{kindRefund, o.Amount.Div(decimal.New(4, 0)).RoundDown(2)}
	switch lot := dice.IntN(10); {
	case lot == 0:
		o.Then = []step{{kindRefund, o.Amount}}
	case lot <= 2 && o.Method != methodPayTo:
		o.Then = []step{part, part}
	case lot == 3 && o.Method == methodCard:
		o.Then = []step{{Kind: kindVoid}}
	}
	o.Again = dice.IntN(2)
	p.faulty, p.crashing = dice.Float64() < faults/3, dice.Float64() < faults/6
	if dice.IntN(10) == 0 {
		p.outcome = []sandbox.Outcome{sandbox.Declined([]string{"01", "05", "51", "91"}[dice.IntN(4)])}
		p.payable, p.unknowable = false, false
	}
}

// armWorld has the writes of faulty orders meet the world's fault. They are told by
// their idempotency keys, of which crashesInWorld is told first.
func (s *service) armWorld() error {
	for _, operation := range []string{"POST /transactions", "POST /transactions/{receiptNumber}/void"} {
		for _, f := range s.world.Faults(operation) {
			times := f.Times
			f.Nth, f.Times = 0, 0
			f.Match = func(r sandbox.Request) bool {
				met, faulty := s.faulty.Load(r.IdempotencyKey)
				if !faulty || met.(int) >= times { //nolint:forcetypeassert // stored by this type alone
					return false
				}
				s.faulty.Store(r.IdempotencyKey, met.(int)+1) //nolint:forcetypeassert // as above
				return true
			}
			if err := s.box.Inject(f); err != nil {
				return err
			}
		}
	}
	return s.armLookUps()
}

// armLookUps has one in four of the places where something is looked up fail as the
// world's writes do, the first time that it is asked.
func (s *service) armLookUps() error {
	var asked sync.Map
	for _, operation := range []string{
		"GET /transactions/{receiptNumber}", "GET /transactions/{receiptNumber}/refunds", "GET /transactions/for-reference-number",
	} {
		for _, f := range s.world.Faults(operation) {
			f.Nth, f.Times = 0, 0
			f.Match = func(r sandbox.Request) bool {
				place := r.Path + "?" + r.Query.Encode()
				_, before := asked.LoadOrStore(place, true)
				return !before && s.dice(place).IntN(4) == 0
			}
			if err := s.box.Inject(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// crashesInWorld says whether the worker of a try dies here, which it does once. What
// comes after a first payment that did not arrive goes well.
func (s *service) crashesInWorld(o *order, t *try, where string) bool {
	p := s.orders[slices.IndexFunc(s.orders, func(p plan) bool { return p.order.ID == o.ID })]
	for _, earlier := range o.Tries[:slices.Index(o.Tries, t)] {
		if earlier.Kind == t.Kind && (earlier.Kind == kindPayment || earlier.Ended == endAbsent) {
			return false
		}
	}
	if p.faulty && where == "beforeSend" {
		s.faulty.Store(t.Intent.IdempotencyKey, 0)
	}
	at := s.value(sandbox.DimensionCrash)
	if at == "afterCommit" && where == "afterAnswer" { // to the merchant the two are one
		where = at
	}
	if at != where || !p.crashing {
		return false
	}
	_, before := s.crashed.LoadOrStore(t.Intent.IdempotencyKey, true)
	return !before
}

// datedTransport brings the Date of answers into this machine's time: the client
// compares it with this machine's clock, and the story has another. What is left is
// the difference between the service's clock and the merchant's.
type datedTransport struct{ s *service }

// RoundTrip implements http.RoundTripper.
func (t datedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.s.box.HTTPClient().Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		answer.Header.Set("Date", date.Add(time.Since(t.s.now())).UTC().Format(http.TimeFormat))
	}
	return answer, nil
}
