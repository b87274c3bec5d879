-- Both indexes serve only searches in River's user interface, and every job writes them.
DROP INDEX IF EXISTS quickstream.river_job_args_index;

DROP INDEX IF EXISTS quickstream.river_job_metadata_index;

-- Payments and follow-ups. A write that retention has emptied keeps its id, its order and its
-- amounts: see "Personal data" in durable/README.md. All times are the database's.
CREATE TABLE quickstream.write (
	id text PRIMARY KEY,
	order_id text COLLATE "C" NOT NULL, -- so that a prefix is a range
	operation text NOT NULL,
	follows text NOT NULL, -- the payment that it follows; '' for a payment
	written_at timestamptz NOT NULL,
	business text NOT NULL,
	source text NOT NULL, -- digest of a stored account or agreement
	token text NOT NULL, -- digest of a single-use token
	customer text NOT NULL, -- digest of the customer's reference
	title text NOT NULL,
	reference text NOT NULL,
	amount numeric(18,2),
	currency text NOT NULL,
	state text NOT NULL,
	reason text NOT NULL,
	version bigint NOT NULL,
	claim text NOT NULL,
	sends integer NOT NULL,
	key_number integer NOT NULL,
	first_sent_at timestamptz,
	last_sent_at timestamptz,
	key_sent_at timestamptz, -- the first send under this key
	permit text NOT NULL, -- the answer that permits another send, or ''
	suspect bigint NOT NULL, -- 1: it was queued before the history of the database changed; 2: and a list or a look-up has failed since
	give_up text NOT NULL, -- the reason why it must not be sent any more
	next_at timestamptz, -- when work on it is due; null if there is none
	looked_at timestamptz, -- the last look-up that succeeded
	changed_at timestamptz NOT NULL,
	changes bigint NOT NULL, -- how many changes OnOutcome is notified of
	notified bigint NOT NULL, -- how many of them it was notified of
	reported_state text NOT NULL,
	reported_reason text NOT NULL,
	replaced_by text NOT NULL,
	receipt text NOT NULL,
	digits text NOT NULL, -- the last digits of the card
	total numeric(18,2),
	settles_on text NOT NULL,
	failures bigint NOT NULL,
	problem text NOT NULL,
	decided boolean NOT NULL, -- a person has closed it
	lookups text NOT NULL, -- the case of package resolve, without the intent
	intent text NOT NULL
) WITH (fillfactor = 60);

-- One order, one payment: the payment that counts has '' here, and all other writes of the order have their ids.
CREATE UNIQUE INDEX quickstream_write_order ON quickstream.write (order_id, (
	CASE WHEN follows = '' AND replaced_by = '' AND state NOT IN ('declined', 'not_sent', 'voided', 'returned') THEN '' ELSE id END));

-- A single-use token is sent by one write.
CREATE UNIQUE INDEX quickstream_write_token ON quickstream.write (token) WHERE token <> '' AND state <> 'not_sent';

CREATE INDEX quickstream_write_next ON quickstream.write (next_at) WHERE next_at IS NOT NULL;

CREATE INDEX quickstream_write_notify ON quickstream.write (changed_at) WHERE changes > notified;

CREATE INDEX quickstream_write_follows ON quickstream.write (follows) WHERE follows <> '';

CREATE INDEX quickstream_write_receipts ON quickstream.write (receipt) WHERE receipt <> '';

CREATE INDEX quickstream_write_references ON quickstream.write (reference) WHERE reference <> '';

CREATE INDEX quickstream_write_settles ON quickstream.write (settles_on, receipt) WHERE settles_on <> '';

CREATE INDEX quickstream_write_customer ON quickstream.write (customer) WHERE customer <> '';

CREATE INDEX quickstream_write_states ON quickstream.write (state, written_at);

-- The history of the writes. Rows are only added, until retention removes them. Each write counts its own, without a sequence.
CREATE TABLE quickstream.event (
	write_id text NOT NULL,
	number bigint NOT NULL,
	at timestamptz NOT NULL,
	kind text NOT NULL,
	by text NOT NULL,
	note text NOT NULL,
	state text NOT NULL,
	reason text NOT NULL,
	detail text NOT NULL,
	PRIMARY KEY (write_id, number)
);

CREATE INDEX quickstream_event_by ON quickstream.event (by, at) WHERE by <> '';

CREATE TABLE quickstream.notification (
	id text NOT NULL,
	digest text NOT NULL,
	raw text NOT NULL,
	state text NOT NULL,
	received_at timestamptz NOT NULL,
	changed_at timestamptz NOT NULL,
	failures bigint NOT NULL,
	problem text NOT NULL,
	PRIMARY KEY (id, digest)
);

CREATE INDEX quickstream_notification_received ON quickstream.notification (received_at, id, digest) WHERE state = 'received';
