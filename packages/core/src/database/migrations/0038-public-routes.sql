-- Runs with version 0.1.0 or later.
-- Apps on the internet: their public names, the topology that Ingresses follow, the Ingresses, and what came to each name.

-- The opaque part of the hostname of an installation, of one life of it: a reinstallation gets another.
CREATE TABLE public_names (
  installation_id text PRIMARY KEY REFERENCES installations (id) ON DELETE CASCADE,
  generation integer NOT NULL,
  label text NOT NULL UNIQUE,
  -- Of what its route was computed; another value now means that a former version changed something.
  computed_of text
);

-- One row. Whoever changes the topology locks it first and then reads what the change depends on.
CREATE TABLE topology_state (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  revision bigint NOT NULL,
  -- Deletions up to this revision are forgotten.
  floor bigint NOT NULL,
  -- Domain of the host names.
  domain text
);
INSERT INTO topology_state (revision, floor) VALUES (1, 0);

-- `routes` is NULL of a name that is gone.
CREATE TABLE topology_routes (
  label text PRIMARY KEY,
  app_id text NOT NULL,
  installation_id text NOT NULL,
  node_id text,
  routes text[],
  revision bigint NOT NULL,
  changed_at timestamptz NOT NULL
);
CREATE INDEX topology_routes_revision ON topology_routes (revision, label);
CREATE INDEX topology_routes_node ON topology_routes (node_id) WHERE routes IS NOT NULL;
CREATE INDEX topology_routes_gone ON topology_routes (changed_at) WHERE routes IS NULL;

-- Where Ingresses reach nodes. `url` is NULL of a node that is gone, or serves no public requests any more.
CREATE TABLE topology_nodes (
  node_id text PRIMARY KEY,
  name text NOT NULL,
  url text,
  key bytea,
  -- Sealed with the master key.
  credential bytea,
  revision bigint NOT NULL,
  changed_at timestamptz NOT NULL
);

CREATE TABLE ingresses (
  id text PRIMARY KEY,
  name text NOT NULL UNIQUE,
  public_key bytea NOT NULL UNIQUE,
  credential_hash bytea NOT NULL UNIQUE,
  credential_expires_at timestamptz NOT NULL,
  -- The node on the same machine, whose loopback addresses mean something there.
  beside_node text,
  local boolean NOT NULL,
  joined_at timestamptz NOT NULL,
  -- The last report that was counted.
  report_run uuid,
  report_sequence bigint
);

CREATE TABLE ingress_tokens (
  token_hash bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL,
  used_by bytea
);

CREATE TABLE ingress_challenges (
  nonce_hash bytea PRIMARY KEY,
  ingress_id text NOT NULL REFERENCES ingresses (id) ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);

CREATE TABLE public_requests (
  installation_id text NOT NULL REFERENCES installations (id) ON DELETE CASCADE,
  day date NOT NULL,
  -- `passed`, or the error code of a refusal.
  outcome text NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (installation_id, day, outcome)
);
CREATE INDEX public_requests_day ON public_requests (day);

-- Which revision each node (of the assignments) and each Ingress (of the topology) has carried out, and when it last said so.
CREATE TABLE followers (
  follows text NOT NULL,
  follower_id text NOT NULL,
  revision bigint NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (follows, follower_id)
);
