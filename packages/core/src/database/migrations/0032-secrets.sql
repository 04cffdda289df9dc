-- Secrets of accounts, and the slots of installed apps that use them.
-- Runs with version 0.1.0 or later.

CREATE TABLE account_secrets (
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  name text NOT NULL,
  -- Under the master key, for this account and name.
  sealed bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  last_used_at timestamptz(3),
  PRIMARY KEY (account_key, name)
);

CREATE TABLE secret_bindings (
  installation_id text NOT NULL REFERENCES installations ON DELETE CASCADE,
  slot text NOT NULL,
  account_key text NOT NULL,
  secret_name text NOT NULL,
  -- Of the declaration that the owner reviewed; it counts only while the installed version declares the same.
  declaration_hash text NOT NULL,
  -- That declaration: origin, path prefix and methods, for people.
  declaration jsonb NOT NULL,
  inject_in text NOT NULL CHECK (inject_in IN ('header', 'query')),
  inject_name text NOT NULL,
  inject_scheme text NOT NULL,
  PRIMARY KEY (installation_id, slot),
  FOREIGN KEY (account_key, secret_name) REFERENCES account_secrets ON DELETE CASCADE
);
CREATE INDEX secret_bindings_of_secret ON secret_bindings (account_key, secret_name);
