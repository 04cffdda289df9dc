-- Runs with version 0.1.0 or later.
-- The public UDP ports of installations as their nodes reported them last. A node that gets an installation from another
-- one is asked for the same numbers; its owner reads them while the node does not answer.
CREATE TABLE udp_ports (
  installation_id text NOT NULL REFERENCES installations ON DELETE CASCADE,
  name text NOT NULL,
  -- NULL: the node was removed.
  node_id text REFERENCES nodes ON DELETE SET NULL,
  host text NOT NULL,
  host_port integer NOT NULL CHECK (host_port BETWEEN 1 AND 65535),
  container_port integer NOT NULL CHECK (container_port BETWEEN 1 AND 65535),
  -- Why nothing is received on it; NULL while it is open.
  closed text,
  PRIMARY KEY (installation_id, name)
);
CREATE INDEX udp_ports_of_node ON udp_ports (node_id);
