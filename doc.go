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
// Approved does not mean final: a bank account payment can come back for three banking days
// ([Transaction.MayBeReturned]), and a pre-authorisation only holds the money. [PayToService.Collect]
// is the exception: nil means accepted, and usually pending. A read makes no error of a decline: see
// [Transaction.Outcome].
//
// "This call took nothing" says nothing about other calls. An order is free if no other call for it is
// approved, pending, unknown or under way: keep a unique row, as examples/backend does.
//
// # Getting started
//
// Make one [Client], check it, and use it from all goroutines:
//
//	client, err := quickstream.NewClient(quickstream.TestAU, quickstream.KeysFromEnv())
//	err = client.Check(ctx) // address, network and key
//
// Servers have a secret key and browsers a publishable one. Package sandbox simulates the service.
// Methods check their parameters before they send anything, with amounts as decimals: more than two
// decimal places are refused, never rounded. Dates are Sydney's. [Client.Do] calls operations without
// a method.
//
// A write is any request that changes something, and an [Intent] its stored description. A facility is
// the merchant's account with the service. Facts marked as unconfirmed are not in its published contract.
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
// errors.Is finds the reason, such as [ErrInvalid] or [ErrUnauthorized]. [ErrNotSent] matches every
// error that proves that nothing was sent. "Matches [ErrNotFound]" in the documentation of a method
// means an [APIError] that does. Errors, logs and observers show no keys, card or account numbers.
//
// # Unknown outcomes
//
// If an answer is lost, the client cannot know whether money moved. After of package resolve says what
// a call came to, and how long to look. Store the [Intent] before you send, with [WithBeforeSend]:
// after a crash it is looked up, and never paid again. Queues use [TransactionsService.Plan] and
// Submit. If the context ends after a payment was sent, the outcome is unknown too: pay with
// [context.WithoutCancel] and a limit.
//
// # Retries
//
// In this table pay is POST /transactions, 3D Secure authentication and single-use tokens: for these the
// service documents its Idempotency-Key, or repeating is harmless. POST is any other, and PUT is PATCH too.
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
// r retries, k sends again with the same key, and what follows is how the call ends when that does
// not help: N is a [NetworkError], A an [APIError] (a [DecodeError] for an undecodable success), U
// an [UnknownOutcomeError]. The error body is the service's. [BusinessesService.QueryCardSurcharge] counts
// as a GET.
//
// A refusal has the status 400, 401, 403, 404, 405, 406, 409, 411, 413, 414, 415, 422 or 429. A write is
// refused only in the service's error body, because a gateway may answer so after the service has
// executed it: JSON with a customerMessage or developerMessage, or with errors that name a field, or
// with any listed error of a 422, and without a receiptNumber or summaryCode. What it shows of status,
// method and address is that of the call. [WithRefusal] accepts others. Everything else is
// inconclusive: other statuses, a success about something else, and a 409 on a POST.
//
// A payment that may have arrived is sent again only within a minute, with the same key;
// [WithoutResend] sends nothing again. After an unanswered attempt only an approval settles a payment:
// a decline of the second attempt says nothing about the first.
//
// A client has 10 tokens for repeats of reads and of what was never sent, and 10 for payments that are
// sent again. A repeat takes one, and a success gives a tenth back. One attempt is one request: the
// client's own connections speak HTTP/1.1. See [WithHTTPClient] about yours.
//
// Responses keep members without a Go field: Extra returns them, and Raw the whole JSON.
package quickstream
