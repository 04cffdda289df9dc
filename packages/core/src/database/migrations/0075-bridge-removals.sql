-- Accounts that were deleted, and that the messaging bridge is to forget.
-- Runs with version 0.1.0 or later.

CREATE TABLE bridge_removals (
  account_key text PRIMARY KEY,
  -- Names its address at the homeserver, which nobody else gets.
  name text NOT NULL,
  due_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX bridge_removals_due ON bridge_removals (due_at);
