-- Which passkey opened a session, so that removing a lost one ends what it opened.

ALTER TABLE sessions ADD COLUMN passkey_id text;
CREATE INDEX sessions_by_passkey ON sessions (passkey_id);
