package durable

import (
	"errors"
	"net/http"
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
	// sawConflict: the service has a transaction of the order that is not this payment.
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
// request. An error that proves that nothing was carried out is one that may be made
// good by another attempt.
func ofAnswer(t *quickstream.Transaction, err error, claim string, at time.Time) observed {
	var unknown *quickstream.UnknownOutcomeError
	var api *quickstream.APIError
	switch {
	case err == nil:
		o := ofTransaction(t, at)
		o.Claim = claim
		return o
	case errors.As(err, &unknown):
		o := observed{Kind: sawTransaction, At: at, Claim: claim, Seen: resolve.Observation{Sighting: resolve.SawError}, Attempts: unknown.Attempts, Problem: err.Error()}
		if unknown.Intent != nil {
			o.Receipt = unknown.Intent.ReceiptNumber
		}
		return o
	case errors.Is(err, quickstream.ErrNotSent), errors.Is(err, quickstream.ErrRateLimited), errors.Is(err, quickstream.ErrUnavailable),
		errors.As(err, &api) && api.StatusCode == http.StatusUnauthorized:
		return observed{Kind: sawNotDone, At: at, Claim: claim, Problem: err.Error()}
	case errors.As(err, &api):
		return observed{Kind: sawRefusal, At: at, Claim: claim, Problem: err.Error()}
	default: // not one of the client's: nothing is proven
		return observed{Kind: sawTransaction, At: at, Claim: claim, Seen: resolve.Observation{Sighting: resolve.SawError}, Problem: err.Error()}
	}
}
