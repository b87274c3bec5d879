// Package durable keeps payments, their outcomes and webhooks in the merchant's own database: use it
// if payments must survive a crash. A payment is stored in the transaction of its order, sent once,
// and looked up until its outcome is known, which OnOutcome is notified of exactly once. The database
// is one SQLite file or PostgreSQL, and a job queue there does the work.
//
// # Words
//
// A write is any request that changes something and that the engine keeps. A payment is a write that
// takes money for an order. A follow-up is done to a payment: a refund, a void, a capture. An
// installation is one database that belongs to one facility, which is the merchant's account with the
// service. A claim is one process's permission to send a write. A transaction is the service's object,
// or one of the database.
//
// # The program
//
//	db, err := sqlite.Open("shop.db") // or a pgxpool.Pool, and postgres.Pgx
//	err = durable.MigrateUp(ctx, sqlite.DB(db))
//	engine, err := durable.New(ctx, sqlite.DB(db), client, durable.Options[*sql.Tx]{
//		Installation:   "shop-production",
//		ServiceRetries: &retries,  // resolve.ServiceRetriesOff(), if the facility has them off
//		OnOutcome:      markOrder, // see below
//	})
//	err = engine.Start(ctx)
//	defer engine.Stop(ctx)
//	tx, err := db.BeginTx(ctx, nil) // with the order in it
//	payment, created, err := engine.Pay(ctx, tx, durable.NewWrite{ID: attempt, Order: order}, quickstream.PayParams{...})
//	err = tx.Commit() // from here on the payment is sent, whatever happens
//	write, err := engine.Wait(ctx, attempt) // or wait for OnOutcome
//	refund, created, err := engine.Refund(ctx, tx, durable.NewWrite{ID: lineRefund}, attempt, quickstream.RefundParams{...})
//
// Pay only stores a row: if the transaction rolls back nothing is ever sent. The source
// of a payment has to be a handle, such as a single-use token or an account token. A payment by an
// agreement is a [quickstream.CollectParams]. A request that holds card details, or a file, is sent by the caller under [Send].
//
// # Ids
//
// A write has an id of the merchant's, unique for ever in the installation: one id for one attempt.
// Make it when the form is rendered, or when a refund is decided, and store it there. Then any step
// may be repeated, also after a decline, a void or years: the same id and the same request return
// the write as it stands, and another request under the id is an [IDReusedError].
//
//   - An id that is made from the order alone returns the first decline again and again.
//   - An id that is made in the handler of the request is another one when an old message is
//     replayed. After a decline that charges a stored account. A single-use token is not charged so:
//     it belongs to one write, and another one is a [TokenUsedError].
//
// # One order, one payment
//
// An order can be paid again only after its payment was declined, refused, not sent, voided or
// returned. A refusal says that its own write took nothing, and frees the order if no other payment of
// the order holds it. Until then another id for the order is an [OrderOpenError] with the payment that is
// there. A payment that is not_found does not free its order: [Engine.PayAgain] or [Engine.Decide]
// does. An order number belongs to one business. None of these errors aborts the merchant's
// transaction on READ COMMITTED.
//
// An approved pre-authorisation is the payment of its order, and Paid reports true: before its capture, and after a
// cancellation too. Deliver after the capture. A void frees the order, and a cancellation does not.
//
// Follow-ups name their payment by its id. Several can wait; they are sent one after the other, and
// refunds never add up to more than the payment. One of unknown outcome holds the others, but not refunds of
// another amount, unless they would exceed the payment if each of its sends was executed. What waits when
// the payment is voided or returned is not sent.
//
// Rows are locked in this order: those of the order or of the payment that is followed, by id, then others. If
// OnOutcome writes the order's row, change that row after Pay and not before; an INSERT with ON CONFLICT DO NOTHING
// locks no row that was there, and may come before. PostgreSQL ends one of two transactions that wait for each
// other (40P01), or that saw older rows (40001, above READ COMMITTED). Run yours again; the engine does so with its own.
//
// # What is sent again
//
// References and idempotency keys follow from the installation and the id, so that one look-up finds
// every send of a write, also if its row was lost. After a claim a write is sent again only after one
// of these answers, and otherwise looked up until its outcome is known, which can take days:
//
//	answer                              before the next send
//	none: no byte reached a connection  a pause; the same key
//	own 401 or 429                      a pause and a look-up; the same key
//	own 503                             20 seconds and a look-up; the same key
//	own 503 again                       15 minutes and a look-up; the next key
//
// "Own" means in the service's own words. A key is used for a minute, because the service does not say
// how long it keeps one. Then the look-up must be at least 15 minutes after the last send, which is how long
// a transaction may be missing from look-ups (an assumption), and the next key is used. A look-up
// that finds anything which may be the write permits nothing. After a second send only an approval
// settles the write at once: a decline or a refusal says nothing of the first.
//
// Within one claim the client sends a payment again after a lost answer, with the same key and for a
// minute (see [quickstream.WithoutResend]). Follow-ups are looked up instead. An approval after that, or after a second send, is looked up
// at once and 15 minutes later: two are double_charged. Both rest on keys or on look-ups. If the service
// executes a request and refuses it in its own words, forgets the key at once, and does not show
// the transaction for a minute, the next send is a second charge. If it shows nothing for more than 15
// minutes, only the comparison finds it.
//
// A refusal that is not in the service's own words, a 401, a 429 or a 503 opens a breaker: the
// installation claims nothing for 30 seconds, and then until Client.Check succeeds. Then one write
// goes alone. If that is refused so too, the pause doubles, up to 15 minutes.
//
// # Overload
//
// If answers are lost, or are not the service's own, the installation limits how many payments, follow-ups, look-ups
// and notifications are under way, in all engines together. Each such answer halves the limit at once, from
// twice Options.Workers for each engine. Answers let it grow by one a second, and slowly above what the service
// has borne lately. Each engine may have two requests under way in any case. So a service that hangs makes those
// outcomes unknown that were under way, and two more for each engine each time that a call of the client ends. The
// backlog does not keep it above its capacity.
//
// While there is a limit the newest customers go first, and each fifth turn is for the oldest of the backlog. A payment
// that gets no turn in five seconds joins the backlog: its next turn comes after a minute, and after Options.SendWithin it
// ends not_sent. [Send] then returns an error that matches [quickstream.ErrNotSent]. After the breaker has closed,
// what waited is sent at the pace at which it came. An engine that was not started knows no limit.
//
// # What OnOutcome is notified of
//
// Options.OnOutcome is called in the transaction that stores a change of standing, so that
// what it writes through that transaction commits with it, once. It is notified of
//
//   - settled, refused and not_sent, which end a write;
//   - voided and returned: an approved payment whose money came back, up to three banking
//     days later from a bank account;
//   - not_found and escalated, which a person has to deal with;
//   - settled after not_found, if it is found in the end;
//   - double_charged, if a second payment of the order is approved. Nothing refunds it automatically.
//
// Only a [Payment] changes the state of its order. One that was replaced (ReplacedBy) changes it only
// if it is approved. Compare the amount. paid_by is the payment that has paid the order:
//
//	// markOrder is the shop's OnOutcome. What is to be checked stays so until a person has changed it.
//	func markOrder(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
//		switch w := change.Write.(type) {
//		case durable.Payment:
//			return markPayment(ctx, tx, w)
//		case durable.FollowUp: // not the order's payment
//			if w.Operation != quickstream.OperationRefund && w.Operation != durable.OperationReverse {
//				return nil // a void, a capture
//			}
//			_, err := tx.ExecContext(ctx, `INSERT INTO refunds (id, order_id, amount, state) VALUES (?, ?, ?, ?)
//				ON CONFLICT (id) DO UPDATE SET state = excluded.state`, w.ID, w.Order, w.Amount.StringFixed(2), w.Text()) // the console's has no row yet
//			return err
//		default: // an agreement, a registration
//			return nil
//		}
//	}
//
//	func markPayment(ctx context.Context, tx *sql.Tx, p durable.Payment) error {
//		var amount decimal.Decimal
//		var currency quickstream.Currency
//		var paidBy string
//		order := tx.QueryRowContext(ctx, "SELECT amount, currency, paid_by FROM orders WHERE id = ?", p.Order)
//		if err := order.Scan(&amount, &currency, &paidBy); err != nil {
//			return err
//		}
//		state := p.Text()
//		switch {
//		case p.State == durable.StateDoubleCharged:
//			state = "check" // a person decides which payment to refund
//		case p.Paid() && p.Amount.Equal(amount) && p.Currency == currency:
//			state, paidBy = "paid", p.ID
//		case p.Paid():
//			state, paidBy = "check", p.ID // another amount
//		case paidBy != p.ID && (paidBy != "" || p.ReplacedBy != ""):
//			return nil // another payment has paid the order, or has replaced this one
//		default:
//			paidBy = ""
//		}
//		_, err := tx.ExecContext(ctx, "UPDATE orders SET state = ?, paid_by = ? WHERE id = ? AND state <> 'check'", state, paidBy, p.Order)
//		return err
//	}
//
// If it fails nothing is lost: it is notified again, with pauses that grow to an hour, and
// [Health] counts such writes. Its errors and panics are stored and logged as types and places. It is
// called with a row of the write locked: be quick, and call neither the API nor the engine without
// the transaction.
//
// [Engine.Inbox] is the handler of webhooks. It answers when a notification is
// committed, and acts on it in a job; what is about no write of the engine's goes to
// Options.OnEvent.
//
// # One facility
//
// Options.Installation names the installation. Before the first claim the engine reads the address and
// the businesses of the service and stores them. A program with another address, or with other
// businesses, such as a test system on a copy of the database, claims nothing: see [FacilityError] and
// [Engine.ConfirmFacility]. On PostgreSQL installations can share a database by schemas of their own.
//
// # Time
//
// Everything is compared with the database's clock. A process goes on from one reading to the next by its
// monotonic clock, so the clocks of machines count for nothing. The time is stored every minute. If the
// database's clock is more than a minute from where a process expects it, or more than two from what
// was stored when a process starts, it is believed when the service's Date agrees within an hour. Until then
// nothing is given up, emptied or done for the day, and sending goes on: see Health.ClockDoubted. No pause
// before a send and no claim ends by a leap: they count from the leap on. A process that starts while the
// service's Date is more than an hour from the database's clock doubts the clock too, and goes by that Date.
//
// # History
//
// A backup or a standby may not know what was sent last. Before each claim the engine looks which history
// of the database this is: another timeline, server start, place or database, or a SQLite file that
// is older than the mark beside it. After a change sales go on. For a quarter of an hour, which is how long
// look-ups may lag (an assumption), and for what was there before whenever it is sent, a look-up comes before
// the send, and finds it by the reference and the intent id that follow from the id. Payments that
// the database lacks are read from the service's lists and stored; payments wait until they were
// read once, for three minutes at most. Look-ups go on until that search has ended, and for follow-ups, which
// it does not find, for a week. If the database may be a copy of one that is in use, what was queued waits for
// a quarter of an hour, or for [Engine.ConfirmHistory]. REPLICATION.md has a table of what each kind of
// replication can lose. Call [Engine.Restored] only if rows were put back by hand.
//
// A claim ends after [quickstream.ClaimLife]. As long as a process may be sending a write,
// Decide and PayAgain return a [StillSendingError].
//
// # Operation
//
// Any number of engines work on one PostgreSQL database; deploy by [Engine.Stop], which
// lets what is under way come to its end. [Engine.Health] is for health checks. alerts.yml has alerts for
// Prometheus on all of it, and module otelquickstream/oteldurable the metrics. [Engine.List] and
// [Engine.Details] are for people, who decide about the version that they have seen, as by the pages of package
// console. [Engine.Pause] stops all processes. Options.CompareAt compares
// each day with the service's list, or with its report by Options.Report, and notifies
// Options.OnDifference. Options.Keep limits how long writes are kept: then they are emptied,
// and their ids stay. [MigrateUp] may run at every start, by all
// processes at once; a program that
// is older than the tables refuses to work on them, and leaves rows alone that it does not
// know in full. The log shows no handles.
//
// # Limits
//
//   - A SQLite file is for one process, and its mark has to stay beside it.
//   - synchronous has to be FULL on SQLite, and neither synchronous_commit nor fsync off on
//     PostgreSQL, nor synchronous_commit local beside synchronous standbys: a commit that is lost is a
//     second charge. [New] checks it.
//   - PostgreSQL has to let the role call pg_control_system, pg_walfile_name and
//     pg_current_wal_insert_lsn, as it does by default. [New] checks it.
//   - Captures of one pre-authorisation are not added up: the service judges them.
//   - Of an account registration and an upload the service does not say which request made
//     it. One whose answer is lost is escalated if something may be it.
package durable
