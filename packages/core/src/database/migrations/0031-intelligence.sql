-- Intelligence: whose key an account uses with a provider, what apps may use and used, and what calls under way hold.
-- Runs with version 0.1.0 or later.

CREATE TABLE intelligence_keys (
  account_key text NOT NULL REFERENCES accounts ON DELETE CASCADE,
  provider text NOT NULL,
  -- The account's own key, under the master key; NULL for none.
  sealed bytea,
  -- NULL: the own key where there is one, else the platform's.
  source text CHECK (source IN ('account', 'platform')),
  PRIMARY KEY (account_key, provider)
);

-- One row for each installation, which every call changes: the limits of its owner, its rate, and its month.
CREATE TABLE intelligence_meters (
  installation_id text PRIMARY KEY REFERENCES installations ON DELETE CASCADE,
  -- NULL: the operator's.
  requests_per_minute integer CHECK (requests_per_minute > 0),
  monthly_tokens bigint CHECK (monthly_tokens >= 0),
  -- Calls that it may make at once, at that time.
  bucket double precision NOT NULL,
  bucket_at timestamptz(3) NOT NULL,
  -- First day, UTC. The counters are of this month.
  month date NOT NULL,
  used bigint NOT NULL DEFAULT 0,
  reserved bigint NOT NULL DEFAULT 0,
  requests bigint NOT NULL DEFAULT 0,
  -- What the last call was given: a place in the rate, and tokens (NULL: none).
  taken boolean NOT NULL DEFAULT false,
  granted bigint
) WITH (fillfactor = 50);

CREATE TABLE intelligence_usage (
  installation_id text NOT NULL REFERENCES installations ON DELETE CASCADE,
  month date NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  requests bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  PRIMARY KEY (installation_id, month, provider, model)
) WITH (fillfactor = 50);

-- Calls under way. One that was charged in full, because its Gateway was not heard of, stays for a day, so that a late
-- answer corrects it.
CREATE TABLE intelligence_reservations (
  id text PRIMARY KEY CHECK (id LIKE 'res-%'),
  installation_id text NOT NULL REFERENCES installations ON DELETE CASCADE,
  month date NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  tokens bigint NOT NULL,
  -- How many of them are for the input.
  estimated_input bigint NOT NULL,
  charged boolean NOT NULL DEFAULT false,
  -- When it is charged in full, or forgotten.
  due_at timestamptz(3) NOT NULL
);
CREATE INDEX intelligence_reservations_due ON intelligence_reservations (charged, due_at);
CREATE INDEX intelligence_reservations_by_installation ON intelligence_reservations (installation_id);

-- The providers that nodes were told of, so that a changed file reaches them.
CREATE TABLE intelligence_announced (
  name text PRIMARY KEY CHECK (name = 'providers'),
  providers text NOT NULL
);
