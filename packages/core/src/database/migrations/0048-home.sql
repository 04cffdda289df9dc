-- Runs with version 0.1.0 or later.
-- How a person arranged the tiles of the home screen. Apps that are not installed keep their place here, so that one that
-- comes back is where it was.
CREATE TABLE home_tiles (
  account_key text PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
  tile_order text[] NOT NULL,
  pinned text[] NOT NULL
);

-- Who stopped a backend whose `stopped` is true: 'owner', 'operator', or the id of an app after 'app:'. NULL where that
-- was not kept.
ALTER TABLE installations ADD COLUMN stopped_by text;
