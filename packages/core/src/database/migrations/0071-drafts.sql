-- Apps that apps made: those that wait for their person, and which apps came of them.
-- Runs with version 0.1.0 or later.

CREATE TABLE app_drafts (
  id text PRIMARY KEY,
  account_key text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  -- That made it.
  installation_id text NOT NULL REFERENCES installations (id) ON DELETE CASCADE,
  app_id text NOT NULL,
  version text NOT NULL,
  -- SHA-256 of the package, hexadecimal.
  hash text NOT NULL,
  manifest jsonb NOT NULL,
  package bytea NOT NULL,
  -- Of its files.
  bytes integer NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Somebody accepts it; over at this time, also where the process that did it died.
  deciding_until timestamptz
);
CREATE INDEX app_drafts_account ON app_drafts (account_key, id);
CREATE INDEX app_drafts_installation ON app_drafts (installation_id);
CREATE INDEX app_drafts_expiry ON app_drafts (expires_at);

CREATE TABLE made_apps (
  account_key text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  app_id text NOT NULL,
  -- The id of the app that made it, which alone hands in further versions.
  made_by text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_key, app_id)
);
