// Package webhooks receives the notifications that QuickStream posts to a
// merchant's endpoint: it verifies them, decodes them, and hands them to a
// function of the merchant's.
//
//	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{secret})
//	...
//	store := new(webhooks.MemoryStore)
//	handle := webhooks.Deduplicate(store, webhooks.ConfirmWith(client, save))
//	mux.Handle("/webhooks/quickstream", webhooks.NewHandler(verifier, handle))
//
// # What a notification proves
//
// The algorithm of the signature is not published where it could be read, so
// that nothing here is a default: see [signature.AssumedHMAC]. Whatever the
// algorithm, a notification is a hint that something happened. [ConfirmWith]
// asks the API what is so, and delivers only that.
//
// # Delivery
//
// A notification is acknowledged with 200 after the function returned nil, and
// in no other case. So it is delivered at least once: an acknowledgement can be
// lost, and the service then posts the notification again. Redelivery itself is
// assumed; the vendor's public pages tell merchants to expect duplicates, and
// its schedule is not public. The function should be quick: store the
// notification by its ID and return.
//
// [Deduplicate] skips what has been handled. The effect of a notification takes
// place exactly once only when it commits together with the ID in one database
// transaction, which a [Store] on the merchant's database does; a [MemoryStore]
// forgets when the process ends.
//
// Notifications arrive in any order. One can arrive before the answer to the
// request that caused it, and an older one after a newer one: take the state
// from what ConfirmWith delivers and never from the order of arrival.
package webhooks
