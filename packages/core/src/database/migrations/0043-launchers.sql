-- Runs with version 0.1.0 or later.
-- The home screen that an account chose; without a row it is Launcher. The row goes with the app's removal.
CREATE TABLE launchers (
  account_key text PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
  app_id text NOT NULL
);
