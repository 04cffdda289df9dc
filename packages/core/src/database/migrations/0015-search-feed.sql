-- A search engine beside PostgreSQL: which one, how far it is, and what it was not told yet.

-- One row while another engine is used, none otherwise.
CREATE TABLE search_feeds (
  engine text PRIMARY KEY CHECK (engine = 'opensearch'),
  -- Where it is, without credentials: elsewhere everything is told anew.
  address text NOT NULL,
  -- Each filling has an index of its own.
  index_name text NOT NULL,
  -- Indexes of former fillings, to be deleted.
  obsolete text[] NOT NULL DEFAULT '{}',
  -- filling: entries that were there before are put into the outbox, those of one installation after the other.
  -- draining: all are, and the outbox is being told. ready: it answers searches.
  state text NOT NULL DEFAULT 'filling' CHECK (state IN ('filling', 'draining', 'ready')),
  filled_to text NOT NULL DEFAULT ''
);

CREATE SEQUENCE search_outbox_order;

-- Entries that changed or went, each once. What they are now is read when they are told, so the newest is enough.
-- Without references: it is told of what is gone.
CREATE TABLE search_outbox (
  installation_id text NOT NULL,
  entry_id text NOT NULL,
  account_key text NOT NULL,
  sequence bigint NOT NULL DEFAULT nextval('search_outbox_order'),
  PRIMARY KEY (installation_id, entry_id)
);
CREATE INDEX search_outbox_next ON search_outbox (sequence);
-- Whose entries are not all told yet is answered by PostgreSQL.
CREATE INDEX search_outbox_of_account ON search_outbox (account_key);
