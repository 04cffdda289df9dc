-- Versions that were deleted. What a number once stood for was read and agreed to, so other bytes never take it.
-- Runs with version 0.1.0 or later.

CREATE TABLE withdrawn_versions (
  app_id text NOT NULL REFERENCES apps ON DELETE CASCADE,
  version text NOT NULL,
  -- Of the package: the same bytes may be published again.
  package_hash text NOT NULL,
  PRIMARY KEY (app_id, version)
);
