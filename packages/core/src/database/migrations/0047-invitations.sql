-- One-time invitations to register, for a platform that is not open to everybody.
-- Runs with version 0.1.0 or later.

CREATE TABLE invitations (
  id text PRIMARY KEY CHECK (id LIKE 'inv-%'),
  token_hash bytea NOT NULL UNIQUE,
  -- The name that the account must get; NULL for any.
  account_name text,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL
);

-- The invitation that a registration was begun with. Without a reference: whether it still counts is asked at the end.
ALTER TABLE challenges ADD COLUMN invitation_hash bytea;
