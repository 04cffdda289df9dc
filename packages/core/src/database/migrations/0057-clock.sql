-- The newest time on record, by which core notices that a clock jumped.
-- Runs with version 0.1.0 or later.

-- What each start of a machine last knew: its time, and milliseconds since that start.
CREATE TABLE clock_readings (
  boot text PRIMARY KEY,
  at timestamptz(3) NOT NULL,
  uptime_milliseconds double precision NOT NULL,
  -- The clock was ahead of it then by what may be the time that the machine was off.
  maybe_off boolean NOT NULL DEFAULT false
);

-- The operator's last word that the clock is right, as the machine read it where that was said. One row.
CREATE TABLE clock_acceptances (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  revision integer NOT NULL,
  boot text NOT NULL,
  at timestamptz(3) NOT NULL,
  uptime_milliseconds double precision NOT NULL
);
