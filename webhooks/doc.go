// Package webhooks receives the notifications that QuickStream posts to a merchant's endpoint. It
// verifies and decodes them, and passes them to a function of the merchant.
//
//	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{secret})
//	...
//	mux.Handle("/webhooks/quickstream", webhooks.NewInbox(verifier, keep))
//
// # Inbox
//
// The endpoint should only store what it receives: the body ([Notification.Raw]) under the pair of
// ID and [Notification.Digest]. A redelivery has the same pair. If the same ID arrives with another
// digest, store it as well and return [ErrConflict], which is acknowledged and logged.
// Store the body as text or bytes: a JSON column may rewrite numbers, and so change the digest.
//
// A job then reads the stored body with [Parse], confirms it and acts on it:
//
//	n, err := webhooks.Parse(body)
//	...
//	err = webhooks.ConfirmWith(client, act)(ctx, n)
//
// So the API is not called before the answer or inside a database transaction, and notifications
// are kept while the API is down. See the example Inbox. Let act store the state that it is given:
// it may be called again for the same agreement or payment.
//
// [Notification.Event] says what happened. An unknown event type is not an error. Data that cannot
// be decoded is an error of [Notification.Event] only. Store both like the others.
//
// # What a notification proves
//
// We found no public description of the signature's algorithm, so there is no default: see
// [signature.AssumedHMAC]. Treat a notification as a hint that something happened. [ConfirmWith]
// reads the present state from the API and delivers that.
//
// The service may sign a notification once and deliver it for days. If you remember ID and digest,
// which detects replays, a signature is accepted for [StoreTolerance]; otherwise for
// [signature.DefaultTolerance].
//
// # Delivery
//
// A notification is acknowledged with 200 only after the function returned nil or [ErrConflict]. It
// is delivered at least once: an acknowledgement can be lost, and the service then posts it again.
// Redelivery is an assumption: the vendor's public pages announce duplicates to merchants and
// publish no schedule.
//
// [NewHandler] with [WithStore] handles notifications at once, without an inbox, and skips those
// that were handled. An effect happens exactly once only if it commits in one database transaction
// with ID and digest, as a [Store] on the merchant's database does. A [MemoryStore] forgets when
// the process ends.
//
// Notifications arrive in any order. One can arrive before the answer to the request that caused
// it, and an older one after a newer one. Take the state from what [ConfirmWith] delivers, not from
// the order of arrival.
package webhooks
