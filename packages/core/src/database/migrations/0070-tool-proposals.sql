-- Calls of tools that wait for their person, and for a while what became of them.
-- Runs with version 0.1.0 or later.

CREATE TABLE tool_proposals (
  id text PRIMARY KEY,
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  -- The installation or connection that proposes.
  caller_id text NOT NULL,
  -- The app id, or the id of the connection.
  caller text NOT NULL,
  caller_name text NOT NULL,
  -- Of a connected client.
  caller_host text,
  tool text NOT NULL,
  title text,
  description text,
  -- Of an app's tool.
  app_id text,
  app_name text,
  -- SHA-256 of what the tool was when it was proposed.
  definition_hash bytea NOT NULL,
  confirms boolean NOT NULL,
  -- JSON.
  arguments text NOT NULL,
  arguments_hash bytea NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'running', 'executed', 'failed', 'declined')),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  decided_at timestamptz,
  -- JSON, of what the tool answered.
  result text
);
CREATE INDEX tool_proposals_account ON tool_proposals (account_key, id);
CREATE INDEX tool_proposals_caller ON tool_proposals (caller_id, id);
CREATE INDEX tool_proposals_expiry ON tool_proposals (expires_at);
CREATE INDEX tool_proposals_running ON tool_proposals (decided_at) WHERE state = 'running';
