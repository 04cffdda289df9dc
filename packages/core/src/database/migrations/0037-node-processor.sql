-- Runs with version 0.1.0 or later.
-- The processor of a node, for executables. NULL of a node that a former version registered, or that runs none.
ALTER TABLE nodes ADD COLUMN processor text;
