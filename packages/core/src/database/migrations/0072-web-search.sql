-- Web search by agents: what their people allowed, and the searches that wait for them.
-- Runs with version 0.1.0 or later.

CREATE TABLE web_search_consents (
  installation_id text PRIMARY KEY REFERENCES installations (id) ON DELETE CASCADE,
  -- Standing: for every search of this agent.
  consent boolean NOT NULL,
  -- Raised at every change of it; what was allowed for a session holds for the version at which it was.
  version integer NOT NULL,
  changed_at timestamptz NOT NULL
);

CREATE TABLE web_search_sessions (
  installation_id text NOT NULL REFERENCES installations (id) ON DELETE CASCADE,
  session text NOT NULL,
  version integer NOT NULL,
  granted_at timestamptz NOT NULL,
  PRIMARY KEY (installation_id, session)
);

CREATE TABLE web_search_requests (
  id text PRIMARY KEY,
  installation_id text NOT NULL REFERENCES installations (id) ON DELETE CASCADE,
  query text NOT NULL,
  session text NOT NULL,
  asked_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- NULL while the person has not answered.
  answer text CHECK (answer IN ('once', 'session', 'always', 'deny'))
);
CREATE INDEX web_search_requests_installation ON web_search_requests (installation_id, id);
CREATE INDEX web_search_requests_expiry ON web_search_requests (expires_at);
