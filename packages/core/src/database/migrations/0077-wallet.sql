-- The wallet: a ledger of double entry, what apps propose to it, receipts of what was approved, and limits on proposals.
-- Runs with version 0.1.0 or later.

-- One side of the ledger. The account of a person goes, its side stays: the others' chains refer to it.
CREATE TABLE wallet_accounts (
  id text PRIMARY KEY,
  account_key text REFERENCES accounts (key) ON DELETE SET NULL,
  currency text NOT NULL,
  -- Of the currency when the side was opened.
  decimals integer NOT NULL,
  -- The operator's side, from which credits come: the only one below zero.
  issuer boolean NOT NULL DEFAULT false,
  balance bigint NOT NULL DEFAULT 0 CHECK (issuer OR (balance >= 0 AND balance <= 999999999999999)),
  -- Entries of it, and the hash of the newest.
  entries bigint NOT NULL DEFAULT 0,
  head bytea NOT NULL,
  UNIQUE (account_key, currency)
);
CREATE UNIQUE INDEX wallet_accounts_issuer ON wallet_accounts (currency) WHERE issuer;

CREATE TABLE wallet_proposals (
  id text PRIMARY KEY,
  account_key text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  installation_id text NOT NULL,
  app_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('payment', 'policy')),
  state text NOT NULL CHECK (state IN ('pending', 'executed', 'declined', 'failed')),
  -- RFC 8785, and its SHA-256, the challenge of the approval.
  operation text NOT NULL,
  operation_hash bytea NOT NULL,
  -- Of a payment.
  recipient_key text REFERENCES accounts (key) ON DELETE SET NULL,
  -- Of a policy: JSON, [address, SHA-256 of the account key in hex] of each.
  recipients text,
  target text,
  idempotency_key text NOT NULL,
  -- SHA-256 of the request.
  request_hash bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  receipt_id text,
  receipt_at timestamptz(3),
  UNIQUE (installation_id, idempotency_key)
);
CREATE INDEX wallet_proposals_account ON wallet_proposals (account_key, id);
CREATE INDEX wallet_proposals_recipient ON wallet_proposals (recipient_key);
CREATE INDEX wallet_proposals_expiry ON wallet_proposals (expires_at);

CREATE TABLE wallet_receipts (
  id text PRIMARY KEY,
  at timestamptz(3) NOT NULL,
  -- Who approved, and of a payment who was paid; NULL once deleted.
  account_key text REFERENCES accounts (key) ON DELETE SET NULL,
  payee_key text REFERENCES accounts (key) ON DELETE SET NULL,
  operation text NOT NULL,
  operation_hash bytea NOT NULL UNIQUE,
  -- JSON: what the passkey signed, and its public key; and its SHA-256.
  assertion text NOT NULL,
  assertion_hash bytea NOT NULL,
  -- JSON: the policies that admitted it, with their proofs.
  policies text NOT NULL
);
CREATE INDEX wallet_receipts_account ON wallet_receipts (account_key);
CREATE INDEX wallet_receipts_payee ON wallet_receipts (payee_key);

CREATE TABLE wallet_entries (
  account_id text NOT NULL REFERENCES wallet_accounts (id),
  number bigint NOT NULL,
  id text NOT NULL UNIQUE,
  -- Of both entries of one movement.
  transfer text NOT NULL,
  kind text NOT NULL,
  at timestamptz(3) NOT NULL,
  amount bigint NOT NULL CHECK (amount <> 0),
  balance bigint NOT NULL,
  counterparty_id text NOT NULL REFERENCES wallet_accounts (id),
  -- An address.
  counterparty text,
  reference text,
  app_id text,
  receipt_id text REFERENCES wallet_receipts (id),
  -- Of the receipt; NULL for what no person approves.
  operation_hash bytea,
  assertion_hash bytea,
  -- On the side of who paid: SHA-256 of the policies of the receipt.
  policies_hash bytea,
  -- Hash of the entry before, and of this one.
  previous bytea NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (account_id, number)
);
CREATE INDEX wallet_entries_transfer ON wallet_entries (transfer);

CREATE TABLE wallet_policies (
  id text PRIMARY KEY,
  account_key text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  name text NOT NULL,
  currency text NOT NULL,
  per_payment bigint NOT NULL,
  per_day bigint,
  per_month bigint,
  root bytea NOT NULL,
  -- Sorted.
  leaves bytea[] NOT NULL,
  app_ids text[],
  expires_at timestamptz(3),
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX wallet_policies_account ON wallet_policies (account_key, id);

-- Executed payments that a policy admitted.
CREATE TABLE wallet_policy_uses (
  policy_id text NOT NULL REFERENCES wallet_policies (id) ON DELETE CASCADE,
  receipt_id text NOT NULL REFERENCES wallet_receipts (id),
  at timestamptz(3) NOT NULL,
  amount bigint NOT NULL,
  PRIMARY KEY (policy_id, receipt_id)
);
CREATE INDEX wallet_policy_uses_time ON wallet_policy_uses (policy_id, at);

-- The ledger only grows.
CREATE FUNCTION wallet_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only';
END $$;
CREATE TRIGGER wallet_entries_append_only BEFORE UPDATE OR DELETE ON wallet_entries
  FOR EACH ROW EXECUTE FUNCTION wallet_append_only();
CREATE TRIGGER wallet_entries_not_truncated BEFORE TRUNCATE ON wallet_entries
  FOR EACH STATEMENT EXECUTE FUNCTION wallet_append_only();
CREATE TRIGGER wallet_receipts_append_only BEFORE DELETE ON wallet_receipts
  FOR EACH ROW EXECUTE FUNCTION wallet_append_only();
CREATE TRIGGER wallet_receipts_fixed
  BEFORE UPDATE OF id, at, operation, operation_hash, assertion, assertion_hash, policies ON wallet_receipts
  FOR EACH ROW EXECUTE FUNCTION wallet_append_only();
