-- Notices of the platform itself in the inbox, such as of a new passkey.
-- Runs with version 0.1.0 or later.
ALTER TABLE notifications ALTER COLUMN installation_id DROP NOT NULL;

-- Written in the transaction of what happened, and there until the notification is stored.
CREATE TABLE security_notices (
  -- Of the notification.
  id text PRIMARY KEY CHECK (id LIKE 'ntf-%'),
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  -- In which it was done; it may have ended since.
  session_id text NOT NULL,
  event jsonb NOT NULL,
  occurred_at timestamptz(3) NOT NULL,
  -- Next attempt; also until when a replica works on it.
  due_at timestamptz(3) NOT NULL,
  attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX security_notices_due ON security_notices (due_at);
