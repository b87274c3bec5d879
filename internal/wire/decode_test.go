package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everything has a field of every kind that Decode meets in the models, and of
// some that it leaves to encoding/json.
type everything struct {
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
	RawOrNot *json.RawMessage  `json:"rawOrNot"`
	Upper    upper             `json:"upper"`
	Uppers   []*upper          `json:"uppers"`
	Strict   strict            `json:"strict"`
	StrictP  *strict           `json:"strictP"`
	Unnamed  string
	Skipped  string `json:"-"`
	embedded
	hidden string //nolint:unused // not a member
}

type (
	kind     string
	embedded struct {
		Promoted string `json:"promoted"`
	}
	inner struct {
		A string `json:"a"`
		B *inner2
	}
	inner2 struct {
		C int `json:"c"`
	}
	// upper reads texts by UnmarshalText, strict any JSON by UnmarshalJSON.
	upper  string
	strict struct{ json string }
)

func (u *upper) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("empty")
	}
	*u = upper(strings.ToUpper(string(text)))
	return nil
}

func (s *strict) UnmarshalJSON(data []byte) error {
	s.json = string(data)
	if s.json == `"refused"` {
		return errors.New("refused")
	}
	return nil
}

// compare decodes with Decode and with encoding/json.
func compare(data []byte) error {
	var got, want everything
	err, wantErr := Decode(data, &got), json.Unmarshal(data, &want)
	if wantErr == nil && utf8.Valid(data) {
		wantErr = reference(data)
	}
	switch {
	case (err == nil) != (wantErr == nil) && utf8.Valid(data):
		return fmt.Errorf("%q: %w", data, cmp.Or(err, wantErr))
	case wantErr != nil && err == nil:
		return fmt.Errorf("%q was read, encoding/json: %w", data, wantErr)
	case errors.Is(wantErr, ErrDuplicateMember) && !errors.Is(err, ErrDuplicateMember):
		return fmt.Errorf("%q: %w, want %w", data, err, wantErr)
	case err == nil && !reflect.DeepEqual(got, want):
		return fmt.Errorf("%q: %+v, encoding/json: %+v", data, got, want)
	}
	return nil
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

func TestDecodeMeansWhatJSONMeans(t *testing.T) {
	tried := 0
	for _, field := range reflect.VisibleFields(reflect.TypeFor[everything]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		for _, name := range []string{name, field.Name, strings.ToUpper(field.Name), "unknown", `\u0074ext`} {
			for _, value := range values() {
				tried++
				for _, data := range []string{
					`{"` + name + `":` + value + `}`,
					" {\t\"before\" : [ 1 ] ,\r\n\"" + name + "\" : " + value + " , \"after\":{} } ",
					`{"flag":true,"` + name + `":` + value + `}`,
					`{"` + name + `":` + value + `,"text":"x"}`,
				} {
					if err := compare([]byte(data)); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
	for _, data := range values() {
		if err := compare([]byte(data)); err != nil {
			t.Error(err)
		}
	}
	assert.Greater(t, tried, 5000)
}

type (
	tree   struct{ Children []tree }
	chain  struct{ Next *chain }
	forest []forest
)

// TestDecodeOfOtherTypes: those that no model needs are left to encoding/json.
func TestDecodeOfOtherTypes(t *testing.T) {
	same(t, tree{}, `{"children":[{"Children":[]},{}]}`, `{"children":[{"Children":[{"a":1,"a":1}]}]}`)
	same(t, chain{}, `{"next":{"next":{"next":null}}}`, `{"next":[]}`)
	same(t, forest{}, `[[],[[],null]]`, `[1]`)
	same(t, struct {
		*inner
		N uint
	}{}, `{"n":3}`, `{"n":-1}`)
	same(t, struct {
		*Embedded
		N uint
	}{}, `{"n":3,"deep":"x"}`, `{"deep":1}`, `{"deep":"x","Deep":"y"}`)
	same(t, struct {
		N int `json:"n,string"`
	}{}, `{"n":"3"}`, `{"n":3}`)
	same(t, struct{ N json.Number }{}, `{"n":3.50}`, `{"n":"3.50"}`, `{"n":"x"}`)
	same(t, struct {
		Embedded
		Other string `json:"deep"`
	}{}, `{"deep":"x"}`)
	same(t, struct {
		None string `json:"-"`
		Some string
	}{}, `{"-":"x","none":"y","some":"w"}`)
	same(t, struct {
		kind
		Kind kind
	}{}, `{"kind":"x"}`)
	same(t, map[string][]int{}, `{"a":[1],"A":[2]}`, `{"a":[1],"a":[2]}`)
	same(t, [2]int{}, `[1,2,3]`, `["x"]`)
	same(t, any(nil), `{"a":[1,{"b":null}]}`, `{"a":[1,{"b":null,"B":1}]}`)
}

// Embedded is exported, so that encoding/json can make one.
type Embedded struct{ Deep string }

func same[T any](t *testing.T, _ T, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		var got, want T
		err, wantErr := Decode([]byte(body), &got), json.Unmarshal([]byte(body), &want)
		if wantErr == nil {
			wantErr = reference([]byte(body))
		}
		if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%T: %s: %+v, %v; encoding/json: %+v, %v", want, body, got, err, want, wantErr)
		}
	}
}

func TestDecodeSaysWhere(t *testing.T) {
	var into everything
	err := Decode([]byte(`{"pointer":{"B":{"c":"4111111111111111"}}}`), &into)
	require.Error(t, err)
	assert.Equal(t, "pointer: B: c: a JSON value of another type than expected", err.Error())
}

func TestDecodeRepeatsNothing(t *testing.T) {
	for _, field := range []string{"text", "flag", "count", "inner", "list", "texts", "upper", "unknown"} {
		for _, value := range []string{`41111111x`, `{"41111111":1,"41111111":2}`, `"41111111`, `[41111111x]`, `41111111.5`} {
			var into everything
			if err := Decode([]byte(`{"`+field+`":`+value+`}`), &into); err != nil {
				assert.NotContains(t, err.Error(), "4111", field)
			}
		}
	}
}

// TestDecodeOwnsWhatItRead: the data may be used again afterwards.
func TestDecodeOwnsWhatItRead(t *testing.T) {
	data := []byte(`{"text":"before","raw":["before"],"metadata":{"before":"before"},"strict":"before"}`)
	var got, want everything
	require.NoError(t, Decode(data, &got))
	require.NoError(t, Decode(slices.Clone(data), &want))
	clear(data)
	assert.Equal(t, want, got)
}

// selfish decodes itself, which as a member of another it is asked to.
type selfish struct {
	Name string
	Own  bool
}

func (s *selfish) UnmarshalJSON(data []byte) error {
	s.Own = true
	return Decode(data, s)
}

func TestDecodeOfWhatDecodesItself(t *testing.T) {
	var alone selfish
	require.NoError(t, Decode([]byte(`{"name":"x"}`), &alone))
	assert.Equal(t, selfish{Name: "x"}, alone)
	var within struct{ Member selfish }
	require.NoError(t, Decode([]byte(`{"member":{"name":"x"}}`), &within))
	assert.Equal(t, selfish{Name: "x", Own: true}, within.Member)
}

// TestSpans: a span is what stands there, without a copy of it, and no less JSON
// than what is decoded.
func TestSpans(t *testing.T) {
	var list struct{ Data Spans }
	data := []byte(`{"data":[ {"a": 1} ,null,"x",[1.50]]}`)
	require.NoError(t, Decode(data, &list))
	assert.Equal(t, Spans{Span(`{"a": 1}`), Span(`null`), Span(`"x"`), Span(`[1.50]`)}, list.Data)
	clear(data)
	assert.Equal(t, Span{0, 0, 0, 0}, list.Data[1])
	for _, bad := range []string{`{"data":[{"a":1,"A":2}]}`, `{"data":[{"a":01}]}`, `{"data":[{}`, `{"data":[nul]}`, `{"data":[{}],"data":[]}`, `{"data":{"a":1}}`, `{"data":"x"}`} {
		assert.Error(t, Decode([]byte(bad), &list), bad)
	}
	for body, there := range map[string]bool{`{}`: false, `{"data":null}`: true, `{"data":[]}`: true, `{"data":{}}`: true} {
		list.Data = nil
		require.NoError(t, Decode([]byte(body), &list))
		assert.Equal(t, there, list.Data != nil, body)
		assert.Empty(t, list.Data)
	}
}

// TestDecodeConcurrently has many goroutines ask for readers of types that were
// never decoded before.
func TestDecodeConcurrently(t *testing.T) {
	type only struct {
		A []*struct{ B *struct{ C string } }
	}
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			var into only
			if assert.NoError(t, Decode([]byte(`{"a":[{"b":{"c":"x"}}]}`), &into)) {
				assert.Equal(t, "x", into.A[0].B.C)
			}
		})
	}
	wait.Wait()
}

func FuzzDecode(f *testing.F) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[everything]()) {
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
