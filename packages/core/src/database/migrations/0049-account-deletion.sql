-- Deletion of an account by its owner, after a grace; and confirmations of single operations with a passkey.
-- Runs with version 0.1.0 or later.
ALTER TABLE accounts
  -- Its owner asked for the deletion then. It is paused from then on.
  ADD COLUMN deletion_requested_at timestamptz(3),
  -- Until then one replica deletes it.
  ADD COLUMN deletion_leased_until timestamptz(3);
CREATE INDEX accounts_to_delete ON accounts (deletion_requested_at) WHERE deletion_requested_at IS NOT NULL;

ALTER TABLE challenges
  ADD COLUMN confirms text,
  DROP CONSTRAINT challenges_operation_check,
  ADD CONSTRAINT challenges_operation_check
    CHECK (operation IN ('register', 'login', 'add-passkey', 'enrol', 'confirm'));
