// Promise of the migration that marks words: what was indexed before is found as if it were indexed now.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { coreClient } from '../../../../tests/support/core-client.ts';
import { searchDocumentOf } from './search-document.ts';
import { tsvectorText } from './tsquery-text.ts';
import { markOf } from './word-mark.ts';

const migration = new URL('../database/migrations/0017-search-word-marks.sql', import.meta.url);
const entries = [
  { title: "Zoë O'Brien's C++ \\ C# notes", text: 'naïve 978-3-16-148410-0 over-the-top userName over', url: '/a' },
  { title: '東京会議室', text: 'ラーメン 🍜 नमस्ते', url: '?to=https://example.org/a%20b' },
  { title: '…', text: '', url: '/' },
];

test('words that were indexed without marks get those of their account', async (t) => {
  const client = await coreClient(t);
  await client.query('SET session_replication_role = replica');
  const account = (at: number) => `acct-01a2-00000000000${at}`;
  for (const [at, entry] of entries.entries())
    await client.query(
      `INSERT INTO search_entries (installation_id, id, account_key, app_id, title, kind, url, digest, document)
       VALUES ('inst', $1, $2, 'notes', 'title', '', '/', '', $3::tsvector)`,
      [String(at), account(at), tsvectorText(searchDocumentOf(entry), '')],
    );
  await client.query(readFileSync(migration, 'utf8'));
  const { rows } = await client.query<{ document: string }>(
    'SELECT document::text AS document FROM search_entries ORDER BY id',
  );
  const wanted = entries.map((entry, at) => tsvectorText(searchDocumentOf(entry), markOf(account(at))));
  const { rows: now } = await client.query<{ document: string }>(
    'SELECT document::tsvector::text AS document FROM unnest($1::text[]) AS document',
    [wanted],
  );
  assert.match(rows[0]?.document ?? '', /'000000c\+\+'/);
  assert.deepEqual(rows, now);
});
