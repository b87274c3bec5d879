// Package resolve finds out what became of a payment whose outcome is unknown: after a lost answer,
// after a crash, or for a transaction that has not ended.
//
// [After] takes the two results of a call and says whether it has ended, was refused (this call
// took nothing) or is open, with the [Case] to look up. After a crash [Begin] makes the Case from a
// stored intent. [Policy.LookUp] looks it up once, and [Policy.Next] returns the next Case: store
// it, and look up again at its NextLook. A Case is JSON, so that any job queue can drive it.
//
// The first look-up is due immediately. Later ones come less and less often until the settlement
// cut-off, at the same time next day, and daily. A case ends with one of four statuses:
//
//   - settled: the service said what became of the payment.
//   - not_found: no look-up found anything that may be the payment, for two business days by
//     Policy.Calendar, or five weekdays without one. That is no permission to pay again.
//   - escalated: the service still does not know, or a transaction that may be the payment settles nothing,
//     or an approval was taken back ([Case.Changed]). A person decides, with [Case.Receipts] and Case.Lookups.
//   - double_charged: more than one transaction is approved. This package refunds nothing.
//
// You can act on a case with a final status, but it is over only when its NextLook is zero. A case that
// is not found or escalated is looked up daily for 14 more days. An approval that only a look-up found,
// and a payment that was sent again, are looked up again after 15 minutes and after the cut-off.
//
// The table in docs/how-a-payment-is-found.md says what a look-up reads, and what it takes for the
// payment. Whether the service retries declined payments is a setting of the facility:
// [DefaultPolicy] asks for it. The card cut-off of 18:00 in Sydney is from the vendor's public
// pages; other accounts are assumed to have the same.
package resolve
