-- The account that was named at the console to look after the platform, one at most, and who put the guide for it away.
-- Runs with version 0.1.0 or later.
ALTER TABLE accounts ADD COLUMN named_master_at timestamptz(3);
ALTER TABLE accounts ADD COLUMN guide_dismissed_at timestamptz(3);
CREATE UNIQUE INDEX accounts_one_named_master ON accounts ((true)) WHERE named_master_at IS NOT NULL;

CREATE OR REPLACE VIEW account_states AS
SELECT key, name, suspended_at, paused_at, deletion_requested_at, plan, named_master_at
  FROM accounts;
