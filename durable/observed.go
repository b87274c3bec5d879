package durable

import (
	"errors"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// kind is what sort of observation it is.
type kind string

const (
	// sawTransaction: an answer, a look-up or an event.
	sawTransaction kind = "transaction"
	// sawRefusal: the service has refused, or the request cannot be made.
	sawRefusal kind = "refused"
	// sawNotDone: the claim's holder has proof that nothing was carried out.
	sawNotDone kind = "not done"
	// sawTooLate: it was never claimed, and is not to be any more.
	sawTooLate kind = "too late"
	// sawNothing: another write was looked for and not found, or not yet.
	sawNothing kind = "nothing"
	// sawReturn: it is in the list of returned transactions.
	sawReturn kind = "returned"
	// sawDone: another write than a transaction was found as it was asked for.
	sawDone kind = "done"
	// sawConflict: the service has a transaction of the order that is not this payment, or
	// does not let this follow-up be made: a person has to find out.
	sawConflict kind = "conflict"
	// sawDecision: a person has decided.
	sawDecision kind = "decision"
)

// observed is what was seen of a payment: by the answer to its request, by a look-up,
// an event, the list of returns, the comparison or a person.
type observed struct {
	Kind kind      `json:"kind"`
	At   time.Time `json:"at"`
	// Of is the key of the intent that was sent or looked for; "" where it was none.
	Of string `json:"of,omitempty"`
	// Claim is that of the process that sent it; "" for everyone else.
	Claim string              `json:"claim,omitempty"`
	Seen  resolve.Observation `json:"seen,omitzero"`
	// Receipt, Total and the others are what the transaction says, where it was read.
	Receipt   string              `json:"receipt,omitempty"`
	Total     decimal.NullDecimal `json:"total,omitzero"`
	SettlesOn quickstream.Date    `json:"settlesOn,omitzero"`
	Attempts  int                 `json:"attempts,omitempty"`
	Problem   string              `json:"problem,omitempty"`
	Decision  *Decision           `json:"decision,omitempty"`
}

// ofTransaction is the observation of a transaction that was read.
func ofTransaction(t *quickstream.Transaction, at time.Time) observed {
	o := observed{Kind: sawTransaction, At: at, Seen: resolve.ObserveTransaction(t), Receipt: t.ReceiptNumber, SettlesOn: t.SettlementDate}
	if t.TotalAmount != nil {
		o.Total = decimal.NewNullDecimal(t.TotalAmount.Amount)
	}
	return o
}

// ofAnswer is the observation that the process which claimed a payment makes of its own
// request. Only what was never sent may be sent again by itself: a 401, a 429 and a 503, in
// the service's own words too, may answer a second request that something in front of it
// has made of the first.
func ofAnswer(t *quickstream.Transaction, err error, claim string, at time.Time) observed {
	if err == nil {
		o := ofTransaction(t, at)
		o.Claim = claim
		return o
	}
	o := observed{Kind: sawTransaction, At: at, Claim: claim, Seen: resolve.Observation{Result: resolve.LookupFailed}, Problem: err.Error()}
	unknown, isUnknown := errors.AsType[*quickstream.UnknownOutcomeError](err)
	api, answered := errors.AsType[*quickstream.APIError](err)
	switch {
	case isUnknown:
		o.Attempts = unknown.Attempts
		if unknown.Intent != nil {
			o.Receipt = unknown.Intent.ReceiptNumber
		}
	case errors.Is(err, quickstream.ErrNotSent):
		o.Kind, o.Seen = sawNotDone, resolve.Observation{}
	case answered && stops(err):
		o.Attempts = api.Attempts
	case answered:
		o.Kind, o.Seen = sawRefusal, resolve.Observation{}
	} // any other error is not one of the client's, and proves nothing
	return o
}
