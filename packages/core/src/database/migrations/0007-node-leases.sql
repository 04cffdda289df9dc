-- Cores that share a database may be told different times: what a node was promised with its last heartbeat holds for
-- all of them.

ALTER TABLE nodes
  -- Milliseconds of silence after which that core takes the node for lost.
  ADD COLUMN lost_after_milliseconds bigint NOT NULL DEFAULT 0;
