-- Durable workflows: runs of an app's own functions, their activities, and the order in which things happened.
-- Runs with version 0.1.0 or later.

CREATE TABLE workflow_runs (
  id text PRIMARY KEY CHECK (id LIKE 'wf-%'),
  installation_id text NOT NULL REFERENCES installations ON DELETE CASCADE,
  definition text NOT NULL,
  version integer NOT NULL,
  idempotency_key text NOT NULL,
  -- One that is running and past its expiry has expired, whether or not that is written here yet.
  status text NOT NULL CHECK (status IN ('running', 'completed', 'failed', 'cancelled', 'expired')),
  -- Compact JSON, as it came.
  input text NOT NULL,
  -- SHA-256 of the RFC 8785 form.
  input_hash bytea NOT NULL,
  result text,
  result_hash bytea,
  error jsonb,
  activities integer NOT NULL DEFAULT 0,
  -- Of its history.
  last_sequence integer NOT NULL,
  -- Inputs and results of the run and its activities.
  stored_bytes bigint NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3),
  cleanup_at timestamptz(3),
  UNIQUE (installation_id, definition, version, idempotency_key),
  CHECK ((status = 'running') = (completed_at IS NULL)),
  CHECK ((status = 'running') = (cleanup_at IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX workflow_runs_by_installation ON workflow_runs (installation_id, id);
CREATE INDEX workflow_runs_expiring ON workflow_runs (expires_at) WHERE status = 'running';
CREATE INDEX workflow_runs_ended ON workflow_runs (cleanup_at) WHERE cleanup_at IS NOT NULL;

CREATE TABLE workflow_activities (
  id text PRIMARY KEY CHECK (id LIKE 'act-%'),
  run_id text NOT NULL REFERENCES workflow_runs ON DELETE CASCADE,
  step text NOT NULL,
  name text NOT NULL,
  input text NOT NULL,
  input_hash bytea NOT NULL,
  result text,
  result_hash bytea,
  attempt integer NOT NULL,
  -- SHA-256 of the token of the last claim, which it keeps.
  lease_hash bytea NOT NULL,
  -- NULL once it was completed, or given back with an error.
  lease_expires_at timestamptz(3),
  -- Its last claim took it from a holder whose lease had expired.
  was_taken_over boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3),
  UNIQUE (run_id, step),
  CHECK ((result IS NULL) = (completed_at IS NULL)),
  CHECK (completed_at IS NULL OR lease_expires_at IS NULL)
) WITH (fillfactor = 70);

-- Appended to only.
CREATE TABLE workflow_history (
  run_id text NOT NULL REFERENCES workflow_runs ON DELETE CASCADE,
  sequence integer NOT NULL,
  at timestamptz(3) NOT NULL,
  event text NOT NULL,
  step text,
  activity_id text,
  attempt integer,
  PRIMARY KEY (run_id, sequence)
);
