-- Files: those of one app, and those of the account.
-- Runs with version 0.1.0 or later.

CREATE TABLE content_files (
  id text PRIMARY KEY,
  space_id text NOT NULL REFERENCES content_spaces (id) ON DELETE CASCADE,
  -- Whose private file it is; NULL for one of the account.
  installation_id text REFERENCES installations (id) ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  media_type text NOT NULL,
  etag text NOT NULL,
  size bigint NOT NULL,
  body_id text NOT NULL REFERENCES content_bodies (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX content_files_app ON content_files (installation_id, name) WHERE installation_id IS NOT NULL;
CREATE UNIQUE INDEX content_files_account ON content_files (space_id, name) WHERE installation_id IS NULL;
CREATE INDEX content_files_space ON content_files (space_id);
CREATE INDEX content_files_body ON content_files (body_id);

-- To whom an app opened its file: another app of the same account, or an account.
CREATE TABLE content_file_entries (
  file_id text NOT NULL REFERENCES content_files (id) ON DELETE CASCADE,
  app_id text,
  account_key text REFERENCES accounts (key) ON DELETE CASCADE,
  access text NOT NULL CHECK (access IN ('read', 'write', 'manage')),
  CHECK ((app_id IS NULL) <> (account_key IS NULL)),
  UNIQUE NULLS NOT DISTINCT (file_id, app_id, account_key)
);
CREATE INDEX content_file_entries_account ON content_file_entries (account_key) WHERE account_key IS NOT NULL;

-- What a person handed to an app of theirs, until they take it back.
CREATE TABLE content_transfers (
  file_id text NOT NULL REFERENCES content_files (id) ON DELETE CASCADE,
  account_key text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  app_id text NOT NULL,
  access text NOT NULL CHECK (access IN ('read', 'write')),
  since timestamptz NOT NULL,
  PRIMARY KEY (file_id, account_key, app_id)
);
CREATE INDEX content_transfers_account ON content_transfers (account_key, since);
