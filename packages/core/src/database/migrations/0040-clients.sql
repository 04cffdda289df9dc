-- Capabilities with which clients reach a backend: one for each launch, and one for each start of the backend.
-- Runs with version 0.1.0 or later.

CREATE TABLE data_plane_capabilities (
  token_hash bytea PRIMARY KEY,
  installation_id text NOT NULL REFERENCES installations ON DELETE CASCADE,
  -- NULL: of the backend itself. Without a foreign key: when a session has ended, these rows say which nodes to notify.
  session_id text,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX data_plane_capabilities_by_installation ON data_plane_capabilities (installation_id, created_at);
CREATE INDEX data_plane_capabilities_by_session ON data_plane_capabilities (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX data_plane_capabilities_by_expiry ON data_plane_capabilities (expires_at);

-- Raised when capabilities of the installation end before their time.
ALTER TABLE installations ADD COLUMN clients_revision bigint NOT NULL DEFAULT 0;

-- Whether the node asks core about capabilities. NULL: it has not registered with a version that says so.
ALTER TABLE nodes ADD COLUMN asks_capabilities boolean;
