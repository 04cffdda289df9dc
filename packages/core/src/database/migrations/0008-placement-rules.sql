-- What the operator demands of the nodes of certain backends: a label that each of them must have.

CREATE TABLE placement_rules (
  label text NOT NULL,
  -- Whose backends; NULL means every account's.
  account_key text REFERENCES accounts (key) ON DELETE CASCADE,
  -- Backends of which app, installed or not; NULL means every app's.
  app_id text,
  CONSTRAINT placement_rules_says_whose CHECK (account_key IS NOT NULL OR app_id IS NOT NULL),
  CONSTRAINT placement_rules_once UNIQUE NULLS NOT DISTINCT (account_key, app_id, label)
);
