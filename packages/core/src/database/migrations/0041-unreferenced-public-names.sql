-- Runs with version 0.1.0 or later.
-- A reference locks the row of the installation at every insert, under the lock of the topology, while whoever changes the
-- installation has that row and waits for the topology. Rows of installations are never deleted.
ALTER TABLE public_names DROP CONSTRAINT public_names_installation_id_fkey;
ALTER TABLE public_requests DROP CONSTRAINT public_requests_installation_id_fkey;
