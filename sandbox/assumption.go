package sandbox

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Assumption describes one field of [Assumptions].
type Assumption struct {
	Group string // what it is about
	Name  string // the field
	Value string // in force, as [Assumptions.Set] takes it
	Known string // what public sources say
	Why   string // the reason for the default
	// Worlds are the values that [Worlds] tries, the default first; none when
	// all worlds have the default.
	Worlds []string
}

// assumption is a row of the table of assumptions: one field of the struct that
// the table was made from, and what is known about it.
type assumption struct {
	group      string
	name       string
	field      any // a pointer to the field
	known, why string
	others     []string // the values of other worlds, beside the default
}

func row(name string, field any, known, why string, others ...string) assumption {
	return assumption{name: name, field: field, known: known, why: why, others: others}
}

// worlds are the values that worlds have, of which the first is that of the row of
// defaults.
func (r assumption) worlds(usual assumption) []string {
	if len(r.others) == 0 {
		return nil
	}
	return append([]string{textOf(usual.field)}, r.others...)
}

// List describes every assumption with its value in force.
func (a Assumptions) List() []Assumption {
	usual := DefaultAssumptions()
	defaults := usual.rows()
	rows := a.rows()
	list := make([]Assumption, 0, len(rows))
	for i, r := range rows {
		list = append(list, Assumption{
			Group: r.group, Name: r.name, Value: textOf(r.field), Known: r.known, Why: r.why, Worlds: r.worlds(defaults[i]),
		})
	}
	return list
}

// Set changes the assumption with a name to a value in the form that
// [Assumptions.List] prints.
func (a *Assumptions) Set(name, value string) error {
	usual := DefaultAssumptions()
	rows := a.rows()
	i := slices.IndexFunc(rows, func(r assumption) bool { return r.name == name })
	if i < 0 {
		return fmt.Errorf("sandbox: no assumption %q", name)
	}
	words := rows[i].worlds(usual.rows()[i])
	if _, isWord := rows[i].field.(*string); isWord && words != nil && !slices.Contains(words, value) {
		return fmt.Errorf("sandbox: assumption %s is one of %s, not %q", name, strings.Join(words, ", "), value)
	}
	if err := setText(rows[i].field, value); err != nil {
		return fmt.Errorf("sandbox: assumption %s: %w", name, err)
	}
	return nil
}

// noValues is the text of a list without values.
const noValues = "none"

func textOf(field any) string {
	switch f := field.(type) {
	case *bool:
		return strconv.FormatBool(*f)
	case *int:
		return strconv.Itoa(*f)
	case *string:
		return *f
	case *time.Duration:
		return durationText(*f)
	case *[]string:
		return listText(*f, func(s string) string { return s })
	case *[]int:
		return listText(*f, strconv.Itoa)
	case *[]time.Duration:
		return listText(*f, durationText)
	default:
		return ""
	}
}

func setText(field any, text string) (err error) {
	switch f := field.(type) {
	case *bool:
		*f, err = strconv.ParseBool(text)
	case *int:
		*f, err = strconv.Atoi(text)
	case *string:
		*f = text
	case *time.Duration:
		*f, err = time.ParseDuration(text)
	case *[]string:
		*f, err = parseList(text, func(s string) (string, error) { return s, nil })
	case *[]int:
		*f, err = parseList(text, strconv.Atoi)
	case *[]time.Duration:
		*f, err = parseList(text, time.ParseDuration)
	}
	return err
}

func listText[T any](list []T, text func(T) string) string {
	if len(list) == 0 {
		return noValues
	}
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = text(v)
	}
	return strings.Join(words, ",")
}

func parseList[T any](text string, parse func(string) (T, error)) (list []T, err error) {
	if text == noValues {
		return nil, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		v, err := parse(word)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// durationText leaves out the zeros that time.Duration prints: 24h and not 24h0m0s.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
