-- Clients outside the platform: those that registered themselves, their requests to connect, what people allowed them, and the
-- tokens that came of it, which are known by their SHA-256 only.
-- Runs with version 0.1.0 or later.

CREATE TABLE connection_clients (
  id text PRIMARY KEY,
  name text NOT NULL,
  redirect_uris text[] NOT NULL,
  created_at timestamptz NOT NULL,
  -- When a person last allowed it something; NULL while nobody has.
  used_at timestamptz
);
CREATE INDEX connection_clients_unused ON connection_clients (created_at) WHERE used_at IS NULL;

CREATE TABLE connection_requests (
  -- SHA-256 of its id, which the browser that began it and the shell know.
  id_hash bytea PRIMARY KEY,
  payload jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Who decided; NULL while nobody has.
  account_key text REFERENCES accounts (key) ON DELETE CASCADE,
  -- SHA-256 of what the browser in which it was decided continues with, once.
  continuation_hash bytea
);
CREATE INDEX connection_requests_by_age ON connection_requests (created_at);
CREATE INDEX connection_requests_expiry ON connection_requests (expires_at);
CREATE INDEX connection_requests_account ON connection_requests (account_key) WHERE account_key IS NOT NULL;

CREATE TABLE connections (
  id text PRIMARY KEY,
  account_key text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  client_id text NOT NULL,
  client_name text NOT NULL,
  client_host text NOT NULL,
  -- Of the address to which the client was given its code: pages of this origin may use the token.
  client_origin text NOT NULL,
  -- NULL for the tools of all apps.
  app_id text,
  scopes text[] NOT NULL,
  -- The one that allowed it.
  passkey_id text NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX connections_account ON connections (account_key, created_at DESC);
CREATE INDEX connections_client ON connections (client_id);

CREATE TABLE connection_tokens (
  token_hash bytea PRIMARY KEY,
  connection_id text NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('code', 'access', 'refresh')),
  -- What belongs to it, without the token.
  payload jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- A code or refresh token that was exchanged is kept, so that its second use is noticed.
  used_at timestamptz
);
CREATE INDEX connection_tokens_connection ON connection_tokens (connection_id, kind, created_at DESC);
CREATE INDEX connection_tokens_expiry ON connection_tokens (expires_at);
