// Package worlds combines possible answers to the questions that the public contract leaves
// open, and draws faults at random. Package sandboxtest runs a test in such worlds; this
// package is for programs that play a world by themselves, and does not import the client.
//
// # What may stay unknown
//
// In some worlds, none of them the default one, a payment whose answer was lost may stay
// unknown for ever:
//
//   - no reference in answers, or a search by prefix; and no metadata
//   - two equal refunds or captures of one transaction, or one top-up or cancellation, that do
//     not show their own reference; and no metadata, or that of the original
//   - an unstable order over more than one page
//   - a 404 for nothing found in a form that a gateway could send (ErrorForm other than object
//     and map)
//   - StatusForm absent, or unlisted words without WithStatusOutcome
//
// If KeyLifetime is 0, a payment that is sent twice is charged twice. If a gateway sends it twice
// (Fault=twice401 and the like), the refusal of the second request does not prove that the first
// was not carried out. If SoftDeclineCodes has codes, a merchant must not say that the service
// retries no declines.
package worlds

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
)

// World has one value for each dimension. Most dimensions are the assumptions of the sandbox, which
// [World.Option] sets. The others are what happens to the merchant: use [World.Value], [World.Faults] and
// [World.MerchantTime]. The zero World has the default of each dimension, and a world prints as its
// differences from that.
type World struct {
	differs map[string]string // by dimension; no defaults
}

// dimension is one open question with its possible values, the default first.
type dimension struct {
	name    string
	values  []string
	hardest string // empty: the default
}

func dimensions() []dimension { return append(assumed(), ofMerchant()...) }

func assumed() (list []dimension) {
	for _, a := range sandbox.DefaultAssumptions().List() {
		list = append(list, dimension{a.Name, a.Worlds, a.Hardest})
	}
	return list
}

// Generate returns n worlds: the default world, [Unkind], worlds that cover every pair of values, all the same
// in every run, and then worlds that the seed draws. If n is not positive, it ends before the drawn ones.
func Generate(seed uint64, n int) iter.Seq[World] {
	return func(yield func(World) bool) {
		all := dimensions()
		sizes := make([]int, len(all))
		for i, d := range all {
			sizes[i] = len(d.values)
		}
		cover, dice := newCovering(sizes), rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // repeatable on purpose
		for made := 0; n <= 0 || made < n; made++ {
			choice := make([]int, len(all))
			switch {
			case made == 0:
				cover.mark(choice)
			case made == 1:
				for i, d := range all {
					choice[i] = max(slices.Index(d.values, d.hardest), 0)
				}
				cover.mark(choice)
			default:
				if choice = cover.next(); choice == nil && n <= 0 {
					return
				}
				if choice == nil {
					choice = drawn(sizes, dice)
				}
			}
			w := World{map[string]string{}}
			for i, d := range all {
				w.set(d, d.values[choice[i]])
			}
			if !yield(w) {
				return
			}
		}
	}
}

func (w World) set(d dimension, value string) {
	if delete(w.differs, d.name); value != d.values[0] {
		w.differs[d.name] = value
	}
}

// Unkind returns the world with the hardest value of each assumption, as [sandbox.Unkind] has it,
// and without a fault. [Parse] takes the word unkind for it.
func Unkind() World {
	w := World{map[string]string{}}
	for _, d := range assumed() {
		w.set(d, d.hardest)
	}
	return w
}

func drawn(sizes []int, dice *rand.Rand) []int {
	choice := make([]int, len(sizes))
	for i, size := range sizes {
		choice[i] = dice.IntN(size)
	}
	return choice
}

// Value returns the world's value of a dimension, such as LookupLag or [Fault], and the
// empty text if there is no such dimension.
func (w World) Value(name string) string {
	for _, d := range dimensions() {
		if d.name == name {
			return cmp.Or(w.differs[name], d.values[0])
		}
	}
	return ""
}

const defaultWorld, unkindWorld = "default", "unkind"

// String returns the differences from the default world, such as "LookupLag=5m
// Fault=lostAfterCommit", or "default". [Parse] reads it.
func (w World) String() string {
	var words []string
	for _, d := range dimensions() {
		if v := w.differs[d.name]; v != "" {
			words = append(words, d.name+"="+v)
		}
	}
	if len(words) == 0 {
		return defaultWorld
	}
	return strings.Join(words, " ")
}

// Parse reads the text of [World.String]: differences from the default world, in any order. They may
// follow the word unkind, and then are differences from that world.
func Parse(text string) (World, error) {
	all := dimensions()
	w := World{map[string]string{}}
	words := strings.Fields(text)
	if len(words) > 0 && words[0] == unkindWorld {
		w, words = Unkind(), words[1:]
	} else if text == defaultWorld {
		words = nil
	}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		i := slices.IndexFunc(all, func(d dimension) bool { return d.name == name })
		if i < 0 {
			return World{}, fmt.Errorf("worlds: no dimension %q", name)
		}
		if !slices.Contains(all[i].values, value) {
			return World{}, fmt.Errorf("worlds: dimension %s has no value %q; it has %s", name, value, strings.Join(all[i].values, ", "))
		}
		w.set(all[i], value)
	}
	return w, nil
}

// Option gives a sandbox the assumptions of the world that differ from the default.
func (w World) Option() sandbox.Option {
	return sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		for name, value := range w.differs {
			_ = a.Set(name, value) // the others are the merchant's; a test sets each value
		}
	})
}
