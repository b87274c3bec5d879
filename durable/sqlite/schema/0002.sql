-- The customer's reference as a digest, by which a customer's writes are found.
ALTER TABLE quickstream_write ADD COLUMN customer text NOT NULL DEFAULT '';

CREATE INDEX quickstream_write_customer ON quickstream_write (customer) WHERE customer <> '';

CREATE INDEX quickstream_write_states ON quickstream_write (state, written_at);

CREATE INDEX quickstream_write_pending ON quickstream_write (id) WHERE pending <> '';

CREATE INDEX quickstream_notification_received ON quickstream_notification (received_at, id, digest) WHERE state = 'received';
