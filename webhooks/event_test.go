package webhooks_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/webhooks"
)

func TestEventByType(t *testing.T) {
	t.Parallel()
	const agreement, payment, unknown, refused = "*webhooks.AgreementEvent", "*webhooks.PaymentEvent", "*webhooks.UnknownEvent", "<nil>"
	for _, test := range []struct{ eventType, data, want string }{
		{"payto.agreement.confirmed", agreementData, agreement},
		{"payto.agreement.declined", agreementData, agreement},
		{"payto.agreement.expired", agreementData, agreement},
		{"payto.agreement.recalled", agreementData, agreement},
		{"payto.agreement.unheard-of", agreementData, agreement},
		{"payto.agreement.unheard-of", `{"canary":"canary"}`, unknown},
		{"payto.payment.unheard-of", agreementData, unknown},
		{"payto.payment.unheard-of", `[1]`, unknown},
		{"payto.payment.unheard-of", `null`, unknown},
		{"payto.payment.approved", transactionData, payment},
		{"payto.payment.unheard-of", transactionData, payment},
		{"payto.agreements.confirmed", agreementData, unknown},
		{"payto.payment", transactionData, unknown},
		{"PayTo.agreement.confirmed", agreementData, unknown},
		{"payid.created", `[1]`, unknown},
		// What an event carries is not up to the data.
		{"payto.agreement.confirmed", transactionData, refused},
		{"payto.payment.approved", agreementData, refused},
		{"payto.agreement.confirmed", `null`, refused},
		{"payto.agreement.confirmed", `[]`, refused},
		{"payto.agreement.confirmed", `{}`, refused},
		{"payto.agreement.confirmed", `{"agreementToken":{}}`, refused},
		{"payto.payment.approved", `{}`, refused},
		{"payto.payment.approved", `"1000000001"`, refused},
		// What decides stands there once, under no other name; anything else may be twice.
		{"payto.agreement.confirmed", `{"agreementToken":"AGR0001","status":"PENDING","status":"ACTIVE"}`, refused},
		{"payto.agreement.confirmed", `{"agreementToken":"AGR0001","status":"PENDING","ſtatus":"ACTIVE"}`, refused},
		{"payto.agreement.confirmed", `{"agreementToken":"AGR0001","AgreementToken":"AGR0002"}`, refused},
		{"payto.payment.approved", `{"receiptNumber":"1000000001","receiptNumber":"1000000002"}`, refused},
		{"payto.payment.approved", `{"receiptNumber":"1000000001","status":"Declined","Status":"Approved"}`, refused},
		{"payto.agreement.confirmed", `{"agreementToken":"AGR0001","new":{"a":1,"A":2,"a":3},"new":4,"NEW":5}`, agreement},
		{"payto.payment.approved", `{"receiptNumber":"1000000001","comment":"a","comment":"b","metadata":{"a":"1","A":"2"}}`, payment},
	} {
		n := parse(t, `{"id":"1","eventType":"`+test.eventType+`","data":`+test.data+`}`)
		event, err := n.Event()
		assert.Equal(t, test.want, fmt.Sprintf("%T", event))
		if _, typed := errors.AsType[*webhooks.ParseError](err); typed != (test.want == refused) {
			t.Errorf("%s of %s: %v", test.eventType, test.data, err)
		}
		if again, _ := n.Event(); again != event {
			t.Errorf("%s: another event when asked again", test.eventType)
		}
	}
	if event, err := (&webhooks.Notification{ID: "1", EventType: "x"}).Event(); err != nil || event.(*webhooks.UnknownEvent).Data() != nil {
		t.Errorf("a notification that was not parsed: %v, %v", event, err)
	}
}
