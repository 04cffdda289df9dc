// The export of an account: everything core has of it, nothing of others, no secret; and what a slow, a hasty or a
// vanishing client costs.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { pipeline } from 'node:stream/promises';
import { after, before, test } from 'node:test';
import { createGunzip } from 'node:zlib';
import { limits } from '@platform/contract';
import tar from 'tar-stream';
import { authorToken } from '../../../../tests/support/author-token.ts';
import { confirm, registerAccount, signIn, type TestAccount } from '../../../../tests/support/client.ts';
import { connectClient } from '../../../../tests/support/connected-client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import { publish } from '../../test-support/apps.ts';
import { appFiles } from '../../test-support/made-apps.ts';
import { ExportPlaces } from './export-places.ts';

const PATH = '/v1/account/export';
const CANARY = 'canary-of-a-secret';

let platform: Constellation;
let account: TestAccount;
let stranger: TestAccount;
let app: InstalledTestApp;
let published: Buffer;
let clientTokens: string[];
let commandLineToken: string;

before(async () => {
  platform = await startConstellation();
  account = await registerAccount(platform, 'leaver');
  stranger = await registerAccount(platform, 'stranger');
  const grants = [
    { id: 'notifications.publish', resources: ['*'] },
    { id: 'search.index', resources: ['self'] },
    { id: 'apps.create', resources: ['*'] },
  ] as const;
  app = await installTestApp(platform, account, 'diary', [
    ...grants.map((grant) => ({ ...grant, resources: [...grant.resources] })),
  ]);
  const theirs = await installTestApp(platform, stranger, 'theirs', [
    { id: 'notifications.publish', resources: ['*'] },
  ]);
  ({ body: published } = await publish(account, 'ledger', { summary: 'Keeps books' }));
  await publish(stranger, 'not-mine');
  await theirs.call('/v1/services/notifications', { body: { topic: 'x', title: 'Of a stranger', body: '' } });
  const said = await app.call('/v1/services/notifications', {
    body: { topic: 'news', title: 'Hello', body: 'World\n' },
  });
  assert.equal(said.status, 201, said.text);
  ({ token: commandLineToken } = await authorToken(account));
  const { tokens } = await connectClient(platform, account);
  clientTokens = [tokens.access_token, tokens.refresh_token];
  await account.browser.take('/v1/account/home', { method: 'PUT', body: { order: ['diary'], pinned: ['diary'] } });
  await account.browser.take('/v1/account/secrets/mail', { method: 'PUT', body: { value: CANARY } });
});
after(() => platform.close());

interface Download {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly response: http.IncomingMessage;
}

/** The answer as soon as its head is there. */
async function begin(by = account, confirmation?: object): Promise<Download> {
  const body = JSON.stringify({ confirmation: confirmation ?? (await confirm(by, 'account.export')) });
  const request = http.request({
    host: '127.0.0.1',
    port: platform.port,
    path: PATH,
    method: 'POST',
    agent: false,
    headers: {
      host: new URL(platform.origin).host,
      origin: platform.origin,
      cookie: by.cookie,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    },
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, response };
}

/** Rejects unless the archive is complete, also when its connection was closed before this is called. */
async function filesOf({ response }: Download): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const extract = tar.extract();
  const unpack = async () => {
    for await (const entry of extract) {
      const chunks: Buffer[] = [];
      for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk);
      assert.equal(entry.header.type, 'file');
      files.set(entry.header.name.replace(/^[^/]+\//, ''), Buffer.concat(chunks));
    }
  };
  await Promise.all([pipeline(response, createGunzip(), extract), unpack()]);
  return files;
}

const json = (files: Map<string, Buffer>, path: string) => JSON.parse(String(files.get(path) ?? assert.fail(path)));
const lines = (files: Map<string, Buffer>, path: string) =>
  String(files.get(path) ?? assert.fail(path))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const refused = async (download: Download) => {
  const chunks: Buffer[] = [];
  for await (const chunk of download.response as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return [download.status, problemCode({ ...download, text, json: JSON.parse(text) })];
};

test('it has everything core keeps of the account, in files that the first of them explains', async () => {
  const index = await app.call('/v1/services/search/index', {
    method: 'PUT',
    body: { entries: [{ id: 'note-1', title: 'A day', kind: 'note', url: '/notes/1', text: 'rain' }] },
  });
  assert.ok(index.status < 300, index.text);
  const run = await app.call('/v1/services/workflows', {
    body: { definition: 'count', version: 1, idempotencyKey: 'one', durationSeconds: 60, input: { from: 1 } },
  });
  assert.equal(run.status, 201, run.text);
  const made = await app.call('/v1/services/apps', { body: { appId: 'plants', files: appFiles('plants') } });
  assert.equal(made.status, 201, made.text);
  const kept = { method: 'PUT', body: Buffer.from('rain'), headers: { 'content-type': 'text/plain' } };
  assert.equal((await app.call('/v1/services/files/weather', kept)).status, 201);
  const download = await begin();
  assert.equal(download.status, 200);
  assert.equal(download.headers['content-type'], 'application/gzip');
  assert.match(
    String(download.headers['content-disposition']),
    /^attachment; filename="leaver-\d{4}-\d\d-\d\d\.tar\.gz"$/,
  );
  const files = await filesOf(download);
  assert.equal(json(files, 'account.json').name, 'leaver');
  const [passkey] = json(files, 'passkeys.json').items;
  assert.equal(passkey.credentialId, account.authenticator.credentials[0]?.id.toString('base64url'));
  assert.ok(passkey.publicKey.length > 40);
  assert.equal(json(files, 'sessions.json').items[0].id, account.sessionId);
  const [commandLine] = json(files, 'command-lines.json').items;
  assert.equal(commandLine.machine, 'a laptop');
  const [connection] = json(files, 'connections.json').items;
  assert.deepEqual(connection.client, { name: 'A test client', host: '127.0.0.1' });
  assert.deepEqual(json(files, 'home.json').pinned, ['diary']);
  assert.deepEqual(
    json(files, 'made-apps.json').waiting.map(({ appId }: { appId: string }) => appId),
    ['plants'],
  );
  assert.deepEqual(json(files, 'web-search.json').items, []);
  const waiting = [...files.keys()].filter((name) => name.startsWith('made-apps/'));
  assert.deepEqual(waiting, [`made-apps/${json(files, 'made-apps.json').waiting[0].id}.tgz`]);
  assert.ok(lines(files, 'apps-0001.jsonl').some(({ appId, home }) => appId === 'launcher' && home));
  assert.deepEqual(
    json(files, 'apps/diary/permissions.json')
      .permissions.map(({ id }: { id: string }) => id)
      .sort(),
    ['apps.create', 'notifications.publish', 'search.index'],
  );
  assert.ok('routes' in json(files, 'apps/diary/public.json'));
  const notification = lines(files, 'notifications-0001.jsonl').find(({ appId }) => appId === 'diary');
  assert.deepEqual([notification.title, notification.body], ['Hello', 'World\n']);
  assert.equal(json(files, 'notification-settings.json').system, true);
  assert.deepEqual(lines(files, 'apps/diary/search-0001.jsonl'), [
    { id: 'note-1', title: 'A day', kind: 'note', url: '/notes/1' },
  ]);
  const [exported] = lines(files, 'apps/diary/workflows-0001.jsonl');
  assert.deepEqual([exported.definition, exported.input, exported.history.length > 0], ['count', { from: 1 }, true]);
  assert.deepEqual(
    json(files, 'secrets.json').items.map(({ name }: { name: string }) => name),
    ['mail'],
  );
  assert.ok(Array.isArray(json(files, 'ai.json').providers));
  assert.ok(json(files, 'storage.json').limitBytes > 0);
  assert.deepEqual(files.get('published/ledger/1.0.0.tgz'), published);
  const [first] = files.keys();
  assert.equal(first, 'README.txt');
  const explained = String(files.get('README.txt'));
  for (const path of files.keys()) {
    if (path === 'README.txt') continue;
    const pattern = path
      .replace(/^published\/.*/, 'published/<app>/<version>.tgz')
      .replace(/^apps\/[^/]+/, 'apps/<app>')
      .replace(/(^|\/)files\/.*/, '$1files/<name>')
      .replace(/^collections\/[^/]+/, 'collections/<id>')
      .replace(/items\/\d+$/, 'items/<number>')
      .replace(/^made-apps\/.*/, 'made-apps/<draft>.tgz')
      .replace(/-\d{4}\.jsonl$/, '-*.jsonl');
    assert.ok(explained.includes(`${pattern} `), `README.txt does not explain ${pattern}`);
  }
});

test('it has no value of a secret, no credential, and nothing of another account', async () => {
  const files = await filesOf(await begin());
  const all = Buffer.concat([...files.values()]).toString('latin1');
  const { rows } = await platform.core.context.pool.query<{ key: string; token_hash: Buffer }>(
    "SELECT a.key, s.token_hash FROM accounts a JOIN sessions s ON s.account_key = a.key WHERE a.name = 'leaver'",
  );
  for (const { key, token_hash } of rows)
    for (const secret of [key, token_hash.toString('hex'), token_hash.toString('base64url')])
      assert.ok(!all.includes(secret));
  const credentials = [account.cookie.split('=')[1] ?? '?', app.credential, commandLineToken, ...clientTokens];
  for (const secret of [CANARY, ...credentials, 'stranger', 'not-mine', 'theirs'])
    assert.ok(!all.includes(secret), secret);
});

test('a long list comes in parts of a megabyte', async () => {
  const { pool } = platform.core.context;
  await pool.query(
    `INSERT INTO notifications (id, account_key, installation_id, app_id, topic, title, body, priority, delivery, created_at)
     SELECT 'ntf-' || n, a.key, $1, 'diary', 'many', 'Many', repeat('x', 3000), 'normal', 'inbox', now()
       FROM accounts a, generate_series(1, 900) n WHERE a.name = 'leaver'`,
    [app.installationId],
  );
  const files = await filesOf(await begin());
  const parts = [...files].filter(([path]) => path.startsWith('notifications-'));
  assert.ok(parts.length >= 3, String(parts.length));
  for (const [, content] of parts) assert.ok(content.length <= 1024 * 1024);
  const ofApp = parts.flatMap(([path]) => lines(files, path)).filter(({ appId }) => appId === 'diary');
  assert.equal(ofApp.length, 901);
});

test('one runs at a time; a client that goes away gives its place back', async () => {
  // More than the buffers of a connection hold, and nobody reads.
  await publish(account, 'large', {}, { 'frontend/noise': randomBytes(20 * 1024 * 1024) });
  const held = await begin();
  assert.equal(held.status, 200);
  held.response.pause();
  assert.deepEqual(await refused(await begin()), [429, 'concurrency_limited']);
  const other = await begin(stranger);
  assert.equal(other.status, 200);
  await filesOf(other);
  held.response.destroy();
  await until('the place', async () => {
    const download = await begin();
    if (download.status === 200) return (await filesOf(download)).has('published/large/1.0.0.tgz');
    assert.deepEqual(await refused(download), [429, 'concurrency_limited']);
    return false;
  });
});

test('so many accounts have one at the same time', () => {
  const places = new ExportPlaces();
  const taken = Array.from({ length: limits.accountExports.value }, (_, n) => places.take(`account-${n}`));
  assert.throws(() => places.take('account-0'), /concurrency_limited: A download of this account/);
  assert.throws(() => places.take('one-more'), /concurrency_limited: 4 accounts/);
  taken[0]?.leave();
  places.take('one-more');
});

test('when there is no place, the slowest of those that are slow for long loses its own', () => {
  let now = 0;
  const places = new ExportPlaces(() => now);
  const ended: number[] = [];
  const kib = [640, 64 * 60, 10, 5];
  const taken = kib.map((sent, n) => {
    const place = places.take(`account-${n}`);
    place.begin({ bytes: () => sent * 1024, end: () => ended.push(n) });
    return place;
  });
  now = 59_999;
  assert.throws(() => places.take('early'), /concurrency_limited/);
  now = 60_000;
  for (const name of ['first', 'second', 'third']) places.take(name);
  assert.deepEqual(ended, [3, 2, 0]);
  assert.throws(() => places.take('fourth'), /concurrency_limited/, 'the fast one and the new ones stay');
  taken[3]?.leave();
  assert.throws(() => places.take('fourth'), /concurrency_limited/, 'what has no place any more frees none');
  taken[1]?.leave();
  places.take('fourth');
});

test('a session that ends meanwhile ends the download, which is then no archive', async () => {
  const elsewhere = await signIn(platform, account.authenticator);
  const download = await begin(elsewhere);
  download.response.pause();
  await account.fetch(`/v1/auth/sessions/${elsewhere.sessionId}`, { method: 'DELETE' });
  // The package that is under way ends; no other file begins.
  await assert.rejects(filesOf(download));
});

test('the account that is about to be deleted can be exported, and nothing without the passkey', async () => {
  const body = { name: account.name, confirmation: await confirm(account, 'account.delete') };
  await account.browser.take('/v1/account/deletion', { body });
  assert.ok((await filesOf(await begin())).has('account.json'));
  const confirmation = await confirm(account, 'account.export');
  assert.equal((await filesOf(await begin(account, confirmation))).has('account.json'), true);
  assert.deepEqual(await refused(await begin(account, confirmation)), [401, 'verification_failed']);
  await account.fetch('/v1/account/deletion', { method: 'DELETE' });
  assert.deepEqual(await refused(await begin(account, await confirm(stranger, 'account.export'))), [
    401,
    'verification_failed',
  ]);
  const noOrigin = await account.fetch(PATH, {
    body: { confirmation: await confirm(account, 'account.export') },
    headers: { origin: undefined },
  });
  assert.deepEqual([noOrigin.status, problemCode(noOrigin)], [403, 'origin_not_allowed']);
});
