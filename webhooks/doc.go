// Package webhooks receives the notifications that QuickStream posts to a
// merchant's endpoint: it verifies them, decodes them, and hands them to a
// function of the merchant's.
//
//	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{secret})
//	...
//	mux.Handle("/webhooks/quickstream", webhooks.NewInbox(verifier, keep))
//
// # Inbox
//
// Let the endpoint do no more than keep what it receives: the body
// ([Notification.Raw]) under the pair of ID and [Notification.Digest]. A delivery
// that comes again has the same pair. One ID with another digest is other content
// under a known ID: fresher data, say. It is kept beside the first, acknowledged,
// and reported by [ErrConflict]. Store the body as text or bytes: a column that
// rewrites JSON may change how numbers are written, and so the digest.
//
// A job then reads what is stored with [Parse], and confirms and acts on it:
//
//	n, err := webhooks.Parse(body)
//	...
//	err = webhooks.ConfirmWith(client, act)(ctx, n)
//
// So nothing asks the API before the answer, or inside a transaction of the
// database, and what was received is not lost when the API is away. The example
// Inbox has all of it. Let act write down the state that it is given, so that it
// may be called again for the same agreement or payment.
//
// [Notification.Event] tells what happened. An event of a type that this package
// does not know is never an error, and data that cannot be decoded is an error of
// [Notification.Event] only: both are kept like the others.
//
// # What a notification proves
//
// The algorithm of the signature is not published where it could be read, so
// that nothing here is a default: see [signature.AssumedHMAC]. Whatever the
// algorithm, a notification is a hint that something happened. [ConfirmWith]
// asks the API what is so, and delivers that.
//
// A signature may be made once and delivered for days. Where the pair of ID and
// digest guards against what is played again, one is good for [StoreTolerance];
// everywhere else for [signature.DefaultTolerance].
//
// # Delivery
//
// A notification is acknowledged with 200 after the function returned nil or
// [ErrConflict], and in no other case. So it is delivered at least once: an
// acknowledgement can be lost, and the service then posts the notification again.
// Redelivery itself is assumed; the vendor's public pages tell merchants to expect
// duplicates, and its schedule is not public.
//
// [NewHandler] with [WithStore] is for handling notifications at once, without an
// inbox: it skips what has been handled. The effect of a notification takes place
// exactly once only when it commits together with the pair in one database
// transaction, which a [Store] on the merchant's database does; a [MemoryStore]
// forgets when the process ends.
//
// Notifications arrive in any order. One can arrive before the answer to the
// request that caused it, and an older one after a newer one: take the state
// from what ConfirmWith delivers and never from the order of arrival.
package webhooks
