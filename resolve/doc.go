// Package resolve settles payments whose outcome is not known: a lost answer, or
// a transaction with summary code 2.
//
// The service's procedure is to look at once, to hold the payment and not to make
// another, to look again after the settlement cut-off, again at the same time on
// the next day, and to call technical support after 48 hours. The procedure is a
// pure state machine here: Policy.Next takes a State, what a look-up found and
// the time, and returns the next State and what to do. A State can be stored as
// JSON between any two steps, so that any engine can drive it; Run is a small one
// for a single process.
//
// Four things can come out. Settled: the service said what became of the
// payment. Absent: 48 hours after the payment was sent nothing matching could be
// found, at the cut-off and on the next day neither; whether to pay again is then
// for the merchant to decide, by policy or by a person. Escalated: the service
// still does not know, or more than one transaction matches; the State holds the
// receipt and every look as evidence for technical support. None of them is ever
// reached because a look-up failed.
//
// Whether a facility lets the service retry declined payments by itself only the
// merchant knows: DefaultPolicy asks for it. Where it does, a soft decline is held
// until no retry can follow any more, and the retries are read.
//
// The card cut-off of 18:00 in Sydney stands in the vendor's public pages. Those
// of other accounts are not public and assumed to be the same.
package resolve
