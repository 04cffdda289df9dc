-- Grants that the installed version does not request: without effect until a version requests them.
-- Runs with version 0.1.0 or later.
ALTER TABLE installations ADD COLUMN set_aside jsonb NOT NULL DEFAULT '[]';
