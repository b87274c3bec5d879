-- The customer's reference as a digest, by which a customer's writes are found.
ALTER TABLE quickstream.write ADD COLUMN customer text NOT NULL DEFAULT '';

CREATE INDEX quickstream_write_customer ON quickstream.write (customer) WHERE customer <> '';

CREATE INDEX quickstream_write_states ON quickstream.write (state, written_at);

CREATE INDEX quickstream_write_pending ON quickstream.write (id) WHERE pending <> '';

CREATE INDEX quickstream_notification_received ON quickstream.notification (received_at, id, digest) WHERE state = 'received';
