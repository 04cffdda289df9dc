// Promise of the hot statements of search: the account is a condition of the index, never a filter behind it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coreClient } from '../../../../tests/support/core-client.ts';
import { FIND_SIMILAR_ITEMS, FIND_TYPED_ITEMS, PROPOSE_FAR_WORDS } from './queries.ts';

const typed = ['acct-1', "'acct-1w12':*", "'acct-1w12'", "'acct-1w12':*AB", "'acct-1w12':AB", 4, null, null, 20];
const words = [['hosue'], ['hosue'], ['hosue osue hsue houe hose hosu']];
const statements = [
  {
    statement: FIND_TYPED_ITEMS,
    values: [...typed, ...words],
    indexes: ['search_entries_document', 'search_words_grams', 'search_words_remains'],
  },
  {
    statement: FIND_SIMILAR_ITEMS,
    values: [...typed, ...typed.slice(1, 5)],
    indexes: ['search_entries_document'],
  },
  {
    statement: PROPOSE_FAR_WORDS,
    values: ['acct-1', ...words],
    indexes: ['search_words_grams', 'search_words_remains'],
  },
];

/** Twenty accounts with 2,000 entries each, whose rows point to nothing else: only their amount matters here. */
const fill = `
  SET session_replication_role = replica;
  INSERT INTO installations (id, account_key, app_id, version, host_label, endpoint_id, installed_at)
  SELECT 'inst-' || n, 'acct-' || n, 'notes', '1.0.0', 'h' || n, 'e' || n, now() FROM generate_series(1, 20) AS n;
  INSERT INTO search_entries (installation_id, id, account_key, app_id, title, kind, url, digest, document)
  SELECT 'inst-' || n, 'e' || e, 'acct-' || n, 'notes', 'title', 'note', '/', '',
         array_to_tsvector(ARRAY(SELECT right('acct-' || n, 6) || word
                                   FROM unnest(ARRAY['w' || e % 997, 'x' || e % 89, 'y' || e]) AS word))
    FROM generate_series(1, 20) AS n, generate_series(1, 2000) AS e;
  INSERT INTO search_words (installation_id, word, account_key, entries, grams, remains)
  SELECT 'inst-' || n, w, 'acct-' || n, 1, w, ARRAY[w, substr(w, 2), substr(w, 3)]
    FROM generate_series(1, 20) AS n, (SELECT md5(e::text) AS w FROM generate_series(1, 2000) AS e) AS words`;

for (const { statement, values, indexes } of statements) {
  test(`${statement.name} looks only at entries of the account`, async (t) => {
    const client = await coreClient(t);
    await client.query(fill);
    await client.query('VACUUM ANALYZE search_entries, search_words');
    // As the engine has it: planned once, for any values.
    await client.query("SET plan_cache_mode = 'force_generic_plan'");
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${statement.text}`, values);
    const plan = rows.map((row) => row['QUERY PLAN']);
    for (const index of indexes) {
      const at = plan.findIndex((line) => line.includes(`on ${index}`));
      assert.notEqual(at, -1, plan.join('\n'));
      assert.match(plan[at + 1] ?? '', /Index Cond: .*account_key = .*AND/, plan.join('\n'));
    }
  });
}
