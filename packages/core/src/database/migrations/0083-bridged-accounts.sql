-- Which accounts the messaging bridge was asked about: it is to forget those once they are deleted, also where none is
-- configured at that time. Where there was one before, it may know any.
-- Runs with version 0.1.0 or later.

ALTER TABLE messaging_accounts ADD COLUMN bridged boolean NOT NULL DEFAULT false;
UPDATE messaging_accounts SET bridged = true
 WHERE EXISTS (SELECT FROM bridge_requests) OR EXISTS (SELECT FROM bridge_sends);
