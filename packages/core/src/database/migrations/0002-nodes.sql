-- Nodes on other machines: identity by key, short-lived credentials, capacity, leases, and what moves when one is lost.

ALTER TABLE nodes
  -- Ed25519, 32 bytes. NULL: the node of a platform from before nodes had keys, until it is taken over.
  ADD COLUMN public_key bytea UNIQUE CHECK (octet_length(public_key) = 32),
  ADD COLUMN credential_expires_at timestamptz(3) NOT NULL DEFAULT '-infinity',
  ADD COLUMN labels text[] NOT NULL DEFAULT '{self-hosted}',
  -- In one process with a core, which reaches it over loopback.
  ADD COLUMN local boolean NOT NULL DEFAULT false,
  -- Core may take it for lost: it holds a lease and stops what may move when that ends.
  ADD COLUMN leased boolean NOT NULL DEFAULT true,
  -- Grows with every heartbeat. Who waits for one compares this, never the clocks of machines.
  ADD COLUMN beat bigint NOT NULL DEFAULT 0,
  ADD COLUMN lost_at timestamptz(3),
  ADD COLUMN cordoned_at timestamptz(3),
  ADD COLUMN joined_at timestamptz(3),
  ADD COLUMN memory_mib integer,
  ADD COLUMN cpus real,
  ADD COLUMN driver text,
  ADD COLUMN mechanism text,
  ADD COLUMN runtimes text[] NOT NULL DEFAULT '{node}',
  ADD COLUMN version text,
  -- Identity of the folder for volumes that it shares with other nodes.
  ADD COLUMN shared_store text;
UPDATE nodes SET local = true, leased = false, labels = '{platform-hosted}';

CREATE TABLE node_tokens (
  token_hash bytea PRIMARY KEY,
  labels text[] NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  -- The key that joined with it; the same one may repeat that, should the answer have been lost.
  used_by bytea
);

-- A nonce is used by deleting it: of two concurrent uses one finds the row.
CREATE TABLE node_challenges (
  nonce_hash bytea PRIMARY KEY,
  node_id text NOT NULL REFERENCES nodes ON DELETE CASCADE,
  expires_at timestamptz(3) NOT NULL
);

ALTER TABLE installations
  -- Grows with every workload start, for ever: what carries a lower one is of the past.
  ADD COLUMN epoch bigint NOT NULL DEFAULT 0,
  -- It had a version with a volume at some time. Then the volume lies on its node, or in the shared store named here.
  ADD COLUMN has_volume boolean NOT NULL DEFAULT false,
  ADD COLUMN volume_store text,
  -- Has a backend and no node: placed as soon as one has room.
  ADD COLUMN waiting boolean NOT NULL DEFAULT false,
  -- The node that may still run it; nobody else gets it before that has said that it does not, or is lost.
  ADD COLUMN held_by text REFERENCES nodes ON DELETE SET NULL,
  -- While it waits: the hosting label of the node that it was taken from, which its next one must have as well.
  ADD COLUMN wanted_hosting text;
UPDATE installations i SET epoch = c.epoch FROM core_credentials c WHERE c.installation_id = i.id;
-- Which version a volume was made by is not known: whatever may have one stays where it is.
UPDATE installations i SET has_volume = true
 WHERE node_id IS NOT NULL
   AND EXISTS (SELECT FROM app_versions v
                WHERE v.app_id = i.app_id AND v.manifest -> 'workload' -> 'volume' = 'true'::jsonb);
CREATE INDEX installations_waiting ON installations (id) WHERE waiting;
CREATE INDEX installations_held ON installations (held_by) WHERE held_by IS NOT NULL;

-- Its row lock orders all decisions about who runs where.
INSERT INTO revisions VALUES ('placement', 1);
