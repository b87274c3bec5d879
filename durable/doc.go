// Package durable sends payments so that no crash loses one and none is sent twice, and
// tells the merchant what became of each exactly once. It keeps them in the merchant's own
// database, in one SQLite file or in PostgreSQL, and works on them by a job queue there.
//
// Package quickstream sends a payment and says when its outcome is not known; package
// resolve says when to look. Who wants both to survive the end of the process, for
// payments, webhooks and the nightly comparison, has this package instead of some hundred
// lines of his own.
//
// # The program
//
//	db, err := sqlite.Open("shop.db") // or a pgxpool.Pool, and postgres.Pgx
//	err = durable.MigrateUp(ctx, sqlite.DB(db))
//	engine, err := durable.New(ctx, sqlite.DB(db), client, durable.Options[*sql.Tx]{
//		ServiceRetries: &retries,  // resolve.ServiceRetriesOff(), where the facility has them off
//		OnOutcome:      markOrder, // see below
//	})
//	err = engine.Start(ctx)
//	defer engine.Stop(ctx)
//	tx, err := db.BeginTx(ctx, nil) // with the order in it
//	id, err := engine.Pay(ctx, tx, orderID, quickstream.PayParams{...})
//	err = tx.Commit() // from here on the payment is sent, whatever happens
//	payment, err := engine.Wait(ctx, id) // or wait for OnOutcome
//
// Pay only writes a row: where the transaction rolls back nothing is ever sent. The source
// of a payment has to be a handle, such as a single-use token, an account token or an
// agreement. What holds card details, or a file, is sent by the caller under [Send].
//
// # One order, one payment
//
// An order has one payment that counts, by an index of the database. Pay may be called for
// it any number of times, by any number of processes: who comes second gets the id of the
// first. A payment that was declined, refused, not sent, voided or returned frees its order
// at once. One of unknown outcome does not, nor one that is absent: that is looked for on,
// and [Engine.PayAgain] is the only way past it, or [Engine.Decide], by which a person
// closes it and says why.
//
// Refunds, voids, captures and the other follow-ups name the receipt of their payment; one
// of them is open at a time, and refunds never add up to more than the payment.
// [Engine.GiveBack] chooses between void and refund when it is sent. A capture or another
// follow-up that is the same as the open one is that one. A refund of the same amount may be
// another refund: find out first whether the open refund is the one that a job wants.
//
// If OnOutcome writes the order's row, write that row after Pay and not before. OnOutcome
// holds the payment and waits for the order, and PostgreSQL ends one of two transactions
// that wait for each other (40P01). Run yours again; the engine does so with its own.
//
// Requests reach the service at least once where the connection fails, with the same
// Idempotency-Key, as the client sends them. A payment that may have been sent is never
// sent again, after a crash or a refusal that asks for it: it is looked up until its outcome
// is known, which can take days. So the effect is that of exactly one payment, or of none.
// After a 401, a 429, a 503 or a refusal that is not in the service's own words a process
// sends nothing until Client.Check succeeds, which it asks every 30 seconds.
//
// # What OnOutcome is told
//
// Options.OnOutcome is called in the transaction that stores a change of state, so that
// what it writes through that transaction commits with it, once. It is told of
//
//   - approved, declined, refused and not sent, which end a payment;
//   - voided and returned: an approved payment whose money went back, up to three banking
//     days later from a bank account;
//   - absent and escalated, which are for a person;
//   - approved or declined after absent, when it is found in the end;
//   - charged twice, when a second payment of the order turns out to be approved. Nothing
//     gives money back by itself.
//
// It is also told of refunds and other follow-ups, which must not change the state of
// their order. A payment whose place another one has taken (PassedBy) changes it only if
// it is approved. Compare the amount: after a restore a payment may belong to another
// order of the same number. paid_by is the payment that has paid the order:
//
//	// markOrder is the shop's OnOutcome. It writes the state of the order of a payment. What is
//	// to be checked stays so until a person has changed it.
//	func markOrder(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
//		p, state := change.Payment, string(change.After)
//		if p.ReceiptOf != "" {
//			return nil // a refund or another follow-up: it is not the order's payment
//		}
//		var amount decimal.Decimal
//		var currency quickstream.Currency
//		var paidBy string
//		order := tx.QueryRowContext(ctx, "SELECT amount, currency, paid_by FROM orders WHERE id = ?", p.OrderID)
//		if err := order.Scan(&amount, &currency, &paidBy); err != nil {
//			return err
//		}
//		switch {
//		case change.After == durable.StateTwice:
//			state = "check" // a person decides which payment to give back
//		case change.After == durable.StateApproved && p.Amount.Equal(amount) && p.Currency == currency:
//			state, paidBy = "paid", p.ID
//		case change.After == durable.StateApproved:
//			state, paidBy = "check", p.ID // another amount: after a restore it may be another order's payment
//		case paidBy != p.ID && (paidBy != "" || p.PassedBy != ""):
//			return nil // another payment has paid the order, or has taken the place of this one
//		default:
//			paidBy = ""
//		}
//		_, err := tx.ExecContext(ctx, "UPDATE orders SET state = ?, paid_by = ? WHERE id = ? AND state <> 'check'", state, paidBy, p.OrderID)
//		return err
//	}
//
// When it fails nothing is lost: it is told again, with pauses that grow to an hour, and
// [Status] counts such payments. It is called with a row of the payment locked: be quick,
// and call neither the API nor the engine without the transaction.
//
// [Engine.Inbox] is the handler of webhooks. It answers as soon as a notification is
// committed, and acts on it in a job; what is no payment of the engine's goes to
// Options.OnEvent.
//
// # After a restore
//
// A backup does not know what was paid since. A dump that was read back, a base backup of
// PostgreSQL that was recovered to a point in time, a standby that was promoted, and a
// SQLite file that is older than the mark beside it are recognised when the engine starts,
// and a standby before the next claim too. A base backup that was started
// as it is, a snapshot of the whole volume and a restore of the rows alone are not: call
// [Engine.Restored] with the time of the backup before any engine is started. Then nothing
// of the backup is sent before it was looked up, and the payments that it does not know
// are read from the service before anything new is sent, which takes at least a quarter of
// an hour.
//
// # Operation
//
// Any number of engines work on one PostgreSQL database; deploy by [Engine.Stop], which
// lets what is under way come to its end. [Engine.Status] is for health checks: alarm on
// Overdue, Refused, Stuck, Held and Restoring, and on payments that are absent, escalated
// or charged twice. Options.CompareAt holds each day against the service's list, or against
// its report by Options.Report, and tells Options.OnDifference. Options.KeepPayments limits
// how long settled payments are kept. [MigrateUp] may run at every start, by all
// processes at once; a program that
// is older than the tables refuses to work on them, and leaves rows alone that it does not
// know in full. The log shows no handles.
//
// # Limits
//
//   - A SQLite file is for one process, and its mark has to stay beside it.
//   - synchronous has to be FULL on SQLite, and neither synchronous_commit nor fsync off on
//     PostgreSQL: a commit that is forgotten is a second charge. [New] checks it.
//   - PostgreSQL has to let the role call pg_control_system, pg_walfile_name and
//     pg_current_wal_insert_lsn, as it does by default. [New] checks it.
//   - Of an account registration and an upload the service does not say which request made
//     it. One whose answer is lost is escalated where something may be it.
//   - Of an approved payment that KeepPayments has forgotten nothing is known but that its
//     order is paid, and how much: its refunds are not limited here any more.
package durable
