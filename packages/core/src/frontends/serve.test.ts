// App hosts over real sockets: what is served, what is refused, and which headers browsers get.
import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import net from 'node:net';
import * as path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer, rawRequest } from '../../../../tests/support/raw-http.ts';
import { install, installationRow, launch, nodeWorkload, publish } from '../../test-support/apps.ts';
import { servicesOrigin } from '../config/config.ts';

interface PathCase {
  readonly name: string;
  readonly class: string;
  readonly target: string;
  readonly expected: 'never-outside' | 'reject' | 'serves';
  readonly serves?: string;
}

const vectors: { readonly cases: readonly PathCase[] } = JSON.parse(
  await readFile(new URL('../../test-vectors/paths.json', import.meta.url), 'utf8'),
);
const SECRET = 'bytes that must never leave';
const script = 'export const answer = 42;\n';

let platform: Constellation;
let account: TestAccount;
let host: string;

before(async () => {
  platform = await startConstellation();
  account = await registerAccount(platform, 'publisher');
  const served = vectors.cases.flatMap(({ serves }) => (serves === undefined ? [] : [serves]));
  const { hash } = await publish(
    account,
    'served-files',
    {
      frontend: { entry: 'index.html', csp: { connect: ['https://api.example'] } },
      permissions: [{ id: 'network.connect', resources: ['https://api.example'] }],
    },
    {
      'frontend/main.js': script,
      'frontend/data.bin': '0123456789',
      'frontend/empty.txt': '',
      'frontend/docs/index.html': 'docs',
      ...Object.fromEntries(served.map((name) => [`frontend/app/${name}`, `content of ${name}`])),
    },
  );
  await plant(path.join(platform.core.context.config.packagesDirectory, hash));
  await install(account, 'served-files');
  host = await hostOf('served-files');
});

after(() => platform.close());

/** Files that a broken package, store or path rule could give away; the first request finds them there. */
async function plant(folder: string): Promise<void> {
  const app = path.join(folder, 'frontend', 'app');
  await mkdir(path.join(app, '.git'));
  await mkdir(path.join(folder, 'app2'));
  await Promise.all([
    writeFile(path.join(folder, 'sentinel.txt'), SECRET),
    writeFile(path.join(folder, '..', 'sentinel.txt'), SECRET),
    writeFile(path.join(folder, 'app2', 'private.txt'), SECRET),
    writeFile(path.join(app, '.npmrc'), SECRET),
    writeFile(path.join(app, '.git', 'config'), SECRET),
    writeFile(path.join(folder, 'frontend', '.htpasswd'), SECRET),
    symlink(path.join(folder, 'sentinel.txt'), path.join(folder, 'frontend', 'link.txt')),
    symlink(path.join(folder, 'app2'), path.join(folder, 'frontend', 'linked')),
  ]);
}

async function hostOf(appId: string): Promise<string> {
  return new URL((await launch(account, appId)).origin).host;
}

function get(target: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawAnswer> {
  return rawRequest({ port: platform.port, method, path: target, headers: { host, ...headers } });
}

/** The bytes of the answer to a request line with this very target. */
async function raw(target: string): Promise<{ status: number; text: string }> {
  const socket = net.connect({ host: '127.0.0.1', port: platform.port });
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, 'latin1');
  const text = (await buffer(socket)).toString('utf8');
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]), text };
}

for (const item of vectors.cases) {
  test(`an app host never leaves its package: ${item.name} is ${item.expected}`, async () => {
    const { status, text } = await raw(item.target);
    assert.ok(!text.includes(SECRET), text.slice(0, 300));
    assert.ok(status >= 200 && status < 500, `status ${status}`);
    if (item.expected === 'reject') assert.ok(status >= 400, `status ${status}`);
    if (item.expected === 'serves') {
      assert.equal(status, 200);
      assert.ok(text.endsWith(`content of ${item.serves}`), text);
    }
  });
}

test('path tricks are refused by name, and dotfiles are not there', async () => {
  for (const item of vectors.cases) {
    if (!['encoded-slash', 'overlong-utf8', 'bad-percent', 'nul', 'control'].includes(item.class)) continue;
    const { status, text } = await raw(item.target);
    assert.equal(status, 400, item.target);
    assert.match(text, /"code":"invalid_path"/);
  }
  for (const item of vectors.cases.filter((one) => one.class === 'hidden' && !/%|\.\./.test(one.target)))
    assert.equal((await raw(item.target)).status, 404, item.target);
});

test('a link on the disk is followed neither as a file nor as a folder', async () => {
  assert.equal((await get('/link.txt')).status, 404);
  assert.equal((await get('/linked/private.txt')).status, 404);
});

test('the address of an app in a tab of its own leads to the shell, and its files and frame do not', async () => {
  const at = (dest: string, mode = 'navigate') => get('/', { 'sec-fetch-dest': dest, 'sec-fetch-mode': mode });
  const { status, headers } = await at('document');
  assert.deepEqual([status, headers.location], [303, `${platform.core.context.config.origin}/#/app/served-files`]);
  for (const answer of [await at('iframe'), await at('empty', 'cors'), await get('/')])
    assert.equal(answer.status, 200, answer.text);
  assert.equal(
    (
      await get('/', {
        host: `gone--${'a'.repeat(21)}.apps.platform.localhost:${platform.port}`,
        'sec-fetch-dest': 'document',
        'sec-fetch-mode': 'navigate',
      })
    ).status,
    404,
  );
});

test('every answer carries the headers of an app host and sets no cookie', async () => {
  const answers = [
    await get('/'),
    await get('/main.js'),
    await get('/gone'),
    await get('/docs'),
    await get('/', {}, 'POST'),
  ];
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(statuses, [200, 200, 404, 307, 405]);
  for (const { headers } of answers) {
    const policy = headers['content-security-policy'] ?? '';
    assert.match(String(policy), new RegExp(`frame-ancestors ${platform.origin}$`));
    assert.match(
      String(policy),
      new RegExp(`connect-src 'self' ${servicesOrigin(platform.core.context.config)} https://api\\.example;`),
    );
    assert.equal(headers['origin-agent-cluster'], '?1');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
    assert.match(String(headers['permissions-policy']), /publickey-credentials-get=\(\)/);
    assert.ok(headers['x-request-id']);
    assert.equal(headers['set-cookie'], undefined);
    assert.equal(headers['access-control-allow-origin'], undefined);
    assert.equal(headers['cross-origin-embedder-policy'], undefined);
  }
});

test('only an app with a backend may connect to the node', async () => {
  await publish(account, 'backed', { workload: nodeWorkload });
  await install(account, 'backed');
  const answer = await get('/', { host: await hostOf('backed') });
  assert.match(
    String(answer.headers['content-security-policy']),
    /connect-src [^;]*http:\/\/node\.platform\.localhost:8788/,
  );
  assert.doesNotMatch(String((await get('/')).headers['content-security-policy']), /node\.platform/);
});

test('files come with their type and length, and HEAD with the same headers and no body', async () => {
  const answer = await get('/main.js');
  assert.equal(answer.text, script);
  assert.equal(answer.headers['content-type'], 'text/javascript; charset=utf-8');
  assert.equal(answer.headers['content-length'], String(script.length));
  assert.equal((await get('/data.bin')).headers['content-type'], 'application/octet-stream');
  const head = await get('/main.js', {}, 'HEAD');
  assert.equal(head.text, '');
  assert.deepEqual(
    { ...head.headers, date: '', 'x-request-id': '' },
    { ...answer.headers, date: '', 'x-request-id': '' },
  );
  const empty = await get('/empty.txt');
  assert.deepEqual([empty.status, empty.text, empty.headers['content-length']], [200, '', '0']);
});

test('a browser that has the file gets 304, and revalidates after an upgrade', async () => {
  await publish(account, 'changing', {}, { 'frontend/page.txt': 'one' });
  await publish(account, 'changing', { version: '1.1.0' }, { 'frontend/page.txt': 'two' });
  await account.browser.take('/v1/apps', { body: { appId: 'changing', version: '1.0.0' } });
  const there = { host: await hostOf('changing') };
  const first = await get('/page.txt', there);
  assert.equal(first.headers['cache-control'], 'private, no-cache');
  const known = { ...there, 'if-none-match': String(first.headers.etag) };
  const same = await get('/page.txt', known);
  assert.deepEqual([same.status, same.text], [304, '']);
  assert.ok(same.headers['content-security-policy']);
  await account.browser.take('/v1/apps/changing/upgrade', { body: { version: '1.1.0' } });
  const changed = await get('/page.txt', known);
  assert.deepEqual([changed.status, changed.text], [200, 'two']);
});

test('a browser that has a page is not answered 304 once an origin was revoked: some would keep the former policy', async () => {
  const origin = 'https://weather.example';
  await publish(account, 'revoking', {
    frontend: { entry: 'index.html', csp: { connect: [origin], image: [origin] } },
    permissions: [{ id: 'network.connect', resources: [origin] }],
  });
  await install(account, 'revoking');
  const there = { host: await hostOf('revoking') };
  const first = await get('/', there);
  assert.match(String(first.headers['content-security-policy']), /connect-src [^;]* https:\/\/weather\.example;/);
  const known = { ...there, 'if-none-match': String(first.headers.etag) };
  assert.equal((await get('/', known)).status, 304);
  await account.browser.take('/v1/apps/revoking/permissions', { method: 'PUT', body: { permissions: [] } });
  const after = await get('/', known);
  assert.equal(after.status, 200);
  assert.doesNotMatch(String(after.headers['content-security-policy']), /weather/);
});

test('a part of a file is answered as asked, and a part that is not there is refused', async () => {
  const part = await get('/data.bin', { range: 'bytes=2-4' });
  assert.deepEqual([part.status, part.text, part.headers['content-range']], [206, '234', 'bytes 2-4/10']);
  const beyond = await get('/data.bin', { range: 'bytes=10-' });
  assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, 'bytes */10']);
  assert.equal((await get('/data.bin', { range: 'bytes=0-1,4-5' })).text, '0123456789');
});

test('a path that only the script knows opens the app; a missing file stays missing', async () => {
  const page = { accept: 'text/html,application/xhtml+xml' };
  assert.match((await get('/notes/1', page)).text, /<title>served-files/);
  assert.equal((await get('/notes/1')).status, 404);
  const missing = await get('/gone.js', page);
  assert.deepEqual([missing.status, missing.headers['content-type']], [404, 'text/plain; charset=utf-8']);
  assert.equal(problemCode(await get('/gone.js')), 'not_found');
});

test('a folder leads to its index on the same host, with its query', async () => {
  const answer = await get('/docs?tab=2');
  assert.deepEqual([answer.status, answer.headers.location], [307, '/docs/?tab=2']);
  assert.equal((await get('/docs/?tab=2')).text, 'docs');
});

test('an app host takes nothing: other methods and service workers are refused', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
    const answer = await get('/', {}, method);
    assert.deepEqual([answer.status, answer.headers.allow], [405, 'GET, HEAD'], method);
  }
  const worker = await get('/main.js', { 'service-worker': 'script' });
  assert.equal(worker.status, 403);
  assert.equal(problemCode(worker), 'not_authorized');
});

test('a host answers only for the app and label it was made of', async () => {
  await publish(account, 'other-app');
  await install(account, 'other-app');
  const { host_label } = await installationRow(platform, account, 'served-files');
  const { port } = platform;
  const wrong = [
    `other-app--${host_label}.apps.platform.localhost:${port}`,
    `served-files--${'a'.repeat(host_label.length)}.apps.platform.localhost:${port}`,
  ];
  for (const other of wrong) {
    const answer = await get('/', { host: other });
    assert.equal(answer.status, 404, other);
    assert.match(String(answer.headers['content-security-policy']), /^default-src 'none'/);
  }
});

test('the host of a removed app is dead, and stays dead when the app is installed again', async () => {
  await publish(account, 'leaving');
  await install(account, 'leaving');
  const former = { host: await hostOf('leaving') };
  assert.equal((await get('/', former)).status, 200);
  assert.equal((await account.fetch('/v1/apps/leaving', { method: 'DELETE' })).status, 204);
  assert.equal((await get('/', former)).status, 404);
  await install(account, 'leaving');
  assert.equal((await get('/', former)).status, 404);
  assert.equal((await get('/', { host: await hostOf('leaving') })).status, 200);
});

test('nothing of the API answers on an app host', async () => {
  const answer = await get('/v1/auth/session', { cookie: account.cookie });
  assert.equal(answer.status, 404);
});
