package webhooks_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/printtest"
	"github.com/quickstream-go/quickstream/webhooks"
)

// The data of a notification names people. Methods hide it when a value is printed, but not if the
// value is in a field, nor in XML, gob or the JSON of a logger, nor in the differences that tests
// print.
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
		values[kind+" notification"], values[kind+" event"] = n, event
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
		require.Error(t, err)
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
}
