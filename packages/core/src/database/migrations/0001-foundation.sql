-- Accounts, packages, installations, notifications, search and nodes.

CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS unaccent;
CREATE EXTENSION IF NOT EXISTS btree_gin;

CREATE TABLE accounts (
  key text PRIMARY KEY CHECK (key LIKE 'acct-%'),
  name text NOT NULL UNIQUE CHECK (name ~ '^[a-z][a-z0-9]*(-[a-z0-9]+)*$' AND length(name) BETWEEN 3 AND 32),
  created_at timestamptz(3) NOT NULL,
  suspended_at timestamptz(3)
);

CREATE TABLE passkeys (
  -- The credential id, base64url.
  id text PRIMARY KEY,
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  -- COSE key, public material only.
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL DEFAULT '{}',
  backup_eligible boolean NOT NULL,
  backed_up boolean NOT NULL,
  label text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  last_used_at timestamptz(3)
);
CREATE INDEX passkeys_by_account ON passkeys (account_key);

CREATE TABLE sessions (
  id text PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  user_agent text,
  created_at timestamptz(3) NOT NULL,
  last_used_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX sessions_by_account ON sessions (account_key);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE enrolment_links (
  token_hash bytea PRIMARY KEY,
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  expires_at timestamptz(3) NOT NULL
);

-- A challenge is used by deleting it: of two concurrent uses one finds the row.
CREATE TABLE challenges (
  id text PRIMARY KEY,
  challenge bytea NOT NULL,
  operation text NOT NULL CHECK (operation IN ('register', 'login', 'add-passkey', 'enrol')),
  account_key text,
  account_name text,
  session_id text REFERENCES sessions ON DELETE CASCADE,
  enrolment_hash bytea REFERENCES enrolment_links ON DELETE CASCADE,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX challenges_by_expiry ON challenges (expires_at);

CREATE TABLE package_blobs (
  -- SHA-256 of the uploaded bytes, hexadecimal; names the file in the data folder.
  hash text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
  size bigint NOT NULL,
  created_at timestamptz(3) NOT NULL
);

CREATE TABLE apps (
  app_id text PRIMARY KEY,
  -- NULL: the apps that come with the platform.
  owner_key text REFERENCES accounts ON DELETE SET NULL,
  system boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL
);

CREATE TABLE app_versions (
  app_id text NOT NULL REFERENCES apps ON DELETE CASCADE,
  version text NOT NULL,
  package_hash text NOT NULL REFERENCES package_blobs,
  manifest jsonb NOT NULL,
  -- True for the highest precedence by SemVer among the versions of the app (pre-releases only when nothing else).
  newest boolean NOT NULL,
  published_at timestamptz(3) NOT NULL,
  PRIMARY KEY (app_id, version)
);
CREATE UNIQUE INDEX app_versions_newest ON app_versions (app_id) WHERE newest;

CREATE TABLE nodes (
  id text PRIMARY KEY,
  name text NOT NULL UNIQUE,
  credential_hash bytea NOT NULL UNIQUE,
  control_url text,
  -- Sealed with the master key.
  control_credential bytea,
  inbound_origin text,
  seen_at timestamptz(3)
);

-- One row for an account and an app for ever: removing sets removed_at and drops everything but the identity,
-- so that a later installation finds its volume.
CREATE TABLE installations (
  id text PRIMARY KEY CHECK (id LIKE 'inst-%'),
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  app_id text NOT NULL,
  version text NOT NULL,
  -- Opaque part of the app's host name, and the name of its endpoint at the node; both new at each installation.
  host_label text NOT NULL UNIQUE,
  endpoint_id text NOT NULL UNIQUE,
  -- Grows with each installation: derived capabilities of a former one end.
  generation integer NOT NULL DEFAULT 1,
  grants jsonb NOT NULL DEFAULT '[]',
  revision bigint NOT NULL DEFAULT 1,
  stopped boolean NOT NULL DEFAULT false,
  node_id text REFERENCES nodes ON DELETE SET NULL,
  installed_at timestamptz(3) NOT NULL,
  removed_at timestamptz(3),
  UNIQUE (account_key, app_id),
  FOREIGN KEY (app_id, version) REFERENCES app_versions (app_id, version)
);
CREATE INDEX installations_by_node ON installations (node_id) WHERE removed_at IS NULL;

-- Named counters; a change takes the row lock, so readers never see a later value before an earlier change.
CREATE TABLE revisions (
  name text PRIMARY KEY,
  value bigint NOT NULL
);
INSERT INTO revisions VALUES ('assignments', 1);

CREATE TABLE core_credentials (
  installation_id text PRIMARY KEY REFERENCES installations ON DELETE CASCADE,
  token_hash bytea NOT NULL UNIQUE,
  node_id text NOT NULL REFERENCES nodes ON DELETE CASCADE,
  epoch bigint NOT NULL,
  created_at timestamptz(3) NOT NULL
);

CREATE TABLE frontend_capabilities (
  token_hash bytea PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('launch', 'frontend')),
  installation_id text NOT NULL REFERENCES installations ON DELETE CASCADE,
  session_id text NOT NULL REFERENCES sessions ON DELETE CASCADE,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX frontend_capabilities_by_installation ON frontend_capabilities (installation_id);
CREATE INDEX frontend_capabilities_by_session ON frontend_capabilities (session_id);
CREATE INDEX frontend_capabilities_by_expiry ON frontend_capabilities (expires_at);

CREATE TABLE installation_status (
  installation_id text PRIMARY KEY REFERENCES installations ON DELETE CASCADE,
  node_id text NOT NULL REFERENCES nodes ON DELETE CASCADE,
  state text NOT NULL CHECK (state IN ('stopped', 'starting', 'running', 'failed')),
  since timestamptz(3) NOT NULL,
  reason text,
  restarts integer NOT NULL,
  last_exit jsonb,
  unenforced text[] NOT NULL DEFAULT '{}'
);

CREATE TABLE notifications (
  id text PRIMARY KEY CHECK (id LIKE 'ntf-%'),
  -- Order of arrival for lists and for resuming a live stream.
  sequence bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  installation_id text NOT NULL REFERENCES installations ON DELETE CASCADE,
  app_id text NOT NULL,
  topic text NOT NULL,
  title text NOT NULL,
  body text NOT NULL,
  priority text NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'critical')),
  presentation jsonb,
  delivery text NOT NULL CHECK (delivery IN ('inbox', 'inbox-and-system', 'inbox-and-web-push')),
  dedupe_key text,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3),
  read_at timestamptz(3),
  UNIQUE (installation_id, dedupe_key)
);
CREATE INDEX notifications_of_account ON notifications (account_key, sequence DESC);
CREATE INDEX notifications_unread ON notifications (account_key, sequence DESC) WHERE read_at IS NULL;

CREATE TABLE search_entries (
  installation_id text NOT NULL REFERENCES installations ON DELETE CASCADE,
  id text NOT NULL,
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  app_id text NOT NULL,
  title text NOT NULL,
  kind text NOT NULL,
  url text NOT NULL,
  -- Names the contents the rest was made of, so that what did not change is not indexed again.
  digest bytea NOT NULL,
  -- Made by the platform, not by to_tsvector: weights A title, B its other spellings, C text, D its other spellings.
  document tsvector NOT NULL,
  PRIMARY KEY (installation_id, id)
);
-- What was just written waits in a list that every search reads as well: a short one.
CREATE INDEX search_entries_document ON search_entries USING gin (account_key, document) WITH (gin_pending_list_limit = 512);

-- The words of an index, each once: what a word with a slip or a part of a word may have meant.
CREATE TABLE search_words (
  installation_id text NOT NULL REFERENCES installations ON DELETE CASCADE,
  word text NOT NULL,
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  -- Entries that hold it.
  entries integer NOT NULL,
  -- The word in letters that trigrams are made of, whatever the locale is.
  grams text NOT NULL,
  -- The word, and what is left of it without one of its letters: two words one slip apart share one of these.
  remains text[] NOT NULL,
  PRIMARY KEY (installation_id, word)
);
CREATE INDEX search_words_remains ON search_words USING gin (account_key, remains) WITH (gin_pending_list_limit = 512);
CREATE INDEX search_words_grams ON search_words USING gin (account_key, grams gin_trgm_ops) WITH (gin_pending_list_limit = 512);
