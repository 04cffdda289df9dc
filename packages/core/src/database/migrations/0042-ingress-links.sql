-- Runs with version 0.1.0 or later.
-- The iroh address at which nodes behind NAT connect to an Ingress; NULL where they cannot.
ALTER TABLE ingresses ADD COLUMN link text;
