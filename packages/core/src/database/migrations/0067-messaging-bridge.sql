-- What core keeps of messages that go through a bridge: whom an account wrote to first and when, and what was sent under a
-- transaction, of which only a hash.
-- Runs with version 0.1.0 or later.

CREATE TABLE bridge_requests (
  account_key text NOT NULL REFERENCES messaging_accounts ON DELETE CASCADE,
  user_id text NOT NULL,
  asked_at timestamptz NOT NULL,
  PRIMARY KEY (account_key, user_id)
);
CREATE INDEX bridge_requests_asked ON bridge_requests (account_key, asked_at);

CREATE TABLE bridge_sends (
  installation_id text NOT NULL,
  transaction_id text NOT NULL,
  account_key text NOT NULL REFERENCES messaging_accounts ON DELETE CASCADE,
  digest bytea NOT NULL,
  PRIMARY KEY (installation_id, transaction_id)
);
CREATE INDEX bridge_sends_account ON bridge_sends (account_key);
