-- What a confirmation is about, what makes one unnecessary for some minutes, and which passkey allowed a command line.
-- Runs with version 0.1.0 or later.
ALTER TABLE challenges ADD COLUMN subject text;

-- Whether it was opened by the registration of its account.
ALTER TABLE sessions ADD COLUMN registered boolean NOT NULL DEFAULT false;

ALTER TABLE account_secrets
  -- When the value was stored, and in which session; NULL for those from before.
  ADD COLUMN stored_at timestamptz(3),
  ADD COLUMN stored_in text;

-- The passkey that allowed it; NULL for those from before, and where nobody decided yet.
ALTER TABLE author_requests ADD COLUMN passkey_id text;
ALTER TABLE author_tokens ADD COLUMN passkey_id text;
