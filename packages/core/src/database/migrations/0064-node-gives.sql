-- What a node can give backends besides their runtime: NULL from nodes that do not say it.
-- Runs with version 0.1.0 or later.
ALTER TABLE nodes ADD COLUMN gives text[];

CREATE OR REPLACE VIEW known_nodes AS
SELECT id, name, public_key, credential_hash, control_url, inbound_origin, labels, local, leased, beat, lost_at,
       cordoned_at, memory_mib, runtimes, processor, shared_store, disk_mib, disk_full, asks_capabilities, cpus, gives
  FROM nodes;
