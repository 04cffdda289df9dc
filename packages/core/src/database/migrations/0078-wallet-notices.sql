-- What happened in the wallet and is to become a notification.
-- Runs with version 0.1.0 or later.

CREATE TABLE wallet_notices (
  id text PRIMARY KEY,
  account_key text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  -- JSON.
  event jsonb NOT NULL,
  occurred_at timestamptz(3) NOT NULL,
  due_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX wallet_notices_due ON wallet_notices (due_at);
