-- What the master key of this database proves itself with, so that a missing or wrong key is noticed at the start and not
-- at the first use of a secret. `proof` is null in a database from before: any key is believed there once.
-- Runs with version 0.1.0 or later.
CREATE TABLE master_key_check (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  proof bytea CHECK (octet_length(proof) = 32)
);

INSERT INTO master_key_check (proof)
SELECT NULL WHERE EXISTS (SELECT FROM accounts) OR EXISTS (SELECT FROM nodes);
