-- Bodies that are read while something else takes their place, and whose the files are that somebody opened.
-- Runs with version 0.1.0 or later.

ALTER TABLE content_bodies
  -- Until then somebody may be reading it; NULL where nobody did.
  ADD COLUMN read_until timestamptz,
  -- Nothing has it any more: it stays for those who read it.
  ADD COLUMN former boolean NOT NULL DEFAULT false;
CREATE INDEX content_bodies_former ON content_bodies (read_until) WHERE former;

-- The account of the file, so that what it opened to whom is found, and counted, without a look at all its files.
ALTER TABLE content_file_entries ADD COLUMN owner_key text REFERENCES accounts (key) ON DELETE CASCADE;
UPDATE content_file_entries e
   SET owner_key = s.owner_key
  FROM content_files f JOIN content_spaces s ON s.id = f.space_id
 WHERE f.id = e.file_id;
CREATE INDEX content_file_entries_named ON content_file_entries (account_key, file_id) WHERE account_key IS NOT NULL;
CREATE INDEX content_file_entries_from ON content_file_entries (owner_key, account_key) WHERE account_key IS NOT NULL;
CREATE INDEX content_file_entries_to_app ON content_file_entries (owner_key, app_id, file_id) WHERE app_id IS NOT NULL;
DROP INDEX content_file_entries_account;

CREATE INDEX content_transfers_app ON content_transfers (account_key, app_id, file_id);

-- Spaces of accounts that a version deleted which knew nothing of collections.
CREATE INDEX content_spaces_orphans ON content_spaces (id) WHERE owner_key IS NULL AND ends_at IS NULL;
