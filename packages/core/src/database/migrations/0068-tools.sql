-- Tools: what serving apps offer, as they said last, and the record of calls.
-- Runs with version 0.1.0 or later.

CREATE TABLE served_tools (
  installation_id text PRIMARY KEY REFERENCES installations ON DELETE CASCADE,
  version text NOT NULL,
  offer jsonb NOT NULL,
  listed_at timestamptz NOT NULL
);

CREATE TABLE tool_calls (
  id uuid PRIMARY KEY,
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  at timestamptz NOT NULL,
  caller text NOT NULL,
  tool text NOT NULL,
  outcome text NOT NULL,
  milliseconds integer NOT NULL,
  arguments_hash bytea NOT NULL
);
CREATE INDEX tool_calls_account ON tool_calls (account_key, id);
CREATE INDEX tool_calls_at ON tool_calls (at);
