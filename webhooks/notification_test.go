package webhooks_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/webhooks"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"empty":                "",
		"null":                 "null",
		"array":                "[]",
		"HTML":                 "<html>canary</html>",
		"truncated":            confirmedBody[:len(confirmedBody)-1],
		"second value":         confirmedBody + "{}",
		"no id":                `{"eventType":"x"}`,
		"empty id":             `{"id":"","eventType":"x"}`,
		"fraction as id":       `{"id":12345.0,"eventType":"x"}`,
		"id in other letters":  `{"ID":"1","eventType":"x"}`,
		"id with a blank":      `{"id":"canary 1","eventType":"x"}`,
		"id not ASCII":         `{"id":"canaryé","eventType":"x"}`,
		"id of invalid UTF-8":  "{\"id\":\"canary\xff\",\"eventType\":\"x\"}",
		"id too long":          `{"id":"` + strings.Repeat("a", 256) + `","eventType":"x"}`,
		"no event type":        `{"id":"1"}`,
		"object as event type": `{"id":"1","eventType":{}}`,
		"two ids":              `{"id":"1","id":"2","eventType":"x"}`,
		"two ids, other case":  `{"id":"1","ID":"2","eventType":"x"}`,
		"two event types":      `{"id":"1","eventType":"x","eventType":"y"}`,
		"two kinds of data":    `{"id":"1","eventType":"x","data":{"a":1},"data":{"a":1}}`,
		"too deep":             `{"id":"1","eventType":"x","data":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := webhooks.Parse([]byte(body))
			if _, ok := errors.AsType[*webhooks.ParseError](err); n != nil || !ok {
				t.Fatalf("got %v, %v", n, err)
			}
			assert.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), "canary")
		})
	}
}

func TestNotificationRoundTrip(t *testing.T) {
	t.Parallel()
	body := strings.Replace(confirmedBody, `"eventType"`, `"apiVersion":"v9","eventType"`, 1)
	first := parse(t, body)
	stored := slices.Clone(first.Raw())
	assert.Contains(t, string(stored), `"apiVersion":"v9"`, "an unknown member was lost")
	second := new(webhooks.Notification)
	require.NoError(t, json.Unmarshal(stored, second))
	if first.ID != second.ID || first.EventType != second.EventType || dataOf(t, first) != dataOf(t, second) || first.Digest() != second.Digest() ||
		first.Timestamp.String() != second.Timestamp.String() {
		t.Errorf("stored %s, read %s", first.Raw(), second.Raw())
	}
	// What was read does not depend on the buffer that it was read from.
	clear(stored)
	if dataOf(t, second) != agreementData || !json.Valid(second.Raw()) {
		t.Error("the notification changed with its source")
	}
	// A number is taken by its digits, and is stored as it came.
	const digits = `{"id":17,"eventType":"x","data":{"a":1},"Other":2}`
	if stored := parse(t, digits).Raw(); string(stored) != digits {
		t.Errorf("stored %s, want %s", stored, digits)
	}
	if out, err := json.Marshal([]any{first}); err == nil {
		t.Errorf("marshalled as %s, where a logger would too", out)
	}
	if err := json.Unmarshal([]byte(`{"id":"1"}`), second); err == nil || second.ID != first.ID {
		t.Errorf("an incomplete notification was read: %v, %v", second, err)
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	n := parse(t, confirmedBody)
	for name, test := range map[string]struct {
		body string
		same bool
	}{
		"itself":             {confirmedBody, true},
		"white space":        {strings.NewReplacer(",\"", " ,\n\t\"", ":{", " : { ").Replace(confirmedBody), true},
		"escapes":            {strings.NewReplacer("ACTIVE", `\u0041CTIVE`, "eventType", `event\u0054ype`).Replace(confirmedBody), true},
		"other order":        {`{"data":` + agreementData + `,"eventType":"payto.agreement.confirmed","timestamp":"2024-02-08T00:12:50+1100","id":"5f2c8a54-0001"}`, true},
		"other order inside": {strings.Replace(strings.Replace(confirmedBody, `,"newMember":1`, "", 1), `"status"`, `"newMember":1,"status"`, 1), true},
		"other timestamp":    {strings.Replace(confirmedBody, "00:12:50", "00:17:50", 1), true},
		"other data":         {strings.Replace(confirmedBody, "ACTIVE", "CANCELLED", 1), false},
		"other type":         {strings.Replace(confirmedBody, "agreement.confirmed", "agreement.declined", 1), false},
		"other id":           {strings.Replace(confirmedBody, "54-0001", "54-0002", 1), false},
		"new member":         {strings.Replace(confirmedBody, "{", `{"new":null,`, 1), false},
		"new member inside":  {strings.Replace(confirmedBody, `"status"`, `"new":null,"status"`, 1), false},
		"no member":          {strings.Replace(confirmedBody, `,"newMember":1`, "", 1), false},
		"number as text":     {strings.Replace(confirmedBody, `"newMember":1`, `"newMember":"1"`, 1), false},
		"number as written":  {strings.Replace(confirmedBody, `"newMember":1`, `"newMember":1.0`, 1), false},
		"null":               {strings.Replace(confirmedBody, `"newMember":1`, `"newMember":null`, 1), false},
		"time inside":        {strings.Replace(confirmedBody, "2024-02-08\",", "2024-02-09\",", 1), false},
	} {
		assert.Equal(t, test.same, parse(t, test.body).Digest() == n.Digest(), name)
	}
	assert.Equal(t, parse(t, `{"id":"1","eventType":"x"}`).Digest(), (&webhooks.Notification{ID: "1", EventType: "x"}).Digest(), "a notification that was not parsed has the digest")
}

// Digests are stored, so that no later version of this package or of Go may compute
// others: the order of members, and how numbers and texts are written, also those that are not UTF-8.
func TestDigestStays(t *testing.T) {
	t.Parallel()
	const body = `{"id":"1","timestamp":"2024-02-08T00:12:50+1100","eventType":"x","data":{"z":[1.50,-0,1e3,12345678901234567890.123456789],
		"é":"\u00e9<&\u003e\u2028\b\u000c\u0007\"\\\/😀` + "\xff\xfe" + `","B":null,"a":{"b":true}}}`
	const meaning = `{"data":{"B":null,"a":{"b":true},"z":[1.50,-0,1e3,12345678901234567890.123456789],` +
		`"é":"é<&>\u2028\b\f\u0007\"\\/😀` + "\x7f" + `"},"eventType":"x","id":"1"}`
	if got, want := parse(t, body).Digest(), fmt.Sprintf("%x", sha256.Sum256([]byte(meaning))); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{confirmedBody, approvedBody, "null", `{"id":"1","ID":"2","eventType":"x"}`, `{"id":"1","eventType":"x","data":null}`, `{"id":"1","eventTYpe":"x","other":null}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		n, err := webhooks.Parse(body)
		if err != nil {
			if _, ok := errors.AsType[*webhooks.ParseError](err); !ok || n != nil {
				t.Fatalf("got %v, %v", n, err)
			}
			return
		}
		if n.ID == "" || n.EventType == "" {
			t.Fatal("an incomplete notification was accepted")
		}
		event, err := n.Event()
		switch event := event.(type) {
		case *webhooks.AgreementEvent:
			if event.Agreement().AgreementToken == "" {
				t.Fatal("an agreement without token was accepted")
			}
		case *webhooks.PaymentEvent:
			if event.Transaction().ReceiptNumber == "" {
				t.Fatal("a transaction without receipt number was accepted")
			}
		}
		if (event == nil) != (err != nil) {
			t.Fatalf("got %v, %v", event, err)
		}
		stored, err := json.Marshal(n.Raw()) // as a column for JSON may rewrite it
		if err != nil {
			t.Fatal(err)
		}
		again, err := webhooks.Parse(stored)
		if err != nil {
			t.Fatalf("%s was stored as %s, which cannot be read: %v", body, stored, err)
		}
		if again.ID != n.ID || again.EventType != n.EventType || !again.Timestamp.Equal(n.Timestamp.Time) || again.Digest() != n.Digest() {
			t.Fatalf("%s was stored as %s", body, stored)
		}
	})
}
