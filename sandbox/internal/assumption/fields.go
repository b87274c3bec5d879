// Package assumption holds the table of what the sandbox assumes where the public contract
// is silent, and reads and writes the assumptions as text.
package assumption

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Defaults sets the fields of a struct to the defaults of the table.
func Defaults(fields any) {
	for _, r := range Table() {
		_ = setText(field(fields, r.Name), r.Default) // a test sets each
	}
}

// Set changes the field with a name to a value in the form of [Text].
func Set(fields any, name, value string) error {
	table := Table()
	i := slices.IndexFunc(table, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return fmt.Errorf("sandbox: no assumption %q", name)
	}
	f := field(fields, name)
	if _, isWord := f.(*string); isWord && table[i].Values() != nil && !slices.Contains(table[i].Values(), value) {
		return fmt.Errorf("sandbox: assumption %s is one of %s, not %q", name, strings.Join(table[i].Values(), ", "), value)
	}
	if err := setText(f, value); err != nil {
		return fmt.Errorf("sandbox: assumption %s: %w", name, err)
	}
	return nil
}

// Text returns the value of the field with a name.
func Text(fields any, name string) string { return textOf(field(fields, name)) }

// field returns a pointer to a field; fields is a pointer to the struct.
func field(fields any, name string) any {
	return reflect.ValueOf(fields).Elem().FieldByName(name).Addr().Interface()
}

// noValues is the text of an empty list.
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

// durationText leaves out the zeros at the end: 24h and not 24h0m0s.
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
