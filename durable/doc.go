// Package durable keeps payments, their outcomes and webhooks in the merchant's own database: use it
// if payments must survive a crash. A payment is stored in the transaction of its order, sent once,
// and looked up until its outcome is known, of which OnOutcome is notified exactly once. The database
// is one SQLite file or PostgreSQL, and River, a job queue there, does the work.
//
// # Words
//
// A write is a payment or a follow-up. A payment takes money for an order: a payment, a PayTo collection or a first
// pre-authorisation. A follow-up is done to one: a refund, a void, a capture, a cancellation, a reversal. An
// installation is one database that belongs to one facility, which is the merchant's account with the
// service: its address and a name. A claim is one process's permission to send a write. A transaction is the service's
// object, or one of the database. Restoring is the mode after a change of the database's history.
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
// Pay only writes a row and a job: if the transaction rolls back nothing is ever sent. The source of a payment is a
// handle, such as a single-use token, an account token or an agreement. The README has a whole backend, and a table of
// states and what a shop does in each.
//
// # Ids
//
// A write has an id of the merchant's, unique for ever in the installation: one id for one attempt.
// Make it when the form is rendered, or when a refund is decided, and store it there. Then any step
// may be repeated, also after a decline, a void or years: the same id and the same request return
// the write as it stands, and another request under the id is an [IDReusedError].
//
// An id that is made from the order alone returns the first decline again and again. One that is made in the handler of the
// request is another one when an old message is replayed: after a decline that charges a stored account.
//
// # One order, one payment
//
// An order can be paid again only after its payment was declined, not sent, voided or returned. Until then another id
// for the order is an [OrderOpenError] with the payment that is there. A payment that is not_found does not free its
// order: [Engine.PayAgain] or [Engine.Decide] does. None of these errors aborts the merchant's transaction on READ
// COMMITTED.
//
// Rows are locked in this order: those of the order or of the payment that is followed, by id, then others. If OnOutcome
// writes the order's row, change that row after Pay and not before. PostgreSQL ends one of two transactions that wait for
// each other (40P01): run yours again; the engine does so with its own.
//
// # What is sent again
//
// After a claim a write is sent again only after one of these answers, and otherwise looked up until its outcome is known,
// which can take days. All times are the database's.
//
//	answer                              before the next send
//	none: no byte reached a connection  a pause; the same key
//	401, 429 or 503                     20 seconds and a look-up; the same key
//
// Each counts only in the service's error body. A key is used for a minute, because the service does not say how long it
// keeps one. Then the look-up must be later than Options.LookupLag after the last send, and the next key is used: after a 503
// a payment by a single-use token can so end not_sent, because its token is too old. A look-up that finds anything which may
// be the write permits nothing. After a second send only an approval settles the write at once, and it is looked up again.
//
// Within one claim the client sends a payment again after a lost answer, with the same key and for a
// minute (see [quickstream.WithoutResend]). Follow-ups are looked up instead.
//
// # Pauses
//
// A refusal that the next write may get too, or a hang of all calls for five seconds, pauses the installation: nothing is
// claimed until Client.Check succeeds and one write alone is approved or declined. [Engine.Pause] ends only by
// [Engine.Unpause].
//
// # What OnOutcome is notified of
//
// Options.OnOutcome is called with a write that is approved, declined, not_sent, voided, returned, or needs a person, and
// again if that changes. It runs in one transaction with the mark that it has run: what it writes through that transaction is
// there once. That transaction stores the answer too. If OnOutcome fails there, or takes more than five seconds, the answer is
// stored by itself, and OnOutcome is called again, with pauses that grow to an hour, for ever. Of two changes that come at once
// it may be called with the last one alone. Its errors and panics are stored and logged as types and places. It
// is called with the write's row locked: be quick, and call neither the API nor the engine without the transaction.
//
// Only a write that IsPayment changes the state of its order. Compare the amount.
//
// # History
//
// A backup or a standby may not know what was sent last. After a change of the database's history nothing is sent until the
// service's lists were read: REPLICATION.md has what each kind of replication can lose, and what to call.
//
// # Limits
//
//   - A SQLite file is for one process, and its mark has to stay beside it.
//   - synchronous has to be FULL on SQLite, and neither synchronous_commit nor fsync off on PostgreSQL, nor
//     synchronous_commit local beside synchronous standbys: a commit that is lost is a second charge. [New] checks it.
//   - PostgreSQL has to let the role call pg_control_system, pg_walfile_name and pg_current_wal_insert_lsn, as it does by
//     default. [New] checks it.
//   - Captures of one pre-authorisation are not added up: the service judges them.
package durable
