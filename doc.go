// Package quickstream is a client for the Westpac QuickStream payments REST API.
// It is unofficial: not made, endorsed or supported by the vendor.
//
// # Getting started
//
// A [Client] is made once and used by all goroutines:
//
//	client, err := quickstream.NewClient(quickstream.TestAU, quickstream.KeysFromEnv())
//
// The service has a secret key, for servers, and a publishable key, for making
// single-use tokens. Methods need the secret key where they do not name the
// publishable one. [Client.Check] tests address, network and key before the first
// payment does. Package sandbox is the service for tests: it needs no account.
//
// Operations are grouped by resource: Customers, Accounts, SingleUseTokens,
// Transactions, PayTo, PaymentFiles, RecurringPayments, Businesses, APIKeys. Each is
// one method with one struct of parameters, and checks everything that can be judged
// locally before anything is sent. [Client.Do] calls what has no method.
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
// A decline is not a Go error: the transaction exists, and [Transaction.Outcome] says
// how it ended, or returns an error while it has not. [RequireApproved] makes an error
// of everything but an approval, and [Transaction.NextStep] says what helps after a
// decline.
//
// Not approved does not mean not paid: a transaction that is unknown, pending or suspended
// may still take the money. Try another card only after [Transaction.Outcome] returned
// declined or rejected with a nil error.
//
// What follows a payment names its receipt number: [TransactionsService.Refund],
// [TransactionsService.Void], and after [TransactionsService.Preauthorise] a capture,
// top-up, extension or cancellation.
//
// # Errors
//
// The type of an error says what happened, and errors.Is finds why: [ErrNotFound],
// [ErrInvalid], [ErrRateLimited] and so on.
//
//	*ValidationError      the request cannot be right; nothing was sent
//	*NetworkError         nothing was sent, or a read failed on the way
//	*APIError             the service refused
//	*UnknownOutcomeError  a write may or may not have happened
//	*DecodeError          the answer to a read could not be understood
//	*NotSettledError      the transaction has not ended: hold it, and do not pay again
//	*DeclinedError        it has ended, and not in an approval
//
// Which methods return which:
//
//	                               Validation  Network  API  Unknown  Decode  NotSettled  Declined
//	reads: Get, List, First, …     yes         yes      yes  no       yes     no          no
//	writes: Pay, Create, Void, …   yes         yes      yes  yes      no      no          no
//	Submit, once claimed           no          yes      yes  yes      no      no          no
//	Submit, before                 no          no       no   yes      no      no          no
//	Plan, PlanVoid                 yes         no       no   no       no      no          no
//	Resume, ResumeChange           no          no       no   yes      no      no          no
//	Transaction.Outcome            no          no       no   no       no      yes         no
//	RequireApproved                as the call in it                          yes         yes
//
// A [NetworkError] of a write is always one of which nothing was sent. [ErrNotSent]
// matches it and every other error with the same proof: only then may the same call be
// made again.
//
// # Unknown outcomes
//
// When the answer to a write is lost, nobody here knows whether money moved. The call
// ends in an [UnknownOutcomeError], which is neither a success nor a failure. Its
// [Intent] is what is needed to find out. [TransactionsService.Resume] looks the write
// up and sends nothing; package resolve says how long to look and what to believe in
// the end. Calling again before that is a new payment, and may charge the customer
// twice: no client can prevent it.
//
// [WithBeforeSend] hands the same intent out right before the first byte, to be stored.
// So a crash loses nothing:
//
//	          Pay            the first byte             the answer          Outcome
//	           |                   |                        |                  |
//	crash:     |  nothing was sent |   it may have arrived  |  it has arrived  |
//	stored:    |  nothing          |   the intent           |  the intent      |  the outcome
//	then:      |  pay              |   Resume, never pay    |  Resume          |  done
//
// A queue that stores its work first uses [TransactionsService.Plan], which sends
// nothing, and [TransactionsService.Submit], which sends the plan once, after a claim. An
// intent that nobody has claimed can be sent at the next start. With [WithBeforeSend], an
// intent that was stored and never sent is known to be absent only two days later.
//
// # How a transaction is found
//
// [TransactionsService.Resume] reads the transaction by its receipt number if that is
// known, and the transactions with its payment reference otherwise. For a refund it reads
// the refunds of the payment too.
//
// A transaction matches the intent if the service echoes the intent's id in its metadata.
// If the service echoes no id, the transaction matches if all else that it echoes agrees:
// the payment reference in any case, type, amount, currency, business, original receipt
// number and end-to-end identifier. It must not be older than the intent by the service's
// clock. A transaction with the same reference that disagrees is a candidate that does not
// match, and so is a refund of the same payment and amount under another reference: see
// [WithForeignReceipts]. A transaction with the id of another intent is a candidate only
// if all else agrees.
//
// An approval settles the intent if every other match has taken no money. Two approvals
// are candidates: the order is charged twice. A decline settles the intent if Attempts
// says that it was sent once, and if no other transaction has its id, or a reference that
// this package made. Otherwise the decline is a candidate, because another transaction may
// turn up. A list of several pages is read until two readings agree. The look-up
// fails if anything cannot be read.
//
// # What is sent again
//
// This is what a call does, by what happened and by its kind. "Payment POST"
// stands for POST /transactions, 3D Secure authentication and single-use tokens,
// for which the service documents its Idempotency-Key or repeating is harmless.
//
//	what happened                  GET           payment POST         other POST   PATCH, PUT
//	answered with success          result        result               result       result
//	never sent                     retry, N      retry, N             retry, N     retry, N
//	lost after sending             retry, N      same key, then U     U            U
//	context ended after sending    N             U                    U            U
//	inconclusive answer            retry, A      U                    U            U
//	503 in the service's words     retry, A      A                    A            A
//	503 on 3D Secure               A             A                    A            A
//	refused with 429               retry, A      A                    A            A
//	refused                        A             A                    A            A
//	3xx, never followed            A             U                    U            U
//
// N is a [NetworkError], A an [APIError] (a [DecodeError] for an undecodable success),
// U an [UnknownOutcomeError]. A POST that only asks, which is
// [BusinessesService.QueryCardSurcharge], counts as a GET; a POST of [Client.Do] is an
// "other POST", and its DELETE is like PATCH.
//
// An answer is a refusal when its status says so: 400, 401, 403, 404, 405, 406, 409,
// 411, 413, 414, 415, 422, 429. On a write it is one only in the service's own words:
// something in between may answer with the same status after the service has carried
// the write out. The service's own words are a JSON error body with a customerMessage
// or developerMessage, or with a list of errors of which one has a fieldName.
//
// An answer is inconclusive when it says nothing about what was asked:
//
//   - any other status, such as 408, 425, 500 and 502,
//   - a success that cannot be decoded or is about something else, such as another
//     payment's,
//   - a 503 that is not in the service's own words,
//   - on a write, a refusal that is not in the service's own words,
//   - a 409 on a POST other than of a customer or a payment file, because a key in
//     flight is no refusal.
//
// Something that cannot pass by itself, such as an unknown host or an untrusted
// certificate, is not retried. After a 503 in the service's own words a payment was
// not processed: make the call again after 20 seconds. A payment that may have
// arrived is sent again with the same key, and only within a minute of the first
// attempt, because how long the service remembers keys is not public;
// [WithoutResend] turns that off.
//
// A later attempt's answer does not settle an earlier one. Once an attempt of a
// write may have arrived unanswered, only a success ends the call as settled, and
// for a payment only an approval: a decline of the second attempt says nothing
// about the first.
//
// One attempt is one request. net/http would send some requests again by itself;
// the client's own connections speak HTTP/1.1 and let it do so only where nothing
// was written. See [WithHTTPClient] for what that means for a transport of yours.
//
// A report is not asked for again once its first byte was handed over, and a
// payment file is not sent again once its first byte was taken.
//
// # Lists
//
// A method that returns many returns a [List], which reads pages as they are needed.
// [List.All] is for range; an item that cannot be read does not end it.
//
// # Time
//
// A call ends when its context does, and a context that ends after a payment was sent
// leaves its outcome unknown. The context of an HTTP request ends when the browser goes
// away: pay with [context.WithoutCancel] and a limit of your own, as the example
// HttpHandler does. [WithTimeout] says how long a call takes at most without one.
//
// # Secrets
//
// Keys, card numbers, CVNs, account numbers and PayIDs are of types that no
// printing or marshalling route reveals. Errors, logs and observers carry route
// templates and counts, and no values. Tokens and receipt numbers are plain
// strings for storing, and appear in neither.
//
// [WithObserver] sees every call and attempt, and [WithLogger] logs them.
//
// # Money and time
//
// Amounts are decimals; more than two decimal places are refused and never
// rounded. The service's dates are Sydney dates. Facts that stand in a doc
// comment as unconfirmed are not part of the service's published contract.
package quickstream
