// Package quickstream is a client for the Westpac QuickStream payments REST API. It is unofficial:
// not made, endorsed or supported by the vendor. The error of a payment says what to do:
//
//	_, err := client.Transactions.Pay(ctx, params, quickstream.WithIdempotencyKey(storedKey))
//	switch {
//	case err == nil:
//		// approved
//	case errors.Is(err, quickstream.ErrDeclined):
//		// not paid: ask for another card, if the service does not retry ([WithFinalDeclines])
//	case errors.Is(err, quickstream.ErrPending), errors.Is(err, quickstream.ErrOutcomeUnknown):
//		// hold the order, do not call again: resolve.After(nil, err, time.Now())
//	default:
//		// this call took nothing
//	}
//
// Approved does not mean final: a bank can return a bank account payment for three banking days
// ([Transaction.MayBeReturned]), and a pre-authorisation only holds the money.
// [PayToService.Collect] is the exception: nil means accepted, and usually pending. A read of a
// declined transaction is no error: see [Transaction.Outcome].
//
// "This call took nothing" says nothing about other calls. An order may be paid again only if no other call
// for it is approved, pending, unknown or under way: let a unique row check that, as examples/backend does.
//
// # Getting started
//
// Make one [Client], check it, and use it from all goroutines:
//
//	client, err := quickstream.NewClient(quickstream.TestAU, quickstream.KeysFromEnv())
//	err = client.Check(ctx) // address, network and key
//
// Servers use the secret key, and browsers the publishable one. Package sandbox simulates the
// service. Methods check their parameters before they send anything. Amounts are decimals: more
// than two decimal places are refused, never rounded. Dates are taken for Sydney dates, which is unconfirmed.
// [Client.Do] calls operations that have no method.
//
// A write is any request that changes something, and an [Intent] is its stored description. A facility is
// the merchant's account with the service. Facts marked as unconfirmed are not in the published contract.
//
// # Errors
//
//	*ValidationError      the request breaks a rule; nothing was sent
//	*NetworkError         nothing was sent, or a read failed
//	*APIError             the service refused: this call took nothing
//	*DeclinedError        declined or rejected: no money was taken
//	*PendingError         pending, or suspended by fraud screening: do not call again
//	*UnknownOutcomeError  the write may have been executed: do not call again
//	*DecodeError          the answer to a read could not be decoded
//
// errors.Is finds the reason, such as [ErrInvalid] or [ErrUnauthorized]. Every error that proves that
// nothing was sent matches [ErrNotSent]. If a method's documentation says "matches [ErrNotFound]", the
// error is an [APIError], or says that a list has no such entry. Errors, logs and observers show no keys, card or account numbers.
//
// # Unknown outcomes
//
// If an answer is lost, the client cannot know whether money moved. Function After of package
// resolve says how the call ended, and when to look the payment up. Store the [Intent] before you
// send, with [WithBeforeSend]: after a crash look it up, and never pay again. Queues use
// [TransactionsService.Plan] and Submit. If the context ends after a payment was sent, the outcome
// is unknown too: pay with [context.WithoutCancel] and a time limit.
//
// # Retries
//
// In this table pay is POST /transactions, 3D Secure authentication and single-use tokens: they have a
// documented Idempotency-Key, or are harmless to repeat. POST is any other, and PUT includes PATCH.
//
//	what happened       GET  pay  POST  PUT
//	success             ok   ok   ok    ok
//	never sent          r N  r N  r N   r N
//	lost after sending  r N  k U  U     U
//	context ended       N    U    U     U
//	inconclusive        r A  U    U     U
//	503, error body     r A  A    A     A
//	503 on 3D Secure    A    A    A     A
//	refused with 429    r A  A    A     A
//	refused             A    A    A     A
//	3xx, not followed   A    U    U     U
//
// r retries, and k sends again with the same key. N, A or U is how the call ends if that does not
// help: N is a [NetworkError], A an [APIError] (a [DecodeError] if a success cannot be decoded), U
// an [UnknownOutcomeError]. The error body is the service's. [BusinessesService.QueryCardSurcharge]
// counts as a GET.
//
// A refusal has the status 400, 401, 403, 404, 405, 406, 409, 411, 413, 414, 415, 422 or 429. For a
// write it also needs the service's error body, because a proxy or gateway can refuse a write that the
// service has executed. That body is JSON with a customerMessage or developerMessage, with errors that
// name a field, or for a 422 with errors as texts. It has no receiptNumber and no summaryCode, and a
// status, method or address in it is the call's. [WithRefusal] accepts others. Everything else is
// inconclusive: other statuses, a success about something else, and a 409 on a POST.
//
// A payment that may have arrived is sent again only with the same key, and within a minute of the
// first attempt; [WithoutResend] prevents that. After an unanswered attempt only an approval
// settles a payment: a decline of the second attempt says nothing about the first.
//
// A client has 10 tokens to repeat reads and requests that were never sent, and 10 to send payments
// again. A repeat takes a token, and a success gives a tenth back. One attempt is one request: the
// client's own connections speak HTTP/1.1. For your own see [WithHTTPClient].
//
// Responses keep members without a Go field: Extra returns them, and Raw the whole JSON.
package quickstream
