-- Web push: the key of this platform, the browsers that subscribed, and the messages that wait for them.

-- VAPID (RFC 8292). One row, made by whichever replica starts first.
CREATE TABLE push_keys (
  name text PRIMARY KEY CHECK (name = 'vapid'),
  -- Uncompressed point, base64url: what browsers subscribe with.
  public_key text NOT NULL,
  -- Under the master key.
  sealed_private_key bytea NOT NULL,
  created_at timestamptz(3) NOT NULL
);

CREATE TABLE push_subscriptions (
  id text PRIMARY KEY CHECK (id LIKE 'psh-%'),
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  -- Whoever signs out of a browser gets no more there.
  session_id text NOT NULL REFERENCES sessions ON DELETE CASCADE,
  -- With the session; it is not deleted at that moment.
  expires_at timestamptz(3) NOT NULL,
  -- HMAC under the master key: an endpoint is a capability.
  endpoint_hash bytea NOT NULL UNIQUE,
  -- Endpoint and keys, under the master key.
  sealed bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  -- When a worker may look after its messages; null while none waits.
  due_at timestamptz(3),
  -- Who looks after them now, and until when nobody else may.
  lease text,
  leased_until timestamptz(3)
);
CREATE INDEX push_subscriptions_of_account ON push_subscriptions (account_key, id);
CREATE INDEX push_subscriptions_of_session ON push_subscriptions (session_id);
CREATE INDEX push_subscriptions_due ON push_subscriptions (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE push_messages (
  -- The order in which a browser gets them.
  sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  subscription_id text NOT NULL REFERENCES push_subscriptions ON DELETE CASCADE,
  -- What was removed is not sent any more.
  notification_id text NOT NULL REFERENCES notifications ON DELETE CASCADE,
  -- RFC 8030, section 5.4: hash of the dedupe key. A newer message of the same topic replaces one that waits.
  topic text,
  urgency text NOT NULL CHECK (urgency IN ('very-low', 'low', 'normal', 'high')),
  -- What the browser is told, under the master key.
  sealed bytea NOT NULL,
  -- Given up then.
  expires_at timestamptz(3) NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  -- The push service found it too large once.
  shortened boolean NOT NULL DEFAULT false,
  UNIQUE (subscription_id, topic)
);
CREATE INDEX push_messages_of_subscription ON push_messages (subscription_id, sequence);
CREATE INDEX push_messages_of_notification ON push_messages (notification_id);
