package webhooks_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/printtest"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// blanks is a body of white space that counts how much of it was read.
type blanks struct{ read, left int }

func (b *blanks) Read(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.read, b.left = b.read+n, b.left-n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (b *blanks) Close() error { return nil }

// strangers sends a handler bodies of the largest size under headers that cannot be
// right, and returns how much of them it read.
func strangers(t *testing.T, h http.Handler) (read int) {
	t.Helper()
	for range 20 {
		for _, values := range [][]string{
			nil,
			{""},
			{"x"},
			{"t=1707312770123"},
			{"v1=00"},
			{"t=1707312770,v1=00"},
			{"t=1707312770123,v1="},
			{"t=1707312770123,v1=00", "t=1707312770123,v1=00"},
			{"t=1707312770123" + strings.Repeat(",v1=00", 6)},
			{strings.Repeat(" ", 1<<14)},
		} {
			body := &blanks{left: webhooks.DefaultMaxBody}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header[signature.Header] = values
			if w := post(h, r); w.Code != http.StatusUnauthorized {
				t.Errorf("%q: answered %d", values, w.Code)
			}
			read += body.read
		}
	}
	return read
}

// 200 strangers at once made a handler hold 253 MiB when it read their bodies before it
// looked at the form of the header.
func TestAttackRow11HeaderBeforeBody(t *testing.T) {
	t.Parallel()
	if read := strangers(t, webhooks.NewHandler(newVerifier(t), new(calls).handle)); read != 0 {
		t.Errorf("%d bytes were read", read)
	}
}

// naiveEvent hides its data by the methods that printing asks for.
type naiveEvent struct{ Agreement *quickstream.Agreement }

func (naiveEvent) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "event") }
func (naiveEvent) LogValue() slog.Value       { return slog.StringValue("event") }

// What a notification says names people. Methods hide it from the printing of a value,
// and not where the value stands in a field, in XML, gob or the JSON of a logger, nor in
// the differences that tests print.
func TestAttackRow07NotificationData(t *testing.T) {
	t.Parallel()
	quoted, _ := json.Marshal(currentSecret)
	values := map[string]any{}
	for kind, data := range map[string]string{
		"payto.agreement.confirmed": strings.Replace(agreementData, `"Canary Payer"`, string(quoted), 1),
		"payto.payment.approved":    strings.Replace(transactionData, `{`, `{"comment":`+string(quoted)+`,`, 1),
		"x":                         fmt.Sprintf(`{"a":%[1]s,"receiptNumber":%[1]s,"agreementToken":%[1]s}`, quoted),
	} {
		n := parse(t, `{"id":"1","eventType":"`+kind+`","note":`+string(quoted)+`,"data":`+data+`}`)
		event, err := n.Event()
		if err != nil || !shows(dataOf(t, n)) || !shows(string(n.Raw())) {
			t.Fatalf("%s lacks its data: %v", kind, err)
		}
		values[kind+" notification"], values[kind+" event"], values[kind+" failure"] = n, event, webhooks.Failure{Notification: n}
		values[kind+" event by value"] = reflect.ValueOf(event).Elem().Interface()
	}
	for _, bad := range []string{
		`{"id":%s}`, `{"id":"1","eventType":"payto.payment.approved","data":%s}`,
		`{"id":"1","eventType":"payto.payment.approved","data":{"receiptNumber":"1","status":[%s]}}`,
		`{"id":"1","eventType":"payto.payment.approved","data":{"receiptNumber":"1","principalAmount":{"currency":"AUD","amount":%s}}}`,
		`{"id":"1","eventType":"payto.payment.approved","data":{"receiptNumber":{%s:1}}}`,
	} {
		n, err := webhooks.Parse(fmt.Appendf(nil, bad, quoted))
		if err == nil {
			_, err = n.Event()
		}
		if err == nil {
			t.Fatalf("%s was understood", bad)
		}
		values["error of "+bad] = err
	}
	for name, v := range values {
		found := false
		for _, v := range []any{v, &v, struct{ V any }{v}, struct{ v any }{v}, []any{v}, map[string]any{"v": v}} {
			found = found || shows(printtest.Printed(v))
		}
		if found || printtest.Reachable(v, secrets()...) {
			t.Errorf("%s shows its data", name)
		}
	}
	agreement := eventOf[*webhooks.AgreementEvent](t, parse(t, `{"id":"1","eventType":"payto.agreement.confirmed","data":`+
		strings.Replace(agreementData, `"Canary Payer"`, string(quoted), 1)+`}`)).Agreement()
	naive := naiveEvent{agreement}
	if !shows(printtest.Printed(naive)) || !printtest.Reachable(naive, secrets()...) || shows(fmt.Sprintf("%v %+v %#v", naive, naive, naive)) {
		t.Error("the naive event does not fall for it")
	}
}

// A proxy, or a stranger, sends the header twice, in two ways of writing its name: for
// HTTP both are one header, which is refused. A
// map in which a name has another form than HTTP gives it has no such header at all.
func TestAttackHeaderInTwoCases(t *testing.T) {
	t.Parallel()
	genuine := signed(t, confirmedBody).Header.Get(signature.Header)
	forged := "t=1707312770123,v1=" + strings.Repeat("0", 64)
	for _, test := range [][2]string{{genuine, forged}, {forged, genuine}, {genuine, genuine}, {genuine, ""}} {
		raw := fmt.Sprintf("POST /webhooks HTTP/1.1\r\nHost: merchant.localhost\r\nx-webhook-signature: %s\r\nX-WEBHOOK-SIGNATURE: %s\r\nContent-Length: %d\r\n\r\n%s",
			test[0], test[1], len(confirmedBody), confirmedBody)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if w := post(webhooks.NewHandler(newVerifier(t), new(calls).handle), r); w.Code == http.StatusOK {
			t.Errorf("%q: answered %d", test, w.Code)
		}
	}
	lower := http.Header{"x-webhook-signature": {genuine}}
	if _, err := newVerifier(t).VerifyBody(lower, []byte(confirmedBody)); !errors.Is(err, signature.ErrMissing) {
		t.Errorf("got %v", err)
	}
	lower.Set(signature.Header, forged)
	if _, err := newVerifier(t).VerifyBody(lower, []byte(confirmedBody)); !errors.Is(err, signature.ErrMismatch) {
		t.Errorf("got %v", err)
	}
}

// A byte order mark in front of the body is part of what is signed: with it, the body is
// another one, and signed with it, it is no notification.
func TestAttackByteOrderMark(t *testing.T) {
	t.Parallel()
	const mark = "\ufeff"
	h := webhooks.NewHandler(newVerifier(t), new(calls).handle)
	for _, test := range []struct {
		signed, sent string
		want         int
	}{
		{confirmedBody, confirmedBody, http.StatusOK},
		{confirmedBody, mark + confirmedBody, http.StatusUnauthorized},
		{mark + confirmedBody, confirmedBody, http.StatusUnauthorized},
		{mark + confirmedBody, mark + confirmedBody, http.StatusBadRequest},
	} {
		r := signed(t, test.sent)
		r.Header.Set(signature.Header, signed(t, test.signed).Header.Get(signature.Header))
		if w := post(h, r); w.Code != test.want {
			t.Errorf("%.9q signed as %.9q: answered %d, want %d", test.sent, test.signed, w.Code, test.want)
		}
	}
}
