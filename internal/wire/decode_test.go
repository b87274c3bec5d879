package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lenient has a field of every kind that Decode meets in the models, and of some that
// it leaves to encoding/json. Its members inform.
type lenient struct {
	Text     string            `json:"text,omitempty"`
	Kind     kind              `json:"kind"`
	Optional *string           `json:"optional"`
	Flag     bool              `json:"flag"`
	Maybe    *bool             `json:"maybe"`
	Count    int               `json:"count"`
	Large    int64             `json:"large"`
	Small    int8              `json:"small"`
	Rate     float64           `json:"rate"`
	Inner    inner             `json:"inner"`
	Pointer  *inner            `json:"pointer"`
	List     []inner           `json:"list"`
	Pointers []*inner          `json:"pointers"`
	Texts    []string          `json:"texts"`
	Nested   [][]int           `json:"nested"`
	Bytes    []byte            `json:"bytes"`
	Metadata map[string]string `json:"metadata"`
	Any      any               `json:"any"`
	Raw      json.RawMessage   `json:"raw"`
	Upper    upper             `json:"upper"`
	Uppers   []*upper          `json:"uppers"`
	Picky    picky             `json:"picky"`
	PickyP   *picky            `json:"pickyP"`
	Untagged string
	Skipped  string `json:"-"`
	Embedded
	hidden string //nolint:unused // not a member
}

// strict is the same, with members that decide.
type strict struct {
	Text     string            `json:"text,omitempty" wire:"decides"`
	Kind     kind              `json:"kind" wire:"decides"`
	Optional *string           `json:"optional" wire:"decides"`
	Flag     bool              `json:"flag" wire:"decides"`
	Maybe    *bool             `json:"maybe" wire:"decides"`
	Count    int               `json:"count" wire:"decides"`
	Large    int64             `json:"large" wire:"decides"`
	Small    int8              `json:"small" wire:"decides"`
	Rate     float64           `json:"rate" wire:"decides"`
	Inner    inner             `json:"inner" wire:"decides"`
	Pointer  *inner            `json:"pointer" wire:"decides"`
	List     []inner           `json:"list" wire:"decides"`
	Pointers []*inner          `json:"pointers" wire:"decides"`
	Texts    []string          `json:"texts" wire:"decides"`
	Nested   [][]int           `json:"nested" wire:"decides"`
	Bytes    []byte            `json:"bytes" wire:"decides"`
	Metadata map[string]string `json:"metadata" wire:"decides"`
	Any      any               `json:"any" wire:"decides"`
	Raw      json.RawMessage   `json:"raw" wire:"decides"`
	Upper    upper             `json:"upper" wire:"decides"`
	Uppers   []*upper          `json:"uppers" wire:"decides"`
	Picky    picky             `json:"picky" wire:"decides"`
	PickyP   *picky            `json:"pickyP" wire:"decides"`
	Untagged string
	Skipped  string `json:"-"`
	Embedded
	hidden string //nolint:unused // not a member
}

type (
	kind string
	// Embedded is exported, so that encoding/json can reach it.
	Embedded struct {
		Promoted string `json:"promoted"`
	}
	inner struct {
		A string  `json:"a"`
		B *inner2 `json:"B"`
	}
	inner2 struct {
		C int `json:"c"`
	}
	// upper reads texts by UnmarshalText, picky any JSON by UnmarshalJSON.
	upper string
	picky struct{ json string }
)

func (u *upper) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("empty")
	}
	*u = upper(strings.ToUpper(string(text)))
	return nil
}

func (p *picky) UnmarshalJSON(data []byte) error {
	p.json = string(data)
	if p.json == `"refused"` {
		return errors.New("refused")
	}
	return nil
}

// compare decodes leniently, strictly and with encoding/json. Where we differ from that
// it is on purpose: Decode knows names in one case only, takes numbers for texts, texts
// for whole numbers, what is empty for a list or an object of nothing, any value for a
// text of metadata, and forgives what informs.
func compare(data []byte) error {
	var informing, want lenient
	var deciding strict
	err, strictErr, wantErr := Decode(data, &informing), Decode(data, &deciding), json.Unmarshal(data, &want)
	switch {
	case !utf8.Valid(data):
		if !json.Valid(data) && (err == nil || strictErr == nil) {
			return fmt.Errorf("%q was read", data)
		}
		return nil // TestNotUTF8 says what is read
	case !json.Valid(data):
		if err == nil || strictErr == nil {
			return fmt.Errorf("%q is not JSON and was read", data)
		}
	case err != nil && IsObject(data):
		return fmt.Errorf("%q: what informs failed: %w", data, err)
	case strictErr == nil && !reflect.DeepEqual(informing, lenient(deciding)):
		return fmt.Errorf("%q: %+v, strictly %+v", data, informing, deciding)
	case errors.Is(strictErr, errEncoding) && strings.ContainsRune(fmt.Sprintf("%+v", want), utf8.RuneError):
		return nil // encoding/json puts it there for half a surrogate
	case wantErr == nil && Unambiguous(data) == nil && !folds(data):
		if strictErr != nil {
			return fmt.Errorf("%q is read by encoding/json: %w", data, strictErr)
		}
		if !reflect.DeepEqual(informing, want) {
			return fmt.Errorf("%q: %+v, encoding/json: %+v", data, informing, want)
		}
	}
	return nil
}

// folds reports whether encoding/json might take a name for another one, or what Decode
// reads in its own way is there.
func folds(data []byte) bool {
	for _, own := range []string{"untagged", "skipped", `"metadata":`} {
		if strings.Contains(strings.ToLower(string(data)), own) {
			return true
		}
	}
	decoder, names := json.NewDecoder(strings.NewReader(string(data))), []string{"B"}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[lenient]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	names = append(names, "a", "c")
	decoder.UseNumber()
	for token, err := decoder.Token(); err == nil; token, err = decoder.Token() {
		text, isText := token.(string)
		if isText && !slices.Contains(names, text) && slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, text) }) {
			return true
		}
	}
	return false
}

// values are written for every member of everything in turn, so that each kind
// of field meets each kind of JSON.
func values() []string {
	return []string{
		`null`, `true`, `false`, `0`, `-1`, `7`, `1.0`, `1e2`, `-0`, `127`, `128`, `9223372036854775807`, `9223372036854775808`, `1.5e300`, `1e400`,
		`""`, `"x"`, `"refused"`, `"\u0041\n\/\"\\"`, `"\ud83d\ude00"`, `"\ud83d"`, `"ü€😀"`, "\"\xff\xfe\"", "\"a\x01\"", `"eA=="`, `"\`, `"`,
		`[]`, `[ ]`, `[1,2]`, `[1,]`, `[[1],[],null]`, `["a",null,"b"]`, `[null]`, `[{"a":"1"},null,{"B":{"c":2}}]`, `[`, `[1`, `[1 2]`, `["a","b","c","d","e"]`,
		`{}`, `{ }`, `{"a":"1","b":{"C":3}}`, `{"a":"1","A":"2"}`, `{"x":1,"X":2}`, `{"x":"1","y":"2"}`, `{"new":[{"q":1,"q":1}]}`, `{"a":1}`, `{"a":"1",}`, `{"a"}`, `{`, `{"a":"1"`,
		`tru`, `nul`, `nulll`, `01`, `-`, `.1`, ``,
	}
}

// TestWhatDecides: what is there and cannot be read is never taken for absent.
func TestWhatDecides(t *testing.T) {
	type answer struct {
		ID     string            `json:"id" wire:"decides"`
		Amount *Number           `json:"amount" wire:"decides"`
		Flag   bool              `json:"flag" wire:"decides"`
		Notes  map[string]string `json:"notes" wire:"decides"`
		Price  *struct {
			ID string `json:"id" wire:"decides"`
		} `json:"price"` // informs, unlike what is in it
		Comment string `json:"comment"`
	}
	for body, want := range map[string]string{
		`{"id":"7"}`: "7", `{"id":7}`: "7", `{"id":007}`: "error", `{"id":12345678901234567890123}`: "12345678901234567890123", `{"id":0}`: "0",
		`{"id":7.0}`: "error", `{"id":7e1}`: "error", `{"id":-7}`: "error", `{"id":true}`: "error", `{"id":[]}`: "error", `{"id":{}}`: "error", `{"id":["7"]}`: "error",
		`{"id":null}`: "", `{}`: "", `{"id":""}`: "", `{"id":"7","id":"7"}`: "error", `{"id":"7","\u0069d":"7"}`: "error", `{"id":null,"id":"7"}`: "error",
		`{"ID":"7"}`: "error", `{"id":"7","Id":"8"}`: "error", `{"\u0131d":"7"}`: "",
		`{"price":{"id":7}}`: "", `{"price":{"id":{}}}`: "error", `{"price":{"Id":"7"}}`: "error", `{"price":{"id":"7","id":"7"}}`: "error", `{"price":"free"}`: "",
		`{"comment":{},"id":"7"}`: "7", `{"comment":"a","comment":"b","id":"7"}`: "7", `{"Comment":"a","COMMENT":"b","id":"7"}`: "7", `{"new":{"id":1,"id":2},"id":"7"}`: "7",
		`{"amount":"1,000"}`: "error", `{"amount":{}}`: "error", `{"amount":"","id":"7"}`: "7", `{"flag":"true"}`: "error", `{"flag":1}`: "error",
		`{"notes":{"a":1,"A":2}}`: "", `{"notes":{"a":1,"a":1}}`: "error", `{"notes":[1]}`: "error", `{"notes":"x"}`: "error", `{"notes":[ ]}`: "", `{"notes":""}`: "",
		`{"notes":{"a":{"b":[1]}},"id":"7"}`: "7",
	} {
		var got answer
		err := Decode([]byte(body), &got)
		assert.Equal(t, want == "error", err != nil, "%s: %v", body, err)
		if err == nil {
			assert.Equal(t, want, got.ID, body)
			assert.Nil(t, got.Amount, body)
		}
	}
	var got answer
	require.NoError(t, Decode([]byte(`{"amount":0,"notes":{"t":"x","n":1.50,"z":null,"b":true,"o":{"a": 1}},"comment":-1.5e3}`), &got))
	assert.True(t, got.Amount.Decimal().IsZero())
	assert.Equal(t, map[string]string{"t": "x", "n": "1.50", "z": "", "b": "true", "o": `{"a": 1}`}, got.Notes)
	assert.Equal(t, "-1.5e3", got.Comment)
}

// TestNotUTF8: a text that is not UTF-8 is refused where it decides and as a name. Where it informs
// it ends before the first such byte. Neither is decoded into something larger.
func TestNotUTF8(t *testing.T) {
	type answer struct {
		ID    string            `json:"id" wire:"decides"`
		Text  string            `json:"text"`
		Date  upper             `json:"date"`
		Any   any               `json:"any"`
		Inner *inner            `json:"inner"`
		Notes map[string]string `json:"notes" wire:"decides"`
	}
	for _, bad := range []string{"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"} {
		for body, want := range map[string]*answer{
			`{"text":"a\u00e9b~c"}`: {Text: "aéb"}, `{"text":"~"}`: {}, `{"text":"a\n~\n"}`: {Text: "a\n"}, `{"text":"é~é"}`: {Text: "é"}, `{"text":"\ud83d~\ude00"}`: {Text: "\ufffd"},
			`{"date":"a~","text":"b"}`: {Text: "b"}, `{"any":["a","~"],"text":"b"}`: {Text: "b"}, `{"inner":{"a":"x~"}}`: {Inner: &inner{A: "x"}},
			`{"new":"~"}`: {}, `{"new":{"a":{"~":1}}}`: {}, `{"new":["~"]}`: {},
			`{"id":"a~"}`: nil, `{"id":"~"}`: nil, `{"notes":{"a":"~"}}`: nil, `{"notes":{"~":"a"}}`: nil, `{"notes":{"a":["~"]}}`: nil,
			`{"~":1}`: nil, `{"id":"a","~id":"b"}`: nil, `{"id~":"b"}`: nil, `{"inner":{"~":1}}`: nil, `{"\u0069d~":1}`: nil,
		} {
			var got answer
			err := Decode([]byte(strings.ReplaceAll(body, "~", bad)), &got)
			if want == nil {
				assert.Error(t, err, "%s %q", body, bad)
				continue
			}
			require.NoError(t, err, "%s %q", body, bad)
			assert.Equal(t, *want, got, "%s %q", body, bad)
		}
	}
	var got answer
	require.NoError(t, Decode([]byte(`{"text":"\ud83dx","id\ud83d":"a"}`), &got), "half a character is written in ASCII")
	assert.Equal(t, answer{Text: "\ufffdx"}, got)
}

// TestSpans: a span is what stands there, without a copy of it, and no less JSON
// than what is decoded.
func TestSpans(t *testing.T) {
	var list struct {
		Data Spans `json:"data" wire:"decides"`
	}
	data := []byte(`{"data":[ {"a": 1} ,null,"x",[1.50]]}`)
	require.NoError(t, Decode(data, &list))
	assert.Equal(t, Spans{Span(`{"a": 1}`), Span(`null`), Span(`"x"`), Span(`[1.50]`)}, list.Data)
	clear(data)
	assert.Equal(t, Span{0, 0, 0, 0}, list.Data[1])
	for _, bad := range []string{`{"data":[{"a":01}]}`, `{"data":[{}`, `{"data":[nul]}`, `{"data":[{}],"data":[]}`, `{"data":{"a":1}}`, `{"data":"x"}`} {
		assert.Error(t, Decode([]byte(bad), &list), bad)
	}
	var one struct {
		Data Span `json:"data,omitempty" wire:"decides"`
	}
	for _, same := range []string{`{"data":{"a":[1.50,null]}}`, `{"data":"x"}`, `{}`} {
		one.Data = nil
		require.NoError(t, Decode([]byte(same), &one))
		again, err := Marshal(one)
		require.NoError(t, err)
		assert.Equal(t, same, string(again))
	}
	require.NoError(t, Decode([]byte(`{"data":null}`), &one))
	assert.Nil(t, one.Data)
	assert.Error(t, Decode([]byte(`{"data":{"a":01}}`), &one))
	for body, there := range map[string]bool{`{}`: false, `{"data":null}`: true, `{"data":[]}`: true, `{"data":{}}`: true} {
		list.Data = nil
		require.NoError(t, Decode([]byte(body), &list))
		assert.Equal(t, there, list.Data != nil, body)
		assert.Empty(t, list.Data)
	}
}

func FuzzDecode(f *testing.F) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[lenient]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		for _, value := range values() {
			f.Add([]byte(`{"` + name + `":` + value + `,"texT":"x","inner":{"a":"1"}}`))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := compare(data); err != nil {
			t.Fatal(err)
		}
	})
}
