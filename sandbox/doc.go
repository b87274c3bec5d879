// Package sandbox is a simulator of the QuickStream payments REST API that
// keeps state, runs in process and needs no account.
//
//	box := sandbox.New()
//	defer box.Close()
//	client := box.HTTPClient() // in-memory connections to box.URL()
//	keys := box.Keys()         // HTTP Basic user names
//
// It is not a stub that repeats fixtures: customers, tokens, accounts and
// transactions exist, expire, are consumed and can be found again, and a
// [Ledger] tells what was really charged, whatever the caller was told.
//
// # Time
//
// The sandbox lives on package time, so that inside a testing/synctest bubble
// its clock is the fake one: two days of look-ups run in no time. Outside a
// bubble, [WithClock] takes a [Clock] that moves only when told to.
//
// # Test numbers
//
// The vendor's public test cards and bank accounts decide the outcome of a
// payment; [Sandbox.NextTransaction] overrides them. A card number that is not
// a public test number is refused and is never recorded. What people and banks
// do outside of the interface is done with [Sandbox.Transaction],
// [Sandbox.Agreement], [Sandbox.Account], [Sandbox.AnswerChallenge] and
// [Sandbox.CreateSchedule].
//
// # PayTo and webhooks
//
// A PayTo agreement waits for the payer, whom [Sandbox.Agreement] plays: Confirm,
// Decline, LetExpire, AnswerAmendment, and later Suspend, Reactivate, Cancel. The
// vendor's public test BSBs and [ConfirmingPayID] have payers who act by
// themselves. [Sandbox.Subscribe] takes an endpoint, by address or as a handler, to
// which events are posted, signed and posted again until it answers 200;
// [Sandbox.NextDelivery], [Sandbox.HoldDeliveries] and [Sandbox.Redeliver] have them
// arrive twice, late, out of order or forged. [Sandbox.Flush] waits until all have
// arrived.
//
// # Shops in a browser
//
// [WithShop] serves web pages what they need to take payments: a stand-in of the
// service's browser script, which is unconfirmed, the challenge of 3D Secure for a
// frame, and the payer's banking app at [PayerPage].
//
// # Assumptions
//
// What the public contract leaves open is an assumption: one named field of
// [Assumptions], whose default is the choice a client is least prepared for.
// Code that works against the defaults does not rely on those guesses.
//
// There are others. [Worlds] gives every open question each of its values, all
// pairs of them and of the dangerous ones all threes; package sandboxtest runs a
// test in them.
//
// # Faults
//
// [Sandbox.Inject] breaks calls on purpose, before or after the service has
// done its work: the difference between a payment that never happened and one
// whose answer was lost.
package sandbox
