package main

import (
	"net/http"
	"sync"
	"time"
)

// book is what is known of every notification and delivery. All its memory is
// allocated when it is made.
type book struct {
	start time.Time
	all   []forgery

	mu       sync.Mutex
	drawn    int      // deliveries so far
	sent     []uint32 // when, in milliseconds from the start and 1; 0 for not yet
	failures []uint8  // how many times the function is to fail
	calls    []uint8  // of the function
	handled  []uint8  // calls that returned nil
	known    bitset   // answered with 200
	waiting  bitset   // for redelivery
	queue    []entry  // a ring of what waits
	head     int
	queued   int

	highest int // number sent
	tallies []tally
	due     histogram
	counts  counts
	took    time.Duration // until the last delivery of the plan had ended
}

type entry struct{ number, due uint32 }

// counts are what does not belong to one kind of delivery.
type counts struct {
	genuine   int // notifications
	disorder  int // of them, sent after a later one
	failed    int // calls of the function that failed
	reached   int // calls of the function for what is not genuine
	hollow    int // answers of 200 to what had not been handled
	talkative int // answers with a body
}

// tally is about one kind of delivery.
type tally struct {
	sent   int
	right  int // answered with 200, or with the status of the forgery
	failed int // genuine, and answered with 500
	lost   int // without an answer, on purpose
	silent int // without an answer
	wrong  int // any other answer
	took   histogram
}

func newBook(deliveries int, all []forgery) *book {
	n := deliveries + window
	return &book{
		start: time.Now(), all: all, highest: -1,
		sent: make([]uint32, n), failures: make([]uint8, n), calls: make([]uint8, n), handled: make([]uint8, n),
		known: newBitset(n), waiting: newBitset(n), queue: make([]entry, n),
		tallies: make([]tally, int(forged)+len(all)),
	}
}

type bitset []uint64

func newBitset(n int) bitset    { return make(bitset, (n+63)/64) }
func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) clear(i int)    { b[i/64] &^= 1 << (i % 64) }

// add adds one, as long as there is room for it.
func add(n *uint8) {
	if *n < 255 {
		*n++
	}
}

// open enters a notification that is about to be sent for the first time.
func (b *book) open(number int, failures uint8) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.genuine++
	if number < b.highest {
		b.counts.disorder++
	}
	b.highest = max(b.highest, number)
	b.failures[number] = failures
	b.sent[number] = uint32(time.Since(b.start).Milliseconds()) + 1 //nolint:gosec // a run is not that long
}

// sentAt returns when a notification was first sent.
func (b *book) sentAt(number int) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.start.Add(time.Duration(b.sent[number]-1) * time.Millisecond)
}

// isOpen reports whether there is a notification with this number.
func (b *book) isOpen(number int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return number >= 0 && number < len(b.sent) && b.sent[number] != 0
}

// settled reports whether a notification was answered with 200, and can be sent
// again as it was.
func (b *book) settled(number int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known.has(number) && time.Since(b.start)-time.Duration(b.sent[number])*time.Millisecond < replayable
}

// call enters a call of the function, and tells whether it is to fail.
func (b *book) call(number int) (which uint8, fails bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	add(&b.calls[number])
	which = b.calls[number]
	return which, which <= b.failures[number]
}

// done enters what became of a call.
func (b *book) done(number int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.counts.failed++
		return
	}
	add(&b.handled[number])
}

// reached enters a call of the function for what is not genuine.
func (b *book) reached() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.reached++
}

// answer is what the sender hears.
type answer struct {
	status int // 0 for no answer
	length int64
	took   time.Duration // since it was sent
	late   time.Duration // since it was due
}

// enter enters a delivery that has ended. A genuine one that was not answered
// with 200 is going to be repeated, whatever the reason.
func (b *book) enter(d delivery, a answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := &b.tallies[d.kind]
	t.sent++
	if a.status != 0 {
		t.took.add(a.took)
		b.due.add(a.late)
	}
	if a.length != 0 {
		b.counts.talkative++
	}
	want := http.StatusOK
	switch {
	case d.kind >= forged:
		want = b.all[d.kind-forged].status
	case d.kind == latecomer: // refused, or it would be handled once more
		want = http.StatusUnauthorized
	}
	switch {
	case a.status == want:
		t.right++
	case a.status == 0 && d.loss != nothingLost:
		t.lost++
	case a.status == 0:
		t.silent++
	case a.status == http.StatusInternalServerError && d.kind < forged:
		t.failed++
	default:
		t.wrong++
	}
	if d.kind >= forged {
		return
	}
	if a.status == http.StatusOK {
		if b.handled[d.number] == 0 {
			b.counts.hollow++
		}
		b.known.set(d.number)
	}
	if !b.known.has(d.number) && !b.waiting.has(d.number) {
		b.waiting.set(d.number)
		b.queue[(b.head+b.queued)%len(b.queue)] = entry{uint32(d.number), uint32(b.drawn + patience)} //nolint:gosec // at most MaxInt32
		b.queued++
	}
}

// overdue returns a notification that is to be delivered again by now. What was
// answered with 200 meanwhile is not.
func (b *book) overdue() (number int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drawn++
	for b.queued > 0 && int(b.queue[b.head].due) <= b.drawn {
		if number, ok = b.pop(); ok {
			return number, true
		}
	}
	return 0, false
}

// rest takes the next from the backlog, due or not. What was answered with 200
// meanwhile is not to be delivered.
func (b *book) rest() (number int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queued == 0 {
		return 0, false
	}
	return b.pop()
}

// backlog returns how many notifications wait to be delivered again.
func (b *book) backlog() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queued
}

func (b *book) pop() (number int, ok bool) {
	number = int(b.queue[b.head].number)
	b.head = (b.head + 1) % len(b.queue)
	b.queued--
	b.waiting.clear(number)
	return number, !b.known.has(number)
}
