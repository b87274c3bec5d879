package main

import (
	"math/rand/v2"
	"time"
)

// kind is what a delivery is.
type kind int

const (
	original   kind = iota // the first delivery of a notification
	twin                   // the same again, at the same time, over another connection
	repetition             // after anything but 200
	duplicate              // the same bytes again, after 200
	latecomer              // the same, when the store has forgotten the notification: refused
	forged                 // the first of the forgeries: see forgeries
)

// loss is what happens to a delivery on the network.
type loss uint8

const (
	nothingLost loss = iota
	answerLost       // the endpoint answers, and nobody hears it
	hungUp           // the sender goes away as soon as it has sent everything
)

// delivery is one request.
type delivery struct {
	kind   kind
	number int // of the notification; of a forgery, that of the one it is made from
	loss   loss
	random uint64 // for what a forgery does
	due    time.Time
}

const (
	// window is by how much a notification can be out of order.
	window = 64
	// patience is how many deliveries pass before one that failed is repeated.
	patience = 100
	// memorable is how many notifications a store has to remember, so that it does
	// not forget one whose answer was lost a few times in a row.
	memorable = 4 * patience
	// replayable is for how long the same bytes can be sent again. It is less than
	// the verifier's tolerance.
	replayable = 4 * time.Minute
)

// plan draws what to send.
type plan struct {
	random *rand.Rand
	book   *book
	ids    int
	block  []int  // the numbers sent next, out of order
	next   int    // the first number after the block
	deck   []kind // the forgeries that come next
	cards  []kind // a whole deck
	twin   *delivery
}

func newPlan(s settings, b *book, all []forgery) *plan {
	p := &plan{random: rand.New(rand.NewPCG(s.seed, 0)), book: b, ids: s.ids} //nolint:gosec // repeatable, not secret
	for i, f := range all {
		for range f.share {
			p.cards = append(p.cards, forged+kind(i))
		}
	}
	return p
}

// draw returns the next delivery. Redeliveries come first, as they are due.
func (p *plan) draw() delivery {
	if p.twin != nil {
		d := *p.twin
		p.twin = nil
		return d
	}
	d := delivery{random: p.random.Uint64()}
	if number, ok := p.book.overdue(); ok {
		d.kind, d.number, d.loss = repetition, number, p.loss()
		return d
	}
	switch chance := p.random.IntN(100); {
	case chance < 20:
		d.kind, d.number = p.forgery(), p.random.IntN(p.next+1)
		return d
	case chance < 30:
		if p.duplicate(&d, p.next-p.ids/2, p.next) {
			d.kind = duplicate
			return d
		}
	case chance < 33:
		if p.duplicate(&d, p.next-4*p.ids, p.next-2*p.ids) {
			d.kind = latecomer
			return d
		}
	}
	d.kind, d.number, d.loss = original, p.original(), p.loss()
	p.book.open(d.number, p.failures())
	if p.random.IntN(100) < 3 {
		p.twin = &delivery{kind: twin, number: d.number}
	}
	return d
}

// original returns the number of a notification that was not sent before. They
// are shuffled a window at a time.
func (p *plan) original() int {
	if len(p.block) == 0 {
		for range window {
			p.block = append(p.block, p.next)
			p.next++
		}
		p.random.Shuffle(window, func(i, j int) { p.block[i], p.block[j] = p.block[j], p.block[i] })
	}
	number := p.block[len(p.block)-1]
	p.block = p.block[:len(p.block)-1]
	return number
}

// duplicate finds a notification between two numbers that was answered with 200.
func (p *plan) duplicate(d *delivery, from, to int) bool {
	from = max(from, 0)
	if to <= from {
		return false
	}
	d.number = from + p.random.IntN(to-from)
	return p.book.settled(d.number)
}

// forgery deals from a shuffled deck, so that none of the kinds is left out.
func (p *plan) forgery() kind {
	if len(p.deck) == 0 {
		p.deck = append(p.deck, p.cards...)
		p.random.Shuffle(len(p.deck), func(i, j int) { p.deck[i], p.deck[j] = p.deck[j], p.deck[i] })
	}
	k := p.deck[len(p.deck)-1]
	p.deck = p.deck[:len(p.deck)-1]
	return k
}

// loss is nothing for most.
func (p *plan) loss() loss {
	switch chance := p.random.IntN(100); {
	case chance < 2:
		return answerLost
	case chance < 4:
		return hungUp
	default:
		return nothingLost
	}
}

// failures is how many times the function is to fail at a notification.
func (p *plan) failures() uint8 {
	switch chance := p.random.IntN(100); {
	case chance < 1:
		return 3
	case chance < 3:
		return 2
	case chance < 8:
		return 1
	default:
		return 0
	}
}
