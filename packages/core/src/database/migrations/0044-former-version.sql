-- The version that an installation ran before its last update, which its owner can go back to, and until when nobody can
-- delete that version.
-- Runs with version 0.1.0 or later.

ALTER TABLE installations
  ADD COLUMN former_version text,
  ADD COLUMN former_kept_until timestamptz(3),
  ADD FOREIGN KEY (app_id, former_version) REFERENCES app_versions (app_id, version) ON DELETE SET NULL (former_version);
CREATE INDEX installations_by_former_version ON installations (app_id, former_version) WHERE former_version IS NOT NULL;
