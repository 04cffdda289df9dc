-- What an account is entitled to. NULL: the operator's default plan.
-- Runs with version 0.1.0 or later.

ALTER TABLE accounts ADD COLUMN plan text CHECK (plan IN ('free', 'paid'));
