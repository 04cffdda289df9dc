-- Runs with version 0.1.0 or later.
-- What a person reviewed is what holds: the resources and mode of a backend are part of an installation's snapshot, and
-- the outside origins of its frontend are grants.

-- NULL in rows of a version that knows no snapshots: then what the manifest of the installed version asks for holds.
ALTER TABLE installations ADD COLUMN resources jsonb;

-- Installed apps go on with what they were installed with.
UPDATE installations i
   SET resources = CASE WHEN v.manifest ? 'workload' THEN jsonb_build_object(
         'mode', coalesce(v.manifest #>> '{workload,mode}', 'automatic'),
         'memoryMiB', coalesce((v.manifest #>> '{workload,resources,memoryMiB}')::integer, 256),
         'cpus', coalesce((v.manifest #>> '{workload,resources,cpus}')::numeric, 1),
         'pids', coalesce((v.manifest #>> '{workload,resources,pids}')::integer, 64),
         'diskMiB', CASE WHEN i.has_volume OR (v.manifest #>> '{workload,volume}')::boolean IS TRUE
                         THEN coalesce((v.manifest #>> '{workload,resources,diskMiB}')::integer, 1024) ELSE 0 END)
       ELSE '{"mode": "automatic", "memoryMiB": 0, "cpus": 0, "pids": 0, "diskMiB": 0}'::jsonb END
  FROM app_versions v
 WHERE v.app_id = i.app_id AND v.version = i.version;

-- The origins their frontends were served with become grants of network.connect. What is no plain https origin was in no
-- policy and becomes none. A default port is not part of an origin.
WITH named AS (
  SELECT DISTINCT i.id,
         regexp_replace(lower(substring(source.url FROM '^https://[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]{1,5})?(?=[/?#]|$)')),
                        ':443$', '') AS origin
    FROM installations i
    JOIN app_versions v ON v.app_id = i.app_id AND v.version = i.version,
         LATERAL (SELECT jsonb_array_elements_text(kind.urls) AS url
                    FROM jsonb_each(v.manifest #> '{frontend,csp}') AS kind (name, urls)) AS source
   WHERE i.removed_at IS NULL AND jsonb_typeof(v.manifest #> '{frontend,csp}') = 'object'),
wanted AS (
  SELECT id, jsonb_agg(origin ORDER BY origin) AS origins FROM named WHERE origin IS NOT NULL GROUP BY id),
merged AS (
  SELECT i.id,
         coalesce((SELECT jsonb_agg(held.one ORDER BY held.place)
                     FROM jsonb_array_elements(i.grants) WITH ORDINALITY AS held (one, place)
                    WHERE held.one ->> 'id' <> 'network.connect'), '[]'::jsonb) AS others,
         (SELECT jsonb_agg(DISTINCT resource.name)
            FROM (SELECT jsonb_array_elements_text(held.one -> 'resources') AS name
                    FROM jsonb_array_elements(i.grants) AS held (one)
                   WHERE held.one ->> 'id' = 'network.connect'
                  UNION SELECT jsonb_array_elements_text(w.origins)) AS resource) AS resources
    FROM installations i JOIN wanted w ON w.id = i.id)
UPDATE installations i
   SET grants = m.others || jsonb_build_array(jsonb_build_object('id', 'network.connect', 'resources', m.resources)),
       revision = i.revision + 1
  FROM merged m
 WHERE m.id = i.id;
