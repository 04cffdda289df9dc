-- Work leases, and the pause of a whole account.

-- Kept for a while after they ended: the idle delay of a workload begins at the end of its last lease.
CREATE TABLE work_leases (
  id text PRIMARY KEY CHECK (id LIKE 'lease-%'),
  installation_id text NOT NULL REFERENCES installations ON DELETE CASCADE,
  duration_seconds integer NOT NULL,
  reason text,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX work_leases_by_installation ON work_leases (installation_id, expires_at);

-- Nothing of the account runs from then until its owner resumes; NULL while it is not paused.
ALTER TABLE accounts ADD COLUMN paused_at timestamptz(3);
