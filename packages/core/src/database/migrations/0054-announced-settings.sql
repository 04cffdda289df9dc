-- What nodes know of the settings of the platform is more than providers, which intelligence_announced has.
-- Runs with version 0.1.0 or later.
CREATE TABLE announced_settings (
  name text PRIMARY KEY CHECK (name = 'settings'),
  settings text NOT NULL
);
