-- What the container image of a backend takes on the machine that runs it, as its node counted before it was unpacked.
-- Runs with version 0.1.0 or later.
CREATE TABLE installation_images (
  installation_id text PRIMARY KEY REFERENCES installations ON DELETE CASCADE,
  -- Of the app: another version's image counts once its node has counted it.
  version text NOT NULL,
  bytes bigint NOT NULL CHECK (bytes >= 0)
);
