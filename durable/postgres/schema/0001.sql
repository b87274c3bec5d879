-- Both serve searches in River's user interface alone, and are written for every job.
DROP INDEX IF EXISTS quickstream.river_job_args_index;

DROP INDEX IF EXISTS quickstream.river_job_metadata_index;

-- What the merchant writes. A write that retention has emptied keeps its id, its order and its
-- amounts: see "Personal data" in durable/README.md. What is written once stands first and last, and
-- pages have room for changed rows, so that the log of the server gets the middle of a row alone.
CREATE TABLE quickstream.write (
	id text PRIMARY KEY,
	order_id text NOT NULL,
	kind text NOT NULL, -- payment, follow_up or other
	operation text NOT NULL,
	follows text NOT NULL, -- the write that it follows, or the agreement that it changes
	written_at timestamptz NOT NULL,
	database_at timestamptz NOT NULL, -- written_at by the database's clock
	business text NOT NULL,
	source text NOT NULL, -- digest of a stored account or agreement
	token text NOT NULL, -- digest of a single-use token
	request text NOT NULL, -- digest of the whole request, if it was made with options
	reference text NOT NULL,
	intent_id text NOT NULL,
	end_to_end_id text NOT NULL,
	amount numeric(18,2),
	currency text NOT NULL,
	state text NOT NULL,
	outcome text NOT NULL,
	reversal text NOT NULL,
	version bigint NOT NULL,
	claim text NOT NULL,
	sends integer NOT NULL,
	key_number integer NOT NULL,
	first_sent_at timestamptz,
	last_sent_at timestamptz,
	key_sent_at timestamptz, -- first under this key
	permit text NOT NULL, -- the answer that permits another send, or ''
	next_at timestamptz, -- when there is something to do; null if there is nothing
	due_at timestamptz, -- when that is enqueued, again if its job was lost
	changed_at timestamptz NOT NULL,
	replaced_by text NOT NULL,
	receipt text NOT NULL,
	total numeric(18,2),
	settles_on text NOT NULL,
	lookups text NOT NULL, -- the case of package resolve, without the intent
	pending text NOT NULL, -- what OnOutcome has refused
	failures bigint NOT NULL,
	problem text NOT NULL,
	decision text NOT NULL,
	intent text NOT NULL
) WITH (fillfactor = 60);

-- One order, one payment: all others of the order have their ids here.
CREATE UNIQUE INDEX quickstream_write_order ON quickstream.write (order_id, (
	CASE WHEN kind = 'payment' AND replaced_by = '' AND NOT (state IN ('refused', 'not_sent')
		OR state = 'settled' AND (outcome IN ('declined', 'rejected') OR reversal IN ('voided', 'returned'))) THEN '' ELSE id END));

-- A single-use token is sent by one write.
CREATE UNIQUE INDEX quickstream_write_token ON quickstream.write (token) WHERE token <> '' AND state <> 'not_sent';

CREATE INDEX quickstream_write_due ON quickstream.write (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX quickstream_write_follows ON quickstream.write (follows) WHERE follows <> '';

CREATE INDEX quickstream_write_receipts ON quickstream.write (receipt) WHERE receipt <> '';

CREATE INDEX quickstream_write_references ON quickstream.write (reference) WHERE reference <> '';

CREATE INDEX quickstream_write_intents ON quickstream.write (intent_id) WHERE intent_id <> '';

CREATE INDEX quickstream_write_ends ON quickstream.write (end_to_end_id) WHERE end_to_end_id <> '';

CREATE INDEX quickstream_write_settles ON quickstream.write (settles_on, receipt) WHERE settles_on <> '';

-- What happened to a write. Rows are only added.
CREATE TABLE quickstream.event (
	number bigserial,
	write_id text NOT NULL,
	at timestamptz NOT NULL,
	kind text NOT NULL,
	by text NOT NULL,
	note text NOT NULL,
	state text NOT NULL,
	outcome text NOT NULL,
	reversal text NOT NULL,
	detail text NOT NULL,
	PRIMARY KEY (write_id, number)
);

CREATE TABLE quickstream.notification (
	id text NOT NULL,
	digest text NOT NULL,
	raw text NOT NULL,
	state text NOT NULL,
	next_at timestamptz,
	due_at timestamptz,
	received_at timestamptz NOT NULL,
	changed_at timestamptz NOT NULL,
	failures bigint NOT NULL,
	problem text NOT NULL,
	carrier text NOT NULL,
	PRIMARY KEY (id, digest)
);

CREATE INDEX quickstream_notification_due ON quickstream.notification (due_at) WHERE due_at IS NOT NULL;

-- What a comparison has seen, in a table of its own: writes are wide, and all of a day's would be
-- written again every night.
CREATE TABLE quickstream.compared (run text NOT NULL, id text NOT NULL, PRIMARY KEY (run, id));
