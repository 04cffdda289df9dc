-- What the unpacked frontend of a package must be, so that core serves no file that was altered on the disk. Empty for a
-- package without a frontend, and until the first core that serves one of before has read its package.
-- Runs with version 0.1.0 or later.

ALTER TABLE package_blobs ADD COLUMN frontend_digest text;
