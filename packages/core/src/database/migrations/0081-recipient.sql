-- The recipient of an account: the key for which apps encrypt for the person, sealed for each of their passkeys.
-- Runs with version 0.1.0 or later.

CREATE TABLE account_recipients (
  account_key text PRIMARY KEY REFERENCES accounts (key) ON DELETE CASCADE,
  version integer NOT NULL,
  -- Of X25519, base64url.
  public_key text NOT NULL
);

CREATE TABLE recipient_wrappings (
  account_key text NOT NULL REFERENCES account_recipients (account_key) ON DELETE CASCADE,
  -- SHA-256 of the credential id, hexadecimal.
  passkey_id text NOT NULL,
  salt text NOT NULL CHECK (salt IN ('rp', 'older')),
  sealed text NOT NULL,
  PRIMARY KEY (account_key, passkey_id)
);
