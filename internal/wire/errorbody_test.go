package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseErrorBody(t *testing.T) {
	for body, want := range map[string]ErrorBody{
		`{"customerMessage":"c","developerMessage":"d","traceCode":"t","errors":[{"fieldName":"f","fieldValue":"4111111111111111","messages":["m","n"]}]}`: {
			CustomerMessage: "c", DeveloperMessage: "d", TraceCode: "t", Fields: []FieldError{{"f", []string{"m", "n"}}}, FromService: true,
		},
		`{"customerMessage":"c","errors":null}`:                                 {CustomerMessage: "c", FromService: true},
		`{"developerMessage":"d","errors":{"fieldName":"f"}}`:                   {DeveloperMessage: "d", FromService: true, Fields: []FieldError{{"f", nil}}},
		`{"customerMessage":"c","errors":["f",{"fieldName":"g"}]}`:              {CustomerMessage: "c", FromService: true, Fields: []FieldError{{"", []string{"f"}}, {"g", nil}}},
		`{"errors":{"b":["m","n",7],"a":"o","c":{"value":"4111111111111111"}}}`: {Fields: []FieldError{{"a", []string{"o"}}, {"b", []string{"m", "n"}}, {"c", nil}}},
		`{"errors":"m"}`: {Fields: []FieldError{{"", []string{"m"}}}},
		`{"errors":[]}`:  {}, `{"errors":{}}`: {}, `{"errors":7}`: {}, `{"errors":[null,7,[],["m"]]}`: {Fields: []FieldError{{"", []string{"m"}}}},
		`[{"fieldName":"f","fieldValue":"4111111111111111","messages":["m"]},{"fieldName":"g","messages":"n"}]`: {Fields: []FieldError{{"f", []string{"m"}}, {"g", []string{"n"}}}},
		`["f is missing","g is too long"]`:       {Fields: []FieldError{{"", []string{"f is missing"}}, {"", []string{"g is too long"}}}},
		`{"status":"422","customerMessage":"c"}`: {CustomerMessage: "c", FromService: true}, `{"status":422,"customerMessage":"c"}`: {CustomerMessage: "c", FromService: true},
		`{"customerMessage":"c","new":{"a":1,"A":2}}`: {CustomerMessage: "c", FromService: true}, `{"customerMessage":"c","CustomerMessage":"d"}`: {CustomerMessage: "c"},
		`{"customerMessage":["c"],"developerMessage":7,"traceCode":"t"}`:        {TraceCode: "t"},
		`{"traceCode":"t","errors":[{"fieldName":7,"messages":"m"},{}]}`:        {TraceCode: "t", Fields: []FieldError{{"", []string{"m"}}}},
		`{"traceCode":"t","errors":[{"fieldName":"f","messages":{"a":["b"]}}]}`: {TraceCode: "t", FromService: true, Fields: []FieldError{{"f", nil}}},
		`{"status":503,"requestUrl":"https://h.invalid/x"}`:                     {},
		`{"customerMessage":"c","customerMessage":"c"}`:                         {CustomerMessage: "c"},

		`{"traceCode":"t"}`: {TraceCode: "t"},
	} {
		read := ParseErrorBody([]byte(body))
		read.errors = nil
		assert.Equal(t, want, read, body)
	}
}

// TestLists: a 422 lists errors if there is a text, in a list or by the name of a member of the request.
func TestLists(t *testing.T) {
	request := `{"principalAmount":1,"creditCard":{"cvn":"1"},"metadata":{"message":"m"}}`
	for body, lists := range map[string]bool{
		`{"errors":["Amount is invalid"]}`: true, `{"errors":["", "bad"]}`: true, `{"errors":{"principalAmount":["bad"]}}`: true,
		`{"errors":{"principalAmount":"bad"}}`: true, `{"errors":{"creditCard.cvn":["bad"]}}`: true, `{"errors":{"cvn":["bad"]}}`: true,
		`{"errors":[]}`: false, `{"errors":[" "]}`: false, `{"errors":[{"code":1015}]}`: false, `[{"code":1015}]`: false, `["bad"]`: false,
		`{"errors":{"message":["upstream timeout"]}}`: false, `{"errors":{"principalAmount":[]}}`: false, `{"errors":"bad"}`: false,
		`{"errors":["bad"],"receiptNumber":"1"}`: false, `{"errors":["bad"],"summaryCode":"0"}`: false, `{"errors":["bad"],"Errors":[]}`: false,
		``: false, `<html>`: false, `{}`: false,
	} {
		assert.Equal(t, lists, ParseErrorBody([]byte(body)).Lists([]byte(request)), body)
	}
	assert.False(t, ParseErrorBody([]byte(`{"errors":{"principalAmount":["bad"]}}`)).Lists(nil), "a request without a body has no member")
}

// TestOwnWords: a list of errors with the name of a field is the service's, as a message is.
// Members that decide stand there once, and not in another case.
func TestOwnWords(t *testing.T) {
	for body, own := range map[string]bool{
		`{"customerMessage":"c","receiptNumber":"R"}`: false, `{"customerMessage":"c","summaryCode":0}`: false, `{"customerMessage":"c","receiptNumber":null}`: true,
		`{"errors":[{"fieldName":"f"}]}`: true, `{"errors":["text",null,7,{},{"fieldName":"f","new":{}}]}`: true, `{"errors":[{"fieldName":"4111111111111111"}]}`: true,
		`{"customerMessage":"c","errors":{"code":429}}`: true, `{"customerMessage":"c","errors":"text"}`: true, `{"customerMessage":"","errors":[{"fieldName":"f"}]}`: true,

		`{"errors":{"code":429}}`: false, `{"errors":["text"]}`: false, `{"errors":[{"fieldName":""}]}`: false, `{"errors":[{"fieldName":" \n"}]}`: false,
		`{"errors":[{"fieldName":7}]}`: false, `{"errors":[{"fieldName":null}]}`: false, `{"errors":[{"fieldName":["f"]}]}`: false, `{"errors":[{"fieldName":{"f":"f"}}]}`: false,
		`{"errors":{"fieldName":"f"}}`: false, `{"errors":[[{"fieldName":"f"}]]}`: false, `{"errors":"[{\"fieldName\":\"f\"}]"}`: false, `{"errors":[{"messages":["m"]}]}`: false,
		`[{"fieldName":"f"}]`: false, `[{"errors":[{"fieldName":"f"}]}]`: false, `{"error":[{"fieldName":"f"}]}`: false, `{"fieldName":"f"}`: false, `{"errors":[{"fieldName":"f"}]} {}`: false,
		`{"errors":[{"fieldName":"f","fieldName":"f"}]}`: false, `{"errors":[{"fieldName":"f","FieldName":"f"}]}`: false, `{"errors":[{"FieldName":"f"}]}`: false,
		`{"errors":[{"fieldName":"f"}],"errors":[{"fieldName":"f"}]}`: false, `{"errors":[],"errors":[{"fieldName":"f"}]}`: false, `{"errors":[{"fieldName":"f"}],"Errors":[]}`: false,
		`{"customerMessage":"c","errors":[],"errors":[]}`: false, `{"customerMessage":"c","customerMessage":"c","errors":[{"fieldName":"f"}]}`: false, `{"customerMessage":["c"],"errors":[{"fieldName":"f"}]}`: false,
		"{\"errors\":[{\"fieldName\":\"\xff\"}]}": false, `{"errors":[{"fieldName":"\ud800"}]}`: false, `{"errors":[{"fieldName":"f"}`: false,
	} {
		assert.Equal(t, own, ParseErrorBody([]byte(body)).FromService, body)
	}
}

func TestScrub(t *testing.T) {
	for body, want := range map[string]string{
		`{"errors":[{"fieldName":"cardNumber","fieldValue":"4111111111111111","messages":["m"]}]}`: `{"errors":[{"fieldName":"cardNumber","messages":["m"]}]}`,
		`{"FIELDVALUE":{"a":["4111111111111111"]},"a":1.10}`:                                       `{"a":1.10}`,
		`[[{"x":{"fieldvalue":1,"y":2}}]]`:                                                         `[[{"x":{"y":2}}]]`,
		`{"requestUrl":"https://h.invalid/t/for-bank-account?accountNumber=999994"}`:               `{"requestUrl":"https://h.invalid/t/for-bank-account"}`,
		`{"links":[{"href":"https://key@h.invalid/t?a=1"}]}`:                                       `{"links":[{"href":"https://h.invalid/t"}]}`,
		`{"requestUrl":"/rest/v1/transactions/for-bank-account?accountNumber=999994"}`:             `{"requestUrl":"/rest/v1/transactions/for-bank-account"}`,
		`{"requestUrl":"for-bank-account?accountNumber=999994"}`:                                   `{"requestUrl":"for-bank-account"}`,
		`{"requestUrl":"https://h.invalid/t?accountNumber=%zz999994"}`:                             `{"requestUrl":"https://h.invalid/t"}`,
		`{"developerMessage":"GET https://k:s@h.invalid/t?accountNumber=999994 was refused"}`:      `{"developerMessage":"GET https://h.invalid/t was refused"}`,
		`{"developerMessage":"Is the card valid? <Try> another."}`:                                 `{"developerMessage":"Is the card valid? <Try> another."}`,
		`{"traceCode":"1:2","n":12345678901234567890.10}`:                                          `{"n":12345678901234567890.10,"traceCode":"1:2"}`,
		`<html>503</html>`: `<html>503</html>`,
		``:                 ``,
	} {
		assert.Equal(t, want, string(Scrub([]byte(body))), body)
	}
}

// TestScrubOfBrokenBodies: a body that ends in the middle, because the connection
// broke or because it is longer than what is kept, holds the refused value all
// the same.
func TestScrubOfBrokenBodies(t *testing.T) {
	whole := `{"customerMessage":"c","errors":[{"fieldName":"cardNumber","fieldValue":"4111111111111111","messages":["m"]}],"status":422}`
	for cut := range whole {
		if strings.Contains(string(Scrub([]byte(whole[:cut]))), "411111111") {
			t.Fatalf("%d bytes show the value", cut)
		}
	}
	for _, body := range []string{
		`{"FieldValue" : "4111111111111111"`, whole + `}`, `<pre>` + whole, `{"fieldValue":["x","4111111111111111"],`,
		strings.Repeat(" ", 100) + whole[:len(whole)-1],
	} {
		assert.NotContains(t, string(Scrub([]byte(body))), "4111111111111111", body)
	}
}

func FuzzScrub(f *testing.F) {
	f.Add([]byte(`{"errors":[{"fieldValue":"x"}],"requestUrl":"https://h.invalid/?x"}`))
	f.Add([]byte(`[{"fieldName":"a"},["b"]]`))
	f.Add([]byte(`{"errors":{"code":429}}`))
	f.Add([]byte(`{"errors":["text",{"fieldName":7},{"fieldName":"f"}]}`))
	f.Add([]byte(`{"a":"https://u@h.invalid/x?y#z ??","FieldVALUE":1`))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		_, _ = ParseErrorBody(data), IsAbout(data, 422, "POST", "/transactions")
		clean := Scrub(data)
		if !bytes.Equal(data, before) {
			t.Fatalf("%q became %q", before, data)
		}
		var tree any
		if json.Unmarshal(data, &tree) != nil {
			if sentText.Match(clean) {
				t.Fatalf("%q is scrubbed to %q", data, clean)
			}
			return
		}
		if err := json.Unmarshal(clean, &tree); err != nil || !isScrubbed(tree) {
			t.Fatalf("%q is scrubbed to %q: %v", data, clean, err)
		}
	})
}

func isScrubbed(tree any) bool {
	switch node := tree.(type) {
	case map[string]any:
		for name, value := range node {
			if strings.EqualFold(name, "fieldValue") || !isScrubbed(value) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(node, func(item any) bool { return !isScrubbed(item) })
	case string:
		return !queryPart.MatchString(node)
	}
	return true
}
