-- Installations whose data is being deleted; their backends are on no node until it is.
-- Runs with version 0.1.0 or later.
CREATE TABLE data_deletions (
  installation_id text PRIMARY KEY REFERENCES installations ON DELETE CASCADE,
  requested_at timestamptz(3) NOT NULL,
  -- When it is tried next; while it is under way, when another replica may try.
  due_at timestamptz(3) NOT NULL,
  attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX data_deletions_due ON data_deletions (due_at);
