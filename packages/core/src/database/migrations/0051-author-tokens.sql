-- Runs with version 0.1.0 or later.
-- How command lines of authors sign in: requests that wait for a person's approval, and the tokens that come of them.

CREATE TABLE author_requests (
  -- SHA-256 of the secret with which the command line collects its token.
  token_hash bytea PRIMARY KEY,
  -- HMAC of the code that the person enters; the code is short, so a plain hash would not hide it.
  code_hash bytea NOT NULL UNIQUE,
  machine text NOT NULL,
  -- The client address it came from.
  address text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Who decided, and how; NULL while nobody has.
  account_key text REFERENCES accounts (key) ON DELETE CASCADE,
  allowed boolean
);
CREATE INDEX author_requests_by_age ON author_requests (created_at);
CREATE INDEX author_requests_account ON author_requests (account_key) WHERE account_key IS NOT NULL;

CREATE TABLE author_tokens (
  id text PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  account_key text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  machine text NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX author_tokens_account ON author_tokens (account_key, last_used_at DESC);
