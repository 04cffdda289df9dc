-- Bytes of collections and files that lie in the object store. A version from before keeps them, and cannot read them.
-- Runs with version 0.1.0 or later.

-- Every object of `content/` in the store that pieces name.
CREATE TABLE content_objects (
  key text PRIMARY KEY,
  created_at timestamptz NOT NULL,
  -- A piece that named it was deleted; the sweep looks whether another one does.
  loose boolean NOT NULL DEFAULT false
);
CREATE INDEX content_objects_loose ON content_objects (created_at) WHERE loose;

-- Those that nothing names any more, until the store has deleted them.
CREATE TABLE content_doomed_objects (
  key text PRIMARY KEY
);

ALTER TABLE content_pieces
  ALTER COLUMN bytes DROP NOT NULL,
  ADD COLUMN object_key text REFERENCES content_objects (key),
  ADD COLUMN sha256 bytea,
  ADD CONSTRAINT content_pieces_place CHECK (
    CASE WHEN object_key IS NULL THEN bytes IS NOT NULL AND sha256 IS NULL ELSE bytes IS NULL AND sha256 IS NOT NULL END);
CREATE INDEX content_pieces_object ON content_pieces (object_key) WHERE object_key IS NOT NULL;

-- However a piece goes: with its body, its collection, its account.
CREATE FUNCTION content_object_loosened() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE content_objects SET loose = true WHERE key = OLD.object_key;
  RETURN NULL;
END
$$;
CREATE TRIGGER content_pieces_loosen AFTER DELETE ON content_pieces
  FOR EACH ROW WHEN (OLD.object_key IS NOT NULL) EXECUTE FUNCTION content_object_loosened();
