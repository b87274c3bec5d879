package sandbox

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
)

// Option configures a [Sandbox].
type Option func(*settings)

type settings struct {
	assume     Assumptions
	clock      timekeeper
	seed       [8]byte
	seeded     bool
	anywhere   bool
	businesses []*business
	noThreeDS  func(code string) bool
	shops      []string
}

// WithClock makes the sandbox live on c instead of package time.
func WithClock(c *Clock) Option {
	return func(s *settings) {
		if c != nil {
			s.clock = c
		}
	}
}

// WithSeed makes keys, identifiers and the dice of [Fault.Probability] the same
// in every run. Calls that race each other still draw in the order they come.
func WithSeed(n uint64) Option {
	return func(s *settings) {
		binary.LittleEndian.PutUint64(s.seed[:], n)
		s.seeded = true
	}
}

// WithBusiness adds a business with the surcharges it puts on card payments.
// [DefaultBusiness] exists without it; naming that code replaces it.
func WithBusiness(code, name string, surcharges ...Surcharge) Option {
	return func(s *settings) {
		s.businesses = append(s.businesses, &business{code: code, name: name, surcharges: surcharges})
	}
}

// WithAssumptions changes what the sandbox assumes where the public contract is
// silent.
func WithAssumptions(change func(*Assumptions)) Option {
	return func(s *settings) { change(&s.assume) }
}

// WithAnyAddress lets [Sandbox.Listen], and the URLs of [Sandbox.Subscribe], be
// addresses other than loopback. The sandbox is a test tool with keys that it
// prints: think twice.
func WithAnyAddress() Option {
	return func(s *settings) { s.anywhere = true }
}

// source returns a generator of its own for each purpose, so that drawing dice
// does not change the identifiers of a seeded run.
func (s *settings) source(purpose string) *rand.Rand {
	var seed [32]byte
	if s.seeded {
		copy(seed[:], s.seed[:])
		copy(seed[8:], purpose)
	} else {
		_, _ = crand.Read(seed[:]) // never fails
	}
	return rand.New(rand.NewChaCha8(seed)) //nolint:gosec // repeatable on purpose; nothing here guards anything
}

func (s *settings) directory() []*business {
	list := []*business{{code: DefaultBusiness, name: "Sandbox Trading Company"}}
	for _, added := range s.businesses {
		replaced := false
		for i, known := range list {
			if known.code == added.code {
				list[i], replaced = added, true
			}
		}
		if !replaced {
			list = append(list, added)
		}
	}
	return list
}
