-- Installations that were given access to the object store: there may be objects of theirs, which are deleted with their data.
-- Runs with version 0.1.0 or later.
CREATE TABLE object_prefixes (
  installation_id text PRIMARY KEY REFERENCES installations ON DELETE CASCADE
);

-- Earlier access was not written down: installations of apps of which any version asks for it.
INSERT INTO object_prefixes (installation_id)
SELECT i.id FROM installations i
 WHERE EXISTS (SELECT FROM app_versions v
                WHERE v.app_id = i.app_id AND v.manifest -> 'permissions' @> '[{"id": "object-storage.raw"}]');

-- When the account was deleted: what its backends were still sending then is looked for once more later.
ALTER TABLE abandoned_objects ADD COLUMN abandoned_at timestamptz(3) NOT NULL DEFAULT now();
