-- Runs with version 0.1.0 or later.
-- A snapshot without memory now says that no backend was reviewed, so none runs. A backend that ran without a snapshot of
-- its own, on demand and within the defaults, goes on as it is.
UPDATE installations i
   SET resources = i.resources || jsonb_build_object(
         'memoryMiB', least(256, coalesce((v.manifest #>> '{workload,resources,memoryMiB}')::integer, 256)),
         'cpus', least(1, coalesce((v.manifest #>> '{workload,resources,cpus}')::numeric, 1)),
         'pids', least(64, coalesce((v.manifest #>> '{workload,resources,pids}')::integer, 64)))
  FROM app_versions v
 WHERE v.app_id = i.app_id AND v.version = i.version AND i.removed_at IS NULL
   AND v.manifest ? 'workload' AND (i.resources ->> 'memoryMiB')::integer = 0;
