-- Which platform this database is of: its data folders carry the same id, so that a folder or a database that is missing is
-- never taken for a first use.
-- Runs with version 0.1.0 or later.

CREATE TABLE platform_identity (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  id uuid NOT NULL DEFAULT gen_random_uuid()
);
