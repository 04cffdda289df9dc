-- What stays of deleted accounts: their names, which nobody gets again, and data outside the database until it is deleted.
-- Runs with version 0.1.0 or later.

CREATE TABLE former_account_names (
  name text PRIMARY KEY
);

-- Volumes of installations that are gone, until their nodes have deleted them.
CREATE TABLE abandoned_volumes (
  installation_id text PRIMARY KEY,
  node_id text REFERENCES nodes ON DELETE SET NULL,
  -- The shared store it lies in, which other nodes reach too.
  volume_store text,
  -- When its deletion is tried next; while one is under way, when another replica may try.
  due_at timestamptz(3) NOT NULL,
  attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX abandoned_volumes_due ON abandoned_volumes (due_at);

-- Installations that are gone, until their objects in the object store are deleted.
CREATE TABLE abandoned_objects (
  installation_id text PRIMARY KEY,
  due_at timestamptz(3) NOT NULL,
  attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX abandoned_objects_due ON abandoned_objects (due_at);
