-- What callers may still do, for all replicas together: token buckets from which replicas take a few tokens at a time.
-- Not logged: after a crash of the database every bucket is full again, and taking tokens waits for no disk.

CREATE UNLOGGED TABLE rate_buckets (
  kind text NOT NULL,
  subject text NOT NULL,
  tokens double precision NOT NULL,
  -- What the last taker was given.
  taken integer NOT NULL,
  at timestamptz(3) NOT NULL,
  PRIMARY KEY (kind, subject)
);
CREATE INDEX rate_buckets_at ON rate_buckets (at);
