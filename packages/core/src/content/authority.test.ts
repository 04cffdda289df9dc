// What was granted, installed or signed in when a request began, and is no more when it takes effect, takes none: each change of
// collections and files is held right before its transaction reads who acts, and what it needs is taken away meanwhile.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ContentInvitation, Grant } from '@platform/contract';
import type pg from 'pg';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import { answerInvitation, type ContentApp, contentApp, share } from '../../test-support/content.ts';
import { fileCaller } from '../../test-support/files.ts';

const APP = 'acts-late';

let world: Constellation;
let person: TestAccount;
let app: ContentApp;
let other: ContentApp;
let files: Awaited<ReturnType<typeof fileCaller>>;

before(async () => {
  world = await startConstellation();
  person = await registerAccount(world, 'acts-late');
  app = await contentApp(world, person, APP);
  other = await contentApp(world, await registerAccount(world, 'meets-them'), APP);
  files = await fileCaller(world, person);
  await world.core.context.pool.query('ALTER TABLE installations ADD COLUMN former_grants_of_test jsonb');
});
after(() => world.close());

type Change = (client: pg.PoolClient) => Promise<unknown>;

/** Takes away what the act needs once its transaction waits for the row of the account, which it takes first. */
async function meanwhile(act: () => Promise<RawAnswer>, change: Change): Promise<RawAnswer> {
  const { pool } = world.core.context;
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await client.query("SELECT FROM accounts WHERE name = 'acts-late' FOR UPDATE");
    const acting = act();
    await until('its transaction to wait', async () => {
      const waiting = await pool.query('SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))', [
        rows[0]?.pid,
      ]);
      return waiting.rows.length > 0;
    });
    await change(client);
    await client.query('COMMIT');
    return await acting;
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

const ofApp = (set: string): Change => {
  return (client) =>
    client.query(
      `UPDATE installations SET ${set} WHERE account_key = (SELECT key FROM accounts WHERE name = 'acts-late')`,
    );
};
const ofAccount = (set: string): Change => {
  return (client) => client.query(`UPDATE accounts SET ${set} WHERE name = 'acts-late'`);
};

interface Taken {
  readonly what: string;
  readonly code: string;
  readonly take: Change;
  readonly back: Change;
}

const ENDED: readonly Taken[] = [
  { what: 'removed', code: 'unauthenticated', take: ofApp('removed_at = now()'), back: ofApp('removed_at = NULL') },
  {
    what: 'suspended',
    code: 'unauthenticated',
    take: ofAccount('suspended_at = now()'),
    back: ofAccount('suspended_at = NULL'),
  },
  { what: 'paused', code: 'runtime_paused', take: ofAccount('paused_at = now()'), back: ofAccount('paused_at = NULL') },
];
const READS: readonly Grant[] = [{ id: 'content.collections.read', resources: ['*'] }];
const REVOKED: Taken = {
  ...{ what: 'revoked', code: 'grant_missing' },
  take: ofApp(`former_grants_of_test = grants, grants = '${JSON.stringify(READS)}'`),
  back: ofApp('grants = former_grants_of_test'),
};

interface Act {
  readonly needs: 'grants' | 'nothing';
  /** What there is before. @returns the act */
  prepare(): Promise<() => Promise<RawAnswer>>;
}

const text = { 'content-type': 'text/plain' };
const ACTS: Readonly<Record<string, Act>> = {
  'writing an item': {
    needs: 'grants',
    async prepare() {
      const { id } = await app.made('list', 'x');
      return () => app.put(id, 'a', 'x');
    },
  },
  'deleting an item': {
    needs: 'grants',
    async prepare() {
      const { id } = await app.made('list', 'x');
      await app.wrote(id, 'a', 'x');
      return () => app.call(`/${id}/items/a`, { method: 'DELETE' });
    },
  },
  'making a collection': {
    needs: 'grants',
    prepare: async () => () => app.call('', { body: { kind: 'list', name: 'late' } }),
  },
  'renaming a collection': {
    needs: 'grants',
    async prepare() {
      const { id } = await app.made('list', 'x');
      return () => app.call(`/${id}`, { method: 'PATCH', body: { name: 'late' } });
    },
  },
  'deleting a collection': {
    needs: 'grants',
    async prepare() {
      const { id } = await app.made('list', 'x');
      return () => app.call(`/${id}`, { method: 'DELETE' });
    },
  },
  'inviting somebody': {
    needs: 'grants',
    async prepare() {
      const { id } = await app.made('list', 'x');
      return () => app.invite(id, 'meets-them', 'viewer');
    },
  },
  'removing a member': {
    needs: 'grants',
    async prepare() {
      const { id } = await app.made('list', 'x');
      await share(app, other, id, 'viewer');
      const member = (await app.members(id)).find(({ role }) => role === 'viewer');
      return () => app.call(`/${id}/members/${member?.id}`, { method: 'DELETE' });
    },
  },
  'writing a file': {
    needs: 'nothing',
    prepare: async () => () =>
      app.app.call('/v1/services/files/late.txt', { method: 'PUT', body: Buffer.from('x'), headers: text }),
  },
  'opening a file to others': {
    needs: 'nothing',
    async prepare() {
      await app.app.call('/v1/services/files/open.txt', { method: 'PUT', body: Buffer.from('x'), headers: text });
      const entries = [{ principal: { account: 'meets-them' }, access: 'read' }];
      return () => app.app.call('/v1/services/files/open.txt/access', { method: 'PUT', body: { entries } });
    },
  },
  'deleting a file': {
    needs: 'nothing',
    async prepare() {
      await app.app.call('/v1/services/files/gone.txt', { method: 'PUT', body: Buffer.from('x'), headers: text });
      return () => app.app.call('/v1/services/files/gone.txt', { method: 'DELETE' });
    },
  },
  'adding a file of the person': {
    needs: 'grants',
    prepare: async () => () =>
      files('/v1/services/user-files?name=late.txt', { method: 'POST', body: Buffer.from('x'), headers: text }),
  },
};

/** Everything that collections and files consist of. */
async function everything(): Promise<unknown> {
  const { rows } = await world.core.context.pool.query(`
    SELECT (SELECT json_agg(c ORDER BY c.id) FROM (SELECT id, name, parent_id, change FROM content_collections) c) AS collections,
           (SELECT json_agg(i ORDER BY i.etag) FROM content_items i) AS items,
           (SELECT json_agg(m ORDER BY m.id) FROM content_members m) AS members,
           (SELECT json_agg(v ORDER BY v.id) FROM content_invitations v) AS invitations,
           (SELECT json_agg(f ORDER BY f.id) FROM content_files f) AS files,
           (SELECT json_agg(e ORDER BY e.file_id) FROM content_file_entries e) AS entries,
           (SELECT json_agg(t ORDER BY t.file_id) FROM content_transfers t) AS transfers,
           (SELECT json_agg(s ORDER BY s.id) FROM content_spaces s) AS spaces`);
  return rows[0];
}

for (const [name, { needs, prepare }] of Object.entries(ACTS))
  for (const { what, code, take, back } of needs === 'grants' ? [REVOKED, ...ENDED] : ENDED)
    test(`${name} takes no effect: ${what}`, async () => {
      const act = await prepare();
      const former = await everything();
      const answer = await meanwhile(act, take);
      const client = await world.core.context.pool.connect();
      try {
        assert.equal(problemCode(answer), code, answer.text);
        assert.deepEqual(await everything(), former);
      } finally {
        await back(client);
        client.release();
      }
    });

test('a file is not handed to an app that is removed meanwhile, nor by who signed out', async () => {
  const made = await files('/v1/services/user-files?name=mine.txt', {
    ...{ method: 'POST', body: Buffer.from('x'), headers: text },
  });
  const { id } = (made.json as { file: { id: string } }).file;
  const handOver = () => person.fetch(`/v1/account/files/${id}/apps`, { body: { appId: APP, access: 'read' } });
  const former = await everything();
  assert.equal(problemCode(await meanwhile(handOver, ofApp('removed_at = now()'))), 'not_found');
  assert.deepEqual(await everything(), former);
  const client = await world.core.context.pool.connect();
  await ofApp('removed_at = NULL')(client);
  client.release();
  const ofOther = await other.made('list', 'theirs');
  const sent = await other.invite(ofOther.id, 'acts-late', 'viewer');
  const { invitation } = sent.json as { invitation: ContentInvitation };
  const before = await everything();
  const signOut: Change = (one) =>
    one.query("DELETE FROM sessions WHERE account_key = (SELECT key FROM accounts WHERE name = 'acts-late')");
  const accept = () => answerInvitation(person, invitation.id, 'accept', APP);
  assert.equal(problemCode(await meanwhile(accept, signOut)), 'session_expired');
  assert.deepEqual(await everything(), before);
});
