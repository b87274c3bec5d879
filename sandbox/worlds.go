package sandbox

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
)

// World is one answer to every question that the public contract leaves open: a
// value for each dimension. Most dimensions are assumptions, which [WithWorld]
// puts in force. The others are what happens to the merchant, which the sandbox
// does not play by itself: ask [World.Value] and [World.Faults].
//
// The zero World has the defaults. Worlds print as what is different from that.
type World struct {
	dimensions []Dimension
	choice     []int // by dimension; without any this is the default world
}

// Dimension is one question, with the values that worlds give it. The first is
// the default.
type Dimension struct {
	Name   string
	Values []string
}

// Dimensions returns all dimensions: first the assumptions that have more than
// one value, and then the merchant's own.
func Dimensions() []Dimension { return append(assumedDimensions(), merchantDimensions()...) }

func assumedDimensions() (list []Dimension) {
	for _, a := range DefaultAssumptions().List() {
		if a.Worlds != nil {
			list = append(list, Dimension{a.Name, a.Worlds})
		}
	}
	return list
}

// tripled names the dimensions of which every triple of values occurs in the
// covering set.
//
//nolint:gochecknoglobals // an immutable table
var tripled = []string{
	"EchoedReferences", "ClockSkew", "DateHeaderRight", "AmountForm", "FollowUpAmounts", "LookupLag", "ReferenceSearch", "ReusedReferences",
	"RefundReferences", "KeyLifetime", "KeyMismatch", "CutOffHour", "SettlementDays", "LateSettlementDate", DimensionFault,
}

// Worlds returns n worlds. The first is the default one; those that follow cover
// every pair of values, and those that follow then every triple over the
// dimensions that have cost money. They are the same in every run. After the
// covering set worlds are drawn by the seed. When n is not positive, the worlds are
// the covering set.
func Worlds(seed uint64, n int) iter.Seq[World] {
	return func(yield func(World) bool) {
		dimensions := Dimensions()
		sizes, core := shape(dimensions)
		cover := newCovering(sizes, core)
		made := 0
		for ; n <= 0 || made < n; made++ {
			choice, more := cover.next()
			if !more {
				break
			}
			if !yield(World{dimensions, choice}) {
				return
			}
		}
		dice := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // repeatable on purpose
		for ; made < n; made++ {
			if !yield(World{dimensions, drawn(sizes, dice)}) {
				return
			}
		}
	}
}

// shape tells how many values each dimension has, and which are tripled.
func shape(dimensions []Dimension) (sizes, core []int) {
	for i, d := range dimensions {
		sizes = append(sizes, len(d.Values))
		if slices.Contains(tripled, d.Name) {
			core = append(core, i)
		}
	}
	return sizes, core
}

func drawn(sizes []int, dice *rand.Rand) []int {
	choice := make([]int, len(sizes))
	for i, size := range sizes {
		choice[i] = dice.IntN(size)
	}
	return choice
}

// Value returns the world's value of a dimension, and an empty text when there is
// no such dimension.
func (w World) Value(dimension string) string {
	if w.choice == nil {
		w.dimensions = Dimensions()
		w.choice = make([]int, len(w.dimensions))
	}
	for i, d := range w.dimensions {
		if d.Name == dimension {
			return d.Values[w.choice[i]]
		}
	}
	return ""
}

// defaultWorld is how a world without differences prints.
const defaultWorld = "default"

// String returns the differences from the default world, such as "LookupLag=5m
// Fault=lostAfterCommit". [ParseWorld] reads it.
func (w World) String() string {
	var words []string
	for i, v := range w.choice {
		if d := w.dimensions[i]; v != 0 {
			words = append(words, d.Name+"="+d.Values[v])
		}
	}
	if len(words) == 0 {
		return defaultWorld
	}
	return strings.Join(words, " ")
}

// ParseWorld reads what [World.String] printed: differences from the default
// world, in any order.
func ParseWorld(text string) (World, error) {
	dimensions := Dimensions()
	w := World{dimensions, make([]int, len(dimensions))}
	words := strings.Fields(text)
	if text == defaultWorld {
		words = nil
	}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		i := slices.IndexFunc(dimensions, func(d Dimension) bool { return d.Name == name })
		if i < 0 {
			return World{}, fmt.Errorf("sandbox: no dimension %q", name)
		}
		v := slices.Index(dimensions[i].Values, value)
		if v < 0 {
			return World{}, fmt.Errorf("sandbox: dimension %s has no value %q; it has %s", name, value, strings.Join(dimensions[i].Values, ", "))
		}
		w.choice[i] = v
	}
	return w, nil
}

// WithWorld makes the assumptions of a world. Options before and after it count as
// usual: the last one that changes an assumption wins, and a world says nothing
// about assumptions that are at their default in it.
func WithWorld(w World) Option {
	return func(s *settings) {
		for i, d := range assumedDimensions() {
			if w.choice != nil && w.choice[i] != 0 {
				_ = s.assume.Set(d.Name, d.Values[w.choice[i]]) // the values of the table are readable: a test sets each
			}
		}
	}
}
