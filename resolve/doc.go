// Package resolve finds out what became of a payment whose outcome is unknown: after a lost answer,
// or for a transaction with summary code 2.
//
// The service's procedure is: look up immediately; hold the order and do not pay again; look up
// after the settlement cut-off, and at the same time next day; call technical support after 48
// hours. Here it is a pure state machine. [Policy.Next] takes a [Case], what a look-up found and
// the time, and returns the next Case. A Case can be stored as JSON between any two steps, so that
// any job queue can drive it. [Run] drives it in one process.
//
// A case ends with one of four statuses:
//
//   - settled: the service said what became of the payment.
//   - not_found: no look-up found anything that may be the payment, for 48 hours and until the
//     service had settled twice since: on the two business days after sending by Policy.Calendar,
//     or three weekdays without one. With Policy.Scan the complete lists of these dates, read after
//     their cut-offs, do not have it either. Without one, a payment that the service cannot find by
//     any reference is not_found too. If the service answers "nothing found" with a 404 without its
//     error body, the look-ups fail, and the case is escalated in place of not_found. The
//     merchant decides whether to pay again.
//   - escalated: the service still does not know, several transactions match, or a similar one does
//     not match. The Case holds receipts and look-ups as evidence for technical support. Look-ups
//     that fail for days lead here too, and to no other end.
//   - double_charged: more than one transaction is approved. This package refunds nothing.
//
// A case with a final status ([Status.Final]) can be acted on, but may not be over: one that is not
// found or escalated is looked up daily for 14 more days, and settles if a charge appears late. It
// is over when Case.NextLook is zero. So a queue looks up at NextLook, calls Next and stores the
// Case. Pass observations from events or other workers to Next as well.
//
// [ScanDates] reads the lists for all cases of a facility. 100,000 payments a day at 20 a page are
// 5,000 requests a date, for one unknown payment or for 300.
//
// [After] takes the two results of a call: ended, refused (this call took nothing) or open, with the
// Case to look up. After a crash [Begin] makes the Case of a stored intent. A payment that was sent again
// after a lost answer, and then approved, may have been made twice: After returns a Case for it too.
// [Case.Evidence] is a file for the service's technical support.
//
// # How a transaction is found
//
// A look-up reads the receipt number if it is known, else the list of the payment reference, and for a
// refund that of the payment's refunds. If nothing matches it tries other forms of the reference, the
// customer reference, and the transactions of [quickstream.WithScan]. A transaction with the intent's
// id in its metadata matches. Without one it matches if it is not older than the intent and agrees in
// what it shows, such as reference, type, amount, currency and account. What is similar, and could be
// another's, is a candidate: it settles nothing, and a person decides.
//
// # What can stay open
//
// If the answer was lost, a case can stay escalated in the following combinations. It is settled
// wrongly only if a reference of the merchant's is used again for an equal payment, and the service
// echoes no id, or the client has seen none yet. The later payment then settles the earlier case, also
// after not_found, and one of up to three seconds before settles the later case. What follows a
// pre-authorisation, other than a capture, is equal to another of its kind with any amount.
//
//   - The service echoes neither the intent's id in metadata nor the reference.
//   - It echoes no id, and the merchant used the same reference before, or one that begins with it.
//   - The reference is the merchant's own, the service echoes no id, and a time is labelled Z or is an
//     epoch number, or it has no zone or no seconds, or is wrong or absent, or the merchant's clock
//     stepped back. The same is true of a refund or capture that is listed under another reference.
//   - The reference is the merchant's own, and the id comes back altered.
//   - The reference is the merchant's own, the service echoes ids, and another program took the same
//     amount under it without one.
//   - Two equal refunds or captures of a payment have neither the reference nor the id; or one top-up
//     or cancellation has neither.
//   - A list has several pages and another order each time.
//   - "Nothing found" is a 404 that a gateway may have sent.
//   - The transaction never gets a final status.
//
// A pending PayTo payment whose agreement is not active waits until its payer can no longer answer.
// A suspended payment waits until somebody acts in the portal.
//
// Only the merchant knows whether the facility lets the service retry declined payments:
// [DefaultPolicy] asks for it. If it does, a soft decline is held until no retry can follow, and
// the retries are read.
//
// The card cut-off of 18:00 in Sydney is from the vendor's public pages. Those of other accounts
// are not public and assumed to be the same.
package resolve
