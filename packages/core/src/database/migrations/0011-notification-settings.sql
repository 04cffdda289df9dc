-- What a person decides about notifications; an account without a row has everything on and nothing muted.

CREATE TABLE notification_settings (
  account_key text PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
  system boolean NOT NULL,
  web_push boolean NOT NULL,
  flashes boolean NOT NULL
);

-- Without a topic the whole app is muted. Kept when the app is removed: coming back it is as silent as it was.
CREATE TABLE notification_mutes (
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  app_id text NOT NULL,
  topic text,
  UNIQUE NULLS NOT DISTINCT (account_key, app_id, topic)
);
