-- What apps that make apps see of those: errors of their pages, and where a person looks at one before they accept it.
-- Runs with version 0.1.0 or later.

CREATE TABLE app_page_errors (
  installation_id text NOT NULL REFERENCES installations (id) ON DELETE CASCADE,
  -- SHA-256 of the report and of the version.
  digest bytea NOT NULL,
  version text NOT NULL,
  -- JSON, of the contract.
  report text NOT NULL,
  times integer NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (installation_id, digest)
);
CREATE INDEX app_page_errors_age ON app_page_errors (last_at);

CREATE TABLE app_draft_previews (
  draft_id text PRIMARY KEY REFERENCES app_drafts (id) ON DELETE CASCADE,
  host_label text NOT NULL UNIQUE,
  app_id text NOT NULL,
  expires_at timestamptz NOT NULL
);

-- The versions that apps made: their owner may publish others by hand, which are none of the maker's business.
CREATE TABLE made_versions (
  account_key text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  app_id text NOT NULL,
  version text NOT NULL,
  -- SHA-256 of the package, hexadecimal.
  hash text NOT NULL,
  PRIMARY KEY (account_key, app_id, version)
);
