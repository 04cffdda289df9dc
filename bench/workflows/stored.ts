// Fills the database with runs that ended, of other apps, as their activities and history would have left them.
import pg from 'pg';

/** An app keeps 256 runs at most. */
const RUNS_OF_EACH = 250;
const ACTIVITIES_OF_EACH = 10;

/** @param activities a multiple of 2,500 */
export async function storeActivities(databaseUrl: string, activities: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const apps = activities / RUNS_OF_EACH / ACTIVITIES_OF_EACH;
    await client.query(
      `INSERT INTO accounts (key, name, created_at)
       SELECT 'acct-' || uuidv7(), 'bench-f' || n, now() FROM generate_series(1, $1::integer) n`,
      [apps],
    );
    await client.query(
      `INSERT INTO installations (id, account_key, app_id, version, host_label, endpoint_id, installed_at)
       SELECT 'inst-' || uuidv7(), key, 'shop', '1.0.0', 'bench-h' || name, 'bench-e' || name, now()
         FROM accounts WHERE name LIKE 'bench-f%'`,
    );
    // Every row refers to one that is made here: looking that up a million times would take minutes.
    await client.query('SET session_replication_role = replica');
    await client.query("SET work_mem = '256MB'");
    // One after the other in the two days before, the apps in turn.
    await client.query(
      `INSERT INTO workflow_runs (id, installation_id, definition, version, idempotency_key, status, input, input_hash,
                                  result, result_hash, activities, last_sequence, stored_bytes, created_at, updated_at,
                                  expires_at, completed_at, cleanup_at)
       SELECT 'wf-' || uuidv7(at - now()), i.id, 'order', 1, 'order-' || n, 'completed', input,
              sha256(input::bytea), result, sha256(result::bytea), $2, 2 + 2 * $2, 1500, at, at + interval '9 s',
              at + interval '1 h', at + interval '9 s', at + interval '7 days 9 s'
         FROM generate_series(1, $1::integer) n
        CROSS JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM installations
                     WHERE host_label LIKE 'bench-h%') i,
              LATERAL (SELECT now() - interval '2 days' * (1 - (n + i.place / 1000.0) / ($1 + 1)) AS at,
                              '{"order":"' || n || '","cents":' || n * 17 || '}' AS input,
                              '{"mailed":true,"receipt":"r-' || n || '"}' AS result) v
        ORDER BY at`,
      [RUNS_OF_EACH, ACTIVITIES_OF_EACH],
    );
    await client.query(
      `INSERT INTO workflow_activities (id, run_id, step, name, input, input_hash, result, result_hash, attempt,
                                        lease_hash, created_at, completed_at)
       SELECT 'act-' || uuidv7(at - now()), r.id, 'step-' || n, 'charge', v.input, sha256(v.input::bytea), v.result,
              sha256(v.result::bytea), 1, sha256((r.id || n)::bytea), at, at + interval '800 ms'
         FROM workflow_runs r
        CROSS JOIN generate_series(1, $1::integer) n,
              LATERAL (SELECT r.created_at + n * interval '850 ms' AS at,
                              '{"cents":' || n * 17 || ',"seat":"' || right(r.id, 12) || '"}' AS input,
                              '{"receipt":"r-' || right(r.id, 12) || '","status":"accepted"}' AS result) v
        ORDER BY r.created_at, n`,
      [ACTIVITIES_OF_EACH],
    );
    await client.query(
      `INSERT INTO workflow_history (run_id, sequence, at, event, step, activity_id, attempt)
       SELECT run_id, row_number() OVER (PARTITION BY run_id ORDER BY at, event DESC), at, event, step, activity_id, attempt
         FROM (SELECT id AS run_id, created_at AS at, 'created' AS event, NULL AS step, NULL AS activity_id, NULL::integer AS attempt
                 FROM workflow_runs
               UNION ALL SELECT run_id, created_at, 'activity-claimed', step, id, 1 FROM workflow_activities
               UNION ALL SELECT run_id, completed_at, 'activity-completed', step, id, 1 FROM workflow_activities
               UNION ALL SELECT id, completed_at, 'completed', NULL, NULL, NULL FROM workflow_runs) e
        ORDER BY run_id, at`,
    );
    for (const table of ['workflow_runs', 'workflow_activities', 'workflow_history'])
      await client.query(`VACUUM ANALYZE ${table}`);
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}
