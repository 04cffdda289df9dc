-- Housekeeping that one replica at a time does: whoever moves next_at on does it.

CREATE TABLE periodic_tasks (
  name text PRIMARY KEY,
  next_at timestamptz(3) NOT NULL
);

-- Notifications that are over, found without reading the others.
CREATE INDEX notifications_expiring ON notifications (expires_at) WHERE expires_at IS NOT NULL;
