// Package quickstream is a client for the Westpac QuickStream payments REST API. It is unofficial:
// not made, endorsed or supported by the vendor.
//
// # Getting started
//
// Make one [Client] and use it from all goroutines:
//
//	client, err := quickstream.NewClient(quickstream.TestAU, quickstream.KeysFromEnv())
//
// The service has a secret key for servers and a publishable key for browsers. Methods need the
// secret key unless their documentation names the other. [Client.Check] tests address, network and
// key. Package sandbox simulates the service for tests.
//
// Operations are grouped by resource: Customers, Accounts, SingleUseTokens, Transactions, PayTo,
// PaymentFiles, RecurringPayments, Businesses, APIKeys. Methods check their parameters before they
// send anything. [Client.Do] calls operations without a method.
//
// # Taking a payment
//
//	payment, err := client.Transactions.Pay(ctx, quickstream.PayParams{
//		Source:          quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard),
//		PrincipalAmount: decimal.RequireFromString("49.95"),
//		Currency:        quickstream.CurrencyAUD,
//		// and the business, how the customer came to pay, and a reference
//	})
//
// A decline is not an error: [Transaction.Outcome] says how the transaction ended, and
// [Transaction.NextStep] what to do after a decline. [RequireApproved] turns everything but an
// approval into an error.
//
// Not approved does not mean not paid: an unknown, pending or suspended transaction may still take
// the money. Try another card only after [Transaction.Outcome] returned declined or rejected with a
// nil error.
//
// For direct debits from bank accounts there is PayTo: the bank's own pages call moving to it by 2030
// a necessity.
//
// Later operations name the payment's receipt number: [TransactionsService.Refund],
// [TransactionsService.Void], and after [TransactionsService.Preauthorise] a capture, top-up,
// extension or cancellation.
//
// # Terms
//
// A transaction is the service's object, with a receipt number; a payment is one that takes money.
// A write is any request that changes something. An order is the merchant's object that a payment
// is for. A reference is the merchant's text in a write, to find it by. An [Intent] is the stored
// description of a write; a [Claim] gives it to one process. A key is an API key or the
// Idempotency-Key of a request. A facility is the merchant's account with the service.
//
// # Errors
//
// The type of an error says what happened. errors.Is finds the reason: [ErrNotFound], [ErrInvalid]
// and others.
//
//	*ValidationError      the request breaks a rule; nothing was sent
//	*NetworkError         nothing was sent, or a read failed
//	*APIError             the service refused
//	*UnknownOutcomeError  a write may have been executed
//	*DecodeError          the answer to a read could not be decoded
//	*NotSettledError      the transaction has not ended: do not pay again
//	*DeclinedError        the transaction ended without an approval
//
// Reads return a ValidationError, NetworkError, APIError or DecodeError. Writes return a
// ValidationError, NetworkError, APIError or UnknownOutcomeError. Plan returns a ValidationError.
// Submit before its claim, Resume and ResumeChange return an UnknownOutcomeError.
// Transaction.Outcome returns a NotSettledError, and RequireApproved one of the last two.
//
// "Matches [ErrNotFound]" in the documentation of a method means an [APIError] that does. That of
// every method matches [ErrUnauthorized] if the key is of the wrong kind or has expired.
// [ErrNotSent] matches every error that proves that nothing was sent, such as a [NetworkError] of a
// write. Only then may the same call be made again. An [APIError] of a write says that the service
// refused a request, and not that nothing in between had sent it twice. Where that may be, look its
// intent up before another.
//
// # Unknown outcomes
//
// If the answer to a write is lost, the client cannot know whether money moved, and returns an
// [UnknownOutcomeError]: neither a success nor a failure. Give its [Intent] to
// [TransactionsService.Resume], which looks the write up and sends nothing. Package resolve says
// how long to look, and what to conclude. Do not call Pay before that: every call is a new payment,
// even with the same reference.
//
// Store the intent before you send. [WithBeforeSend] passes it to you before anything is sent,
// so that a crash loses nothing:
//
//	crash when       stored   then
//	nothing is sent  nothing  pay
//	it may be sent   intent   Resume, not Pay
//	it is answered   intent   Resume, not Pay
//	its end is read  outcome  done
//
// A queue that stores its work first uses [TransactionsService.Plan], which sends nothing, and
// [TransactionsService.Submit], which sends the plan once, after a claim. An unclaimed intent can
// be sent at the next start. That an intent from [WithBeforeSend] was never sent is known only
// after two days.
//
// # How a transaction is found
//
// [TransactionsService.Resume] reads the transaction by its receipt number if that is known,
// otherwise all transactions with its payment reference, and for a refund also the refunds of the
// payment. As long as nothing matches, it goes on: with the reference trimmed and in upper and
// lower case, because the service may store it so; for what follows a pre-authorisation, with the
// receipt and the reference of the pre-authorisation; with the customer reference, which costs a
// request for every page of the customer's history; and last with the transactions of [WithScan].
//
// A transaction with the intent's id in its metadata matches. A payment with the id, another
// reference and another amount is a candidate. Without an id, or with one in another case, quoted,
// cut or masked, a transaction matches if it is not older than the intent by the service's clock,
// and agrees in everything that it echoes: payment reference and type (in any case), amount,
// currency, business, account token and customer (of the source), original receipt number,
// authorisation type, end-to-end identifier. The amounts of top-ups, extensions, re-authorisations
// and cancellations are not compared, because the service may show what is held after them.
//
// Candidates are also a transaction with the reference that disagrees, one with the altered id and
// another reference, one with another intent's id that agrees otherwise, and a refund or follow-up
// of the same original with another reference (see [WithForeignReceipts]). What was not searched by
// the intent's reference, and carries neither that nor the id, is a candidate only if it agrees in
// everything.
//
// If another transaction may have the reference, one without an id is a candidate once the client
// has seen that the service shows ids (see Intent.IDsShown). Otherwise the time has to prove that this
// one is not older, or it is a candidate: it is at most two seconds older than the intent by the Date
// headers, which have whole seconds and lag, so a little over three; before the look-up; of a known
// settlement date that is not earlier; and not too old if its time is Sydney's under another label,
// such as Z. A receipt that is listed with two outcomes counts as GET
// /transactions/{receiptNumber} shows it.
//
// An approval settles the intent if all other matches took no money. Two approvals are candidates:
// the order is charged twice. A decline settles the intent if that was sent once, and no other
// transaction has its id or a reference that this package made; otherwise it is a candidate,
// because another transaction may still appear. A list of several pages is read until two readings
// agree. Only an empty list, or a 404 in the service's own words, says that there is nothing. The
// look-up fails if anything cannot be read, and on status 206, a list with errors in place of
// items, a gateway's 404, and a 404 of the refunds of a payment that cannot be read.
//
// # Retries
//
// In this table pay is POST /transactions, 3D Secure authentication and single-use tokens: for these
// the service documents its Idempotency-Key, or repeating is harmless. POST is any other, and PUT
// is PATCH too.
//
//	what happened       GET  pay  POST  PUT
//	success             ok   ok   ok    ok
//	never sent          r N  r N  r N   r N
//	lost after sending  r N  k U  U     U
//	context ended       N    U    U     U
//	inconclusive        r A  U    U     U
//	503, own words      r A  A    A     A
//	503 on 3D Secure    A    A    A     A
//	refused with 429    r A  A    A     A
//	refused             A    A    A     A
//	3xx, not followed   A    U    U     U
//
// r retries, k sends again with the same key, and what follows is how the call ends when that does
// not help: N is a [NetworkError], A an [APIError] (a [DecodeError] for an undecodable success), U
// an [UnknownOutcomeError]. The context ended after something was sent; own words are the
// service's. [BusinessesService.QueryCardSurcharge] counts as a GET. A POST of [Client.Do] counts
// as any other, and its DELETE as PUT.
//
// A refusal has the status 400, 401, 403, 404, 405, 406, 409, 411, 413, 414, 415, 422 or 429. A
// write is refused only in the service's own words, because a gateway may answer so after the
// service has executed the write. They are a JSON error body with a customerMessage or
// developerMessage, or with a list of errors that names a field (fieldName), and without a
// receiptNumber or summaryCode. Its status, requestMethod and requestUrl, if it has them, are those
// of the call; of the address the end of the path counts, and of the status its number. Public client
// code shows this form; unconfirmed. [WithRefusal] accepts other refusals.
//
// An answer is inconclusive if it is
//
//   - any other status, such as 408, 425, 500 and 502,
//   - a success that cannot be decoded or is about something else,
//   - a 2xx other than 200, 201, 204, and 202 for a report or [Client.Do],
//   - a 503 that is not in the service's own words,
//   - on a write, a refusal that is not in the service's own words,
//   - a 409 on a POST other than of a customer or a payment file: it may mean a key in use.
//
// Permanent failures, such as an unknown host or an untrusted certificate, are not retried. After a
// 503 in its own words the service has processed no payment, and asks for a new call in 20 seconds.
// A payment that may have arrived is sent again with the same key, but only within a minute of the
// first attempt, because the service does not publish how long it remembers keys. [WithoutResend]
// turns that off.
//
// After an unanswered attempt of a write only a success settles the call, and for a payment only an
// approval: a decline of the second attempt says nothing about the first.
//
// Repeats have a budget, so that clients do not multiply the load of an outage. A client has 10
// tokens for repeated reads and requests that were never sent, and 10 for payments that are sent
// again. A repeat takes one, a success gives a tenth back to both. Without a token a call ends as
// after its last attempt. Repeats because an idle connection had been closed are free.
//
// One attempt is one request: the client's own connections speak HTTP/1.1, and let net/http repeat
// a request only if nothing was written. See [WithHTTPClient] about yours. After their first byte,
// reports are not requested again and payment files are not sent again.
//
// # Lists
//
// Methods for many objects return a [List], which reads pages as needed: range over [List.All].
//
// # Unknown members
//
// Responses keep members without a Go field. Extra returns them, and those that could not be read
// and whose field is zero, by path, such as "creditCard.newMember"; it omits links, which can
// contain account numbers. Raw returns the whole JSON; do not change it. [WithExtraField] adds
// members to requests, and sends a known one in another form.
//
// Texts of one response share memory: one that is kept keeps up to 8 KiB of it. Identifiers do not.
// Use [strings.Clone] for others that you keep in large numbers.
//
// # Contexts
//
// A call ends with its context. If that happens after a payment was sent, the outcome is unknown.
// The context of an HTTP request ends when the browser disconnects: pay with
// [context.WithoutCancel] and a limit, as in the example HttpHandler. Without a limit, a call takes
// as long as [WithTimeout] says, and one that reads a list to its end, such as Resume, as long as the
// list has pages.
//
// # Secrets
//
// Keys, card numbers, CVNs, account numbers and PayIDs have types that no printing or marshalling
// reveals. Errors, logs and observers show route templates and counts; tokens and receipt numbers
// are plain strings for storing, and are not shown.
//
// # Money and dates
//
// Amounts are decimals. More than two decimal places are refused, never rounded. The service's
// dates are Sydney dates. A fact marked as unconfirmed is not part of the service's published
// contract.
package quickstream
