-- What nodes say of their load and of what goes through their Gateways, for the operator's inventory.

ALTER TABLE nodes
  ADD COLUMN load_cpus real,
  ADD COLUMN load_memory_mib integer,
  -- The totals of the last report, and the run of the Runtime that they count from.
  ADD COLUMN traffic jsonb;

-- Of all nodes together, the removed ones too.
CREATE TABLE traffic_hours (
  hour timestamptz(3) PRIMARY KEY,
  outbound_requests bigint NOT NULL,
  outbound_sent bigint NOT NULL,
  outbound_received bigint NOT NULL,
  inbound_requests bigint NOT NULL,
  inbound_sent bigint NOT NULL,
  inbound_received bigint NOT NULL
);
