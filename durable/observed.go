package durable

import (
	"errors"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// observation is what sort of observation it is.
type observation string

const (
	// sawTransaction: an answer, a look-up or an event.
	sawTransaction observation = "transaction"
	// sawRefusal: the service has refused, or the request cannot be made.
	sawRefusal observation = "refused"
	// sawPermit: the claim's holder got an answer that permits another send.
	sawPermit observation = "permit"
	// sawTooLate: it is not to be sent any more, and no other process may have sent it.
	sawTooLate observation = "too_late"
	// sawNothing: another write than a transaction was looked up and not found, or not yet.
	sawNothing observation = "nothing"
	// sawReturn: it is in the list of returned transactions.
	sawReturn observation = "returned"
	// sawDone: another write than a transaction was found as it was asked for.
	sawDone observation = "done"
	// sawConflict: the service has a transaction of the order that is not this payment: a person has to
	// find out.
	sawConflict observation = "conflict"
	// sawDecision: a person has decided.
	sawDecision observation = "decision"
)

// observed is what was observed of a write: by the answer to its request, by a look-up,
// an event, the list of returns, the comparison or a person.
type observed struct {
	Kind observation `json:"kind"`
	At   time.Time   `json:"at"`
	// Sends is how often the write was sent when it was looked up; 0 if that does not matter.
	Sends int `json:"sends,omitempty"`
	// Claim is that of the process that sent it; "" for all others.
	Claim  string              `json:"claim,omitempty"`
	Permit permit              `json:"permit,omitempty"`
	Seen   resolve.Observation `json:"seen,omitzero"`
	// Receipt, Total and the others are what the transaction says, if it was read.
	Receipt   string              `json:"receipt,omitempty"`
	Total     decimal.NullDecimal `json:"total,omitzero"`
	SettlesOn quickstream.Date    `json:"settlesOn,omitzero"`
	Attempts  int                 `json:"attempts,omitempty"`
	// Resent means that the client has sent the request again within the call.
	Resent   bool     `json:"resent,omitempty"`
	Problem  string   `json:"problem,omitempty"`
	Decision *verdict `json:"decision,omitempty"`
}

// ofTransaction is the observation of a transaction that was read.
func ofTransaction(t *quickstream.Transaction, at time.Time) observed {
	o := observed{Kind: sawTransaction, At: at, Seen: resolve.Observe(t, nil), Receipt: t.ReceiptNumber, SettlesOn: t.SettlementDate}
	if t.TotalAmount != nil {
		o.Total = decimal.NewNullDecimal(t.TotalAmount.Amount)
	}
	return o
}

// answeredWith returns the transaction that the service answered with; nil for none, and for one that is looked up
// because it contradicts the request: a void that is not answered as voided, or a payment that is.
func answeredWith(t *quickstream.Transaction, err error) *quickstream.Transaction {
	if err == nil {
		return t
	}
	if declined, is := errors.AsType[*quickstream.DeclinedError](err); is {
		return declined.Transaction
	}
	if pending, is := errors.AsType[*quickstream.PendingError](err); is {
		return pending.Transaction
	}
	if unknown, is := errors.AsType[*quickstream.UnknownOutcomeError](err); is && unknown.Operation != quickstream.OperationVoid && !unknown.Transaction.Outcome().Final() {
		return unknown.Transaction
	}
	return nil
}

// ofAnswer is the observation that the process which claimed a write makes of its own request: see
// resendRules for what may be sent again.
func ofAnswer(t *quickstream.Transaction, err error, claim string, at time.Time) observed {
	if shown := answeredWith(t, err); shown != nil {
		o := ofTransaction(shown, at)
		o.Claim = claim
		o.Resent = shown.Intent() != nil && shown.Intent().Resent
		return o
	}
	o := observed{Kind: sawTransaction, At: at, Claim: claim, Seen: resolve.Observation{Result: resolve.LookupFailed}, Problem: problemOf(err)}
	unknown, isUnknown := errors.AsType[*quickstream.UnknownOutcomeError](err)
	api, refused := errors.AsType[*quickstream.APIError](err)
	permitted := permitOf(err)
	switch {
	case isUnknown:
		o.Attempts = unknown.Attempts
		if unknown.Intent != nil {
			o.Receipt = unknown.Intent.ReceiptNumber
		}
	case permitted != permitNone:
		o.Kind, o.Permit, o.Seen = sawPermit, permitted, resolve.Observation{}
	case refused && stops(err):
		o.Attempts = api.Attempts
	case refused:
		o.Kind, o.Seen = sawRefusal, resolve.Observation{}
	} // any other error is not one of the client's, and proves nothing
	return o
}
