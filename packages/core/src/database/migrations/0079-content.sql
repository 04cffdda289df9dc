-- Content collections: what apps and people share, and the bytes of it.
-- Runs with version 0.1.0 or later.

-- What an account keeps here. It outlives the account for as long as others may copy what it shared with them.
CREATE TABLE content_spaces (
  id text PRIMARY KEY,
  -- NULL once the account is deleted.
  owner_key text UNIQUE REFERENCES accounts (key) ON DELETE SET NULL,
  -- Bytes that count as disk space of the owner.
  bytes bigint NOT NULL DEFAULT 0,
  -- When all of it is deleted; until then it can only be read. NULL while there is an owner.
  ends_at timestamptz
);
CREATE INDEX content_spaces_end ON content_spaces (ends_at) WHERE ends_at IS NOT NULL;

CREATE TABLE content_bodies (
  id text PRIMARY KEY,
  space_id text NOT NULL REFERENCES content_spaces (id) ON DELETE CASCADE,
  -- Of what has arrived so far.
  size bigint NOT NULL,
  -- An item or a file has it; false while it arrives.
  used boolean NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX content_bodies_space ON content_bodies (space_id);
CREATE INDEX content_bodies_arriving ON content_bodies (created_at) WHERE NOT used;

CREATE TABLE content_pieces (
  body_id text NOT NULL REFERENCES content_bodies (id) ON DELETE CASCADE,
  number integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (body_id, number)
);
ALTER TABLE content_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE content_collections (
  id text PRIMARY KEY,
  space_id text NOT NULL REFERENCES content_spaces (id) ON DELETE CASCADE,
  kind text NOT NULL,
  name text NOT NULL,
  -- In the same space.
  parent_id text REFERENCES content_collections (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  -- Number of the newest change of an item.
  change bigint NOT NULL DEFAULT 0,
  -- Number up to which deletions may have been forgotten.
  forgotten bigint NOT NULL DEFAULT 0,
  items integer NOT NULL DEFAULT 0,
  deletions integer NOT NULL DEFAULT 0
);
CREATE INDEX content_collections_space ON content_collections (space_id);
CREATE INDEX content_collections_parent ON content_collections (parent_id);

CREATE TABLE content_items (
  collection_id text NOT NULL REFERENCES content_collections (id) ON DELETE CASCADE,
  key text COLLATE "C" NOT NULL,
  change bigint NOT NULL,
  changed_at timestamptz NOT NULL,
  -- All NULL: it was deleted.
  etag text,
  size integer,
  body_id text REFERENCES content_bodies (id) ON DELETE CASCADE,
  PRIMARY KEY (collection_id, key)
);
CREATE UNIQUE INDEX content_items_change ON content_items (collection_id, change);
CREATE INDEX content_items_body ON content_items (body_id);

CREATE TABLE content_members (
  id text PRIMARY KEY,
  collection_id text NOT NULL REFERENCES content_collections (id) ON DELETE CASCADE,
  account_key text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'manager', 'editor', 'viewer')),
  since timestamptz NOT NULL,
  UNIQUE (collection_id, account_key)
);
CREATE INDEX content_members_account ON content_members (account_key);

-- The apps to which a collection is open, each for its account.
CREATE TABLE content_admissions (
  collection_id text NOT NULL REFERENCES content_collections (id) ON DELETE CASCADE,
  installation_id text NOT NULL REFERENCES installations (id) ON DELETE CASCADE,
  admitted_at timestamptz NOT NULL,
  PRIMARY KEY (collection_id, installation_id)
);
CREATE INDEX content_admissions_installation ON content_admissions (installation_id);

CREATE TABLE content_invitations (
  id text PRIMARY KEY,
  collection_id text NOT NULL REFERENCES content_collections (id) ON DELETE CASCADE,
  -- Who is invited.
  account_key text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  invited_by text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  app_id text NOT NULL,
  role text NOT NULL CHECK (role IN ('manager', 'editor', 'viewer')),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- NULL while it waits.
  answer text CHECK (answer IN ('accepted', 'declined', 'withdrawn'))
);
CREATE UNIQUE INDEX content_invitations_waiting ON content_invitations (collection_id, account_key) WHERE answer IS NULL;
CREATE INDEX content_invitations_account ON content_invitations (account_key, id);
CREATE INDEX content_invitations_by ON content_invitations (invited_by);
CREATE INDEX content_invitations_expiry ON content_invitations (expires_at);

-- What people are to be notified of.
CREATE TABLE content_notices (
  id text PRIMARY KEY,
  account_key text NOT NULL REFERENCES accounts (key) ON DELETE CASCADE,
  notice jsonb NOT NULL,
  occurred_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX content_notices_due ON content_notices (due_at);
CREATE INDEX content_notices_account ON content_notices (account_key);

CREATE VIEW kept_content AS
SELECT owner_key, bytes
  FROM content_spaces;
