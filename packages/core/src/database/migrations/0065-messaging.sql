-- Messaging: the server name that addresses have, who takes part, conversations with their sealed messages, and contacts.
-- Runs with version 0.1.0 or later.

CREATE TABLE messaging_server (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  name text NOT NULL,
  kept_at timestamptz NOT NULL
);

CREATE TABLE messaging_accounts (
  account_key text PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
  provisioned_at timestamptz NOT NULL,
  changes bigint NOT NULL DEFAULT 0,
  sent_bytes bigint NOT NULL DEFAULT 0
);

CREATE TABLE conversations (
  id uuid PRIMARY KEY,
  low_key text NOT NULL,
  high_key text NOT NULL,
  low_gone boolean NOT NULL DEFAULT false,
  high_gone boolean NOT NULL DEFAULT false,
  sealed_key bytea NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (low_key, high_key),
  CHECK (low_key < high_key)
);
CREATE INDEX conversations_high ON conversations (high_key);

CREATE TABLE conversation_sides (
  account_key text NOT NULL REFERENCES messaging_accounts ON DELETE CASCADE,
  conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
  state text NOT NULL CHECK (state IN ('open', 'requested', 'request', 'left')),
  blocked boolean NOT NULL DEFAULT false,
  was_open boolean NOT NULL DEFAULT false,
  declined_at timestamptz,
  asked_at timestamptz,
  asked_messages integer NOT NULL DEFAULT 0,
  unread integer NOT NULL DEFAULT 0,
  read_change bigint NOT NULL DEFAULT 0,
  last_message_at timestamptz,
  latest_change bigint NOT NULL,
  changed bigint NOT NULL,
  PRIMARY KEY (account_key, conversation_id)
);
CREATE INDEX conversation_sides_latest ON conversation_sides (account_key, latest_change);
CREATE INDEX conversation_sides_changed ON conversation_sides (account_key, changed);
CREATE INDEX conversation_sides_asked ON conversation_sides (account_key, asked_at);
CREATE INDEX conversation_sides_conversation ON conversation_sides (conversation_id);

CREATE TABLE conversation_messages (
  id uuid PRIMARY KEY,
  conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
  from_low boolean NOT NULL,
  sealed bytea NOT NULL,
  sent_at timestamptz NOT NULL,
  low_change bigint,
  high_change bigint,
  installation_id text NOT NULL,
  transaction_id text NOT NULL,
  UNIQUE (installation_id, transaction_id)
);
CREATE UNIQUE INDEX conversation_messages_low ON conversation_messages (conversation_id, low_change)
  WHERE low_change IS NOT NULL;
CREATE UNIQUE INDEX conversation_messages_high ON conversation_messages (conversation_id, high_change)
  WHERE high_change IS NOT NULL;

-- Written in the transaction by which a message or request arrives, and there until it is a notification.
CREATE TABLE message_notices (
  id text PRIMARY KEY CHECK (id LIKE 'ntf-%'),
  account_key text NOT NULL REFERENCES messaging_accounts ON DELETE CASCADE,
  conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
  occurred_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX message_notices_due ON message_notices (due_at);

CREATE TABLE contacts (
  id text PRIMARY KEY,
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  address text NOT NULL,
  external boolean NOT NULL,
  transport_user_id text,
  resolved_at timestamptz,
  label text NOT NULL,
  note text NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (account_key, address)
);
