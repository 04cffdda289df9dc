-- What the master account sets in Fleet: who may register, the default plan, AI providers, and the record of changes. What the
-- operator's files say wins; the former version knows the files alone.
-- Runs with version 0.1.0 or later.

CREATE TABLE platform_settings (
  name text PRIMARY KEY,
  value jsonb NOT NULL
);

CREATE TABLE platform_providers (
  id text PRIMARY KEY,
  -- Name, base URL, dialect, variables and models.
  details jsonb NOT NULL,
  -- The platform's key, under the master key, for this provider and origin; NULL for none.
  sealed bytea,
  -- The order in which they were added.
  position bigint GENERATED ALWAYS AS IDENTITY
);

-- The newest ones; see the limit `settingChanges`.
CREATE TABLE platform_changes (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  changed_at timestamptz(3) NOT NULL,
  -- Without a reference: it stays when the account goes.
  account_name text NOT NULL,
  -- Never a key.
  change jsonb NOT NULL
);
