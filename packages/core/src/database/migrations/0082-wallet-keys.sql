-- With which keys receipts are signed, what the currencies of the ledger are, and which confirmations were used whose challenge repeats.
-- Runs with version 0.1.0 or later.

-- The public keys that approvals were signed with. They outlast passkey and account, as receipts do.
CREATE TABLE wallet_keys (
  -- The address that the operation names.
  signer text NOT NULL,
  credential_id text NOT NULL,
  -- COSE.
  public_key bytea NOT NULL,
  first_used_at timestamptz(3) NOT NULL,
  PRIMARY KEY (signer, credential_id)
);
INSERT INTO wallet_keys (signer, credential_id, public_key, first_used_at)
  SELECT DISTINCT ON (1, 2) coalesce(operation::json ->> 'from', operation::json ->> 'account'),
         assertion::json -> 'credential' ->> 'id',
         decode(translate(assertion::json ->> 'publicKey', '-_', '+/')
           || repeat('=', (4 - length(assertion::json ->> 'publicKey') % 4) % 4), 'base64'), at
    FROM wallet_receipts ORDER BY 1, 2, at;
CREATE TRIGGER wallet_keys_append_only BEFORE UPDATE OR DELETE ON wallet_keys
  FOR EACH ROW EXECUTE FUNCTION wallet_append_only();
CREATE TRIGGER wallet_keys_not_truncated BEFORE TRUNCATE ON wallet_keys
  FOR EACH STATEMENT EXECUTE FUNCTION wallet_append_only();

-- A policy has the UUID of the receipt that approved it.
CREATE TEMPORARY TABLE renamed_policies ON COMMIT DROP AS
  SELECT p.id AS former, 'pol-' || substr(r.id, 5) AS id
    FROM wallet_policies p
    JOIN wallet_receipts r ON r.account_key = p.account_key AND r.at = p.created_at
     AND r.operation::json ->> 'recipientsRoot' = encode(p.root, 'hex') AND r.operation::json ->> 'name' = p.name;
INSERT INTO wallet_policies (id, account_key, name, currency, per_payment, per_day, per_month, root, leaves, app_ids, expires_at, created_at)
  SELECT n.id, account_key, name, currency, per_payment, per_day, per_month, root, leaves, app_ids, expires_at, created_at
    FROM wallet_policies p JOIN renamed_policies n ON n.former = p.id;
UPDATE wallet_policy_uses u SET policy_id = n.id FROM renamed_policies n WHERE n.former = u.policy_id;
DELETE FROM wallet_policies p USING renamed_policies n WHERE n.former = p.id;

-- Amounts are minor units: what they mean may not change.
CREATE TABLE wallet_currencies (code text PRIMARY KEY, decimals integer NOT NULL);
INSERT INTO wallet_currencies SELECT DISTINCT ON (currency) currency, decimals FROM wallet_accounts ORDER BY currency, issuer DESC;

-- Until when the same challenge may be given again; NULL for random ones, which never are.
ALTER TABLE challenges ADD COLUMN repeats_until timestamptz(3);
-- Assertions over a challenge that repeats, until it does no more: each counts once.
CREATE TABLE used_confirmations (
  -- SHA-256 of what was signed and by what.
  hash bytea PRIMARY KEY,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX used_confirmations_expiry ON used_confirmations (expires_at);
