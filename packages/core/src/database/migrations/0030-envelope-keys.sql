-- The key for which core seals secrets: that of the Gateway of the current start. NULL: its node gave none.
-- Runs with version 0.1.0 or later.

ALTER TABLE core_credentials ADD COLUMN envelope_key bytea;
