// Package resolve settles payments whose outcome is not known: a lost answer, or
// a transaction with summary code 2.
//
// The service's procedure is to look at once, to hold the payment and not to make
// another, to look again after the settlement cut-off, again at the same time on
// the next day, and to call technical support after 48 hours. The procedure is a
// pure state machine here: [Policy.Next] takes a [Case], what a look-up found and
// the time, and returns the next Case and what to do. A Case can be stored as
// JSON between any two steps, so that any engine can drive it; Run is a small one
// for a single process.
//
// Five things can come out. Settled: the service said what became of the payment.
// Not found: nothing that may be the payment was ever found, not for 48 hours and not
// after the service has settled twice since, on the two business days after the day of
// sending by Policy.Calendar, and on three weekdays without one; whether to pay again
// is then for the merchant to decide, by policy or by a person. Escalated: the service
// still does not know, or several transactions match, or one that is too like to be
// overlooked does not; the Case holds the receipts and every look-up as evidence for
// technical support. Double charged: more than one is approved; nothing here gives money
// back. None of them is ever reached because a look-up failed, but that look-ups which
// fail for days are escalated.
//
// What can be acted on is final, by [Status.Final], and not always over: what is not found or
// escalated is looked up daily for 14 days more, and settles when a charge is found
// late. All is over when Case.NextLook is zero. A queue needs no more than that: when
// NextLook comes, it looks, calls Next, and stores the Case. What is seen in between,
// by an event or by another worker, is given to Next just so.
//
// A pending PayTo payment waits for the payer for as long as its agreement lets it,
// where that is not active, and what fraud screening suspends for as long as it is.
//
// Whether a facility lets the service retry declined payments by itself only the
// merchant knows: [DefaultPolicy] asks for it. Where it does, a soft decline is held
// until no retry can follow any more, and the retries are read.
//
// The card cut-off of 18:00 in Sydney stands in the vendor's public pages. Those
// of other accounts are not public and assumed to be the same.
package resolve
