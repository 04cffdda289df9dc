-- Schedules: when core calls a trigger of an app, and the runs that are due and not delivered yet.
-- Runs with version 0.1.0 or later.

CREATE TABLE account_schedules (
  id text PRIMARY KEY CHECK (id LIKE 'sch-%'),
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  name text NOT NULL,
  cron text NOT NULL,
  time_zone text NOT NULL,
  -- An app that is not installed any more stays named: its runs fail and say so.
  app_id text NOT NULL,
  trigger_name text NOT NULL,
  -- Compact JSON, as it came.
  payload text,
  enabled boolean NOT NULL,
  misfire text NOT NULL CHECK (misfire IN ('once', 'skip')),
  next_run_at timestamptz(3),
  -- When the next time was found. In the future, it means that the clock was ahead then.
  planned_at timestamptz(3) NOT NULL,
  last_at timestamptz(3),
  last_outcome text CHECK (last_outcome IN ('delivered', 'failed', 'skipped')),
  last_detail text,
  created_at timestamptz(3) NOT NULL,
  CHECK (enabled = (next_run_at IS NOT NULL)),
  CHECK ((last_at IS NULL) = (last_outcome IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX account_schedules_of_account ON account_schedules (account_key, id);
CREATE INDEX account_schedules_due ON account_schedules (next_run_at) WHERE enabled;
CREATE INDEX account_schedules_ahead ON account_schedules (planned_at) WHERE enabled;

-- Removed when they were delivered or given up.
CREATE TABLE schedule_runs (
  -- Also the idempotency key. It is made of the schedule and the time, unless a person asked for the run.
  id text PRIMARY KEY,
  schedule_id text NOT NULL REFERENCES account_schedules ON DELETE CASCADE,
  account_key text NOT NULL,
  scheduled_for timestamptz(3) NOT NULL,
  -- A person asked for it.
  by_hand boolean NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamptz(3) NOT NULL,
  give_up_at timestamptz(3) NOT NULL,
  lease text,
  leased_until timestamptz(3)
) WITH (fillfactor = 70);
CREATE INDEX schedule_runs_of_schedule ON schedule_runs (schedule_id);
CREATE INDEX schedule_runs_due ON schedule_runs (account_key, due_at);
CREATE INDEX schedule_runs_leased ON schedule_runs (leased_until) WHERE leased_until IS NOT NULL;
