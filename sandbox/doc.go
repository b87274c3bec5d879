// Package sandbox is a simulator of the QuickStream payments REST API. It keeps state, runs
// in process and needs no account.
//
//	box := sandbox.New()
//	defer box.Close()
//	client := box.HTTPClient() // in-memory connections to box.URL()
//	keys := box.Keys()         // HTTP Basic user names
//
// It does not play back fixtures: customers, tokens, accounts and transactions are stored,
// expire, are used up and are found by look-ups. The [Ledger] shows what was really charged,
// whatever answers the caller got.
//
// # Time
//
// The sandbox uses package time, also inside a testing/synctest bubble, where two days of look-ups
// take no time. Elsewhere use [WithClock] with a [Clock], which stands still or runs, and which you
// advance. [Clock.Advance] never moves it past a request that is under way.
//
// # Test numbers
//
// The vendor's public test cards and bank accounts decide the outcome of a payment.
// [Sandbox.NextTransaction] overrides them. A card number that is not a public test number is refused
// and never recorded. [Sandbox.Portal], [Sandbox.ReturnPayment], [Sandbox.RetryPayment],
// [Sandbox.AnswerChallenge] and [Sandbox.CreateSchedule] do what people and banks do outside the API.
//
// # PayTo and webhooks
//
// A PayTo agreement waits for its payer. [Sandbox.Payer] acts as the payer. The payers of the
// vendor's public test BSBs and of [ConfirmingPayID] act by themselves.
//
// [Sandbox.Subscribe] adds an endpoint. Events are signed, posted to it, and posted again until it
// answers 200. [Sandbox.NextDelivery] and [Sandbox.Redeliver] make them arrive twice, out of order or
// forged. [Sandbox.Flush] waits until all have arrived.
//
// # As a server
//
// Command quickstream-sandbox serves a sandbox on a port, for programs in any language. A Sandbox
// is an [http.Handler] for a server of your own. [WithShop] serves what web pages need to take
// payments: a stand-in for the service's browser script, which is unconfirmed, and the 3D Secure
// challenge for a frame.
//
// # Assumptions
//
// Questions that the public contract leaves open are fields of [Assumptions]. The defaults
// are kind: they are what the contract and the vendor's public pages describe. [Unkind] sets the
// hardest values:
//
//	box := sandbox.New(sandbox.WithAssumptions(sandbox.Unkind))
//
// Package sandboxtest runs a test in many worlds, which pair every value of every assumption
// with every other. Code that is right in all of them does not rely on a guess.
//
// # Faults
//
// [Sandbox.Inject] breaks calls on purpose, before or after the service has carried out the
// operation: the difference between a payment that never happened and a payment whose answer
// was lost.
package sandbox
