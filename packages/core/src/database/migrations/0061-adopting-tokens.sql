-- A token may give a node whose key is lost a new one, instead of making a new node.
-- Runs with version 0.1.0 or later.
ALTER TABLE node_tokens ADD COLUMN adopts text REFERENCES nodes ON DELETE CASCADE;
