-- Runs with version 0.1.0 or later.
-- How long a backend stays awake after its last use is part of an installation's snapshot. Installed apps go on with what
-- their version asks for. Rows that a former version writes lack it: then the manifest holds.
UPDATE installations i
   SET resources = i.resources || jsonb_build_object(
         'idleSeconds', CASE WHEN (i.resources ->> 'memoryMiB')::integer = 0 THEN 0
                             ELSE coalesce((v.manifest #>> '{workload,idleSeconds}')::integer, 300) END)
  FROM app_versions v
 WHERE v.app_id = i.app_id AND v.version = i.version AND i.resources IS NOT NULL;
