// Package durable keeps payments, their outcomes and webhooks in the merchant's own database: use it
// if payments must survive a crash. A payment is stored in the transaction of its order, sent once,
// and looked up until its outcome is known. OnOutcome is notified of the outcome exactly once. The
// database is PostgreSQL or one SQLite file. River, a job queue in that database, does the work.
//
// # Words
//
// A write is a payment or a follow-up. A payment takes money for an order: a payment, a PayTo collection or a first
// pre-authorisation. A follow-up changes a payment: a refund, a void, a capture, a cancellation or a reversal. An
// installation is one database that belongs to one facility. A facility is the merchant's account with the
// service: its address and a name. A claim is one process's permission to send a write. A transaction is the service's
// object, or a database transaction. Restoring is the mode after a change of the database's history.
//
// # The program
//
//	err = durable.MigrateUp(ctx, sqlite.DB(db))
//	engine, err := durable.New(ctx, sqlite.DB(db), client, durable.Options[*sql.Tx]{
//		Installation: "shop-production", ServiceRetries: &retries, OnOutcome: markOrder,
//	})
//	err = engine.Start(ctx)
//	tx, err := db.BeginTx(ctx, nil) // with the order in it
//	write := durable.NewWrite{ID: attempt, Order: order}
//	payment, created, err := engine.Pay(ctx, tx, write, quickstream.PayParams{...})
//	err = tx.Commit() // from here on the payment is sent, whatever happens
//	payment, err = engine.Wait(ctx, attempt)
//
// Pay only writes a row and a job: if the transaction rolls back, nothing is ever sent. The source of a payment is a
// handle, such as a single-use token, an account token or an agreement. The README has a complete backend, and a table
// that says for each state what a shop does.
//
// # Ids
//
// The merchant gives each write an id that is unique in the installation for ever: one id for one attempt.
// Make it when the form is rendered, or when a refund is decided, and store it there. Then any step
// may be repeated, even after a decline, a void or years: the same id with the same request returns the
// stored write in its current state, and another request under that id is an [IDReusedError].
//
// Do not derive the id from the order alone: after a decline each retry returns that decline. Do not make it in the
// request's handler: a replayed message then gets a new id, and after a decline it charges a stored account.
//
// # One order, one payment
//
// An order can be paid again only after its payment was declined, not sent, voided or returned. Until then Pay with another
// id returns the existing payment, and an error that matches [ErrOrderOpen]. A payment that is not_found does not free its
// order: [Engine.PayAgain] or [Engine.Decide] does. None of these errors aborts the merchant's transaction on READ
// COMMITTED.
//
// The engine first locks the payments of the order, then the follow-ups of the payment that is followed, each in the order of
// their ids, and then other rows. If OnOutcome writes the order's row, change that row after Pay and not before. PostgreSQL
// ends one of two transactions that deadlock (40P01): run yours again, as the engine does with its own.
//
// # What is sent again
//
// After a claim a write is sent again only after one of these answers. After any other it is looked up until its outcome
// is known, which can take days. All times are by the database's clock.
//
//	answer                              before the next send
//	none: no byte reached a connection  a pause; the same key
//	401, 429 or 503                     20 seconds and a look-up; the same key
//
// A status counts only with the service's error body. A key is used for one minute, because the service does not say how long
// it keeps one. After that the look-up must come Options.LookupLag after the last send, and the next key is used. So a payment
// by a single-use token can end not_sent after a 503: its token is too old. If a look-up finds anything that may be the
// write, it is not sent. After a second send only an approval settles the write at once, and it is still looked up again. A
// refusal ends it after such a look-up that finds nothing.
//
// Within one claim the client sends a payment again after a lost answer, with the same key and for a
// minute (see [quickstream.WithoutResend]). Follow-ups are looked up instead.
//
// # Pauses
//
// The installation is paused after a refusal that the next write may get too, or when all calls hang for five seconds.
// Nothing is claimed until Client.Check succeeds, and one write that is sent alone is approved, declined, pending or refused
// for its content. [Engine.Pause] ends only with [Engine.Unpause].
//
// # What OnOutcome is notified of
//
// Options.OnOutcome is called with a write that is approved, declined, not_sent, voided, returned, or needs a person, and
// again if that changes, or if [Engine.PayAgain] has another payment made instead. It runs in one transaction with the mark that it has run, so its writes through that transaction
// are committed once. The same transaction stores the answer. If OnOutcome fails in it, or takes more than five seconds, the
// answer is stored alone, and OnOutcome is called again for ever, with pauses that grow to an hour. After two changes in quick
// succession it may be called for the last one only. Its errors and panics are stored and logged as types and places. It runs
// with the write's row locked: be quick, do not call the API, and call the engine only with the transaction.
//
// Change the state of an order only for a write whose IsPayment is true. Compare the amount. Free an order only for the payment
// that it has: that of another one may come later.
//
// # History
//
// A backup or a standby may lack the last sends. After a change of the database's history nothing is sent until the
// service's lists were read. REPLICATION.md says what each kind of replication can lose, and which methods to call.
//
// # Limits
//
//   - A SQLite file is for one process, and its mark has to stay beside it.
//   - SQLite needs synchronous FULL. PostgreSQL needs fsync on, and synchronous_commit neither off, nor local beside
//     synchronous standbys: a lost commit is a second charge. [New] checks it.
//   - PostgreSQL has to let the role call pg_control_system, pg_walfile_name and pg_current_wal_insert_lsn, as it does by
//     default. [New] checks it.
//   - Captures of one pre-authorisation are not added up: the service judges them.
package durable
