-- Disk space: what packages unpack to, what nodes have for volumes, and versions that are deleted.
-- Runs with version 0.1.0 or later.

ALTER TABLE installations
  -- The version of a removed app may be deleted: what stays of the installation is its identity and its volume.
  ALTER COLUMN version DROP NOT NULL,
  ADD CONSTRAINT installations_version CHECK (version IS NOT NULL OR removed_at IS NOT NULL);

ALTER TABLE package_blobs
  -- Bytes of the package unpacked. NULL in rows of a former version.
  ADD COLUMN unpacked bigint;

ALTER TABLE nodes
  -- Disk in MiB that its volumes may take together; NULL for a node that did not say.
  ADD COLUMN disk_mib integer,
  ADD COLUMN disk_full boolean NOT NULL DEFAULT false;

-- What the packages of an account take is summed at every publication.
CREATE INDEX apps_by_owner ON apps (owner_key) WHERE owner_key IS NOT NULL;
CREATE INDEX installations_by_version ON installations (app_id, version);
-- The volumes on a node are summed at every placement of another one, those of removed apps too.
CREATE INDEX installations_volumes ON installations (node_id) WHERE has_volume;
