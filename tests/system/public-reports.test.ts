// Cases from public bug reports of systems of this kind, through core, a node, its Gateway and an Ingress as they run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { openRaw } from '../../packages/http/test-support/raw-exchange.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../support/installed-app.ts';
import { problemCode } from '../support/raw-http.ts';
import { installPublicApp, publicAddressOf, type RealIngress, startRealIngress } from '../support/real-ingress.ts';
import { type RealNode, startRealNode } from '../support/real-node.ts';
import { until } from '../support/wait.ts';

const ofHttp = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../packages/http/test-vectors/${name}.json`, import.meta.url), 'utf8'));
const ofCore = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../packages/core/test-vectors/${name}.json`, import.meta.url), 'utf8'));

const WEBHOOKS: readonly { readonly name: string; readonly headers: Readonly<Record<string, string>> }[] =
  ofHttp('webhook-headers').cases;
const SPOOFED: { readonly client: readonly string[]; readonly identity: readonly string[] } = ofHttp('spoofed-fields');
const BLANK: Readonly<Record<string, string>> = ofCore('blank-texts').values;
const OTHERS: readonly { readonly name: string }[] = ofCore('public-reports').cases;

/** Says what it got, and breaks off below /broken. */
const BACKEND = `
  import net from 'node:net';
  net.createServer((socket) => {
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const end = text.indexOf('\\r\\n\\r\\n');
      const length = Number(/\\r\\ncontent-length: *(\\d+)/i.exec(text)?.[1] ?? 0);
      if (end < 0 || text.length < end + 4 + length) return;
      const got = Buffer.from(text.slice(0, end + 4 + length), 'latin1').toString('hex');
      const broken = text.startsWith('GET /broken');
      text = '';
      if (broken) return void socket.end('HTTP/1.1 200 OK\\r\\nX-Bad: a\\u0001b\\r\\nContent-Length: 2\\r\\n\\r\\nok', 'latin1');
      socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: ' + got.length + '\\r\\n\\r\\n' + got);
    });
  }).listen(Number(process.env.PORT));
`;
const ROUTES = ['GET:/*', 'POST:/*'];

let world: Constellation;
let node: RealNode;
let ingress: RealIngress;
let owner: TestAccount;
let hostname: string;
let sender: InstalledTestApp;

before(async () => {
  world = await startConstellation();
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
  ingress = await startRealIngress(world);
  owner = await registerAccount(world, 'reporter');
  ({ hostname } = await installPublicApp(owner, 'echo', { workload: BACKEND, routes: ROUTES }));
  sender = await installTestApp(world, owner, 'sender', [
    { id: 'notifications.publish', resources: ['*'] },
    { id: 'search.index', resources: ['self'] },
  ]);
  await until('the Ingress to know the app', async () => (await ingress.get(hostname, '/')).status === 200);
});
after(async () => {
  await ingress?.stop();
  await node?.stop();
  await world?.close();
});

/** What the backend got, byte for byte. */
async function arrived(path: string, fields: readonly string[], body = ''): Promise<string> {
  const answer = await ingress.get(hostname, path, { method: body === '' ? 'GET' : 'POST', fields, body });
  assert.equal(answer.status, 200, answer.head);
  return Buffer.from(answer.body, 'hex').toString('latin1');
}

for (const { name, headers } of WEBHOOKS) {
  test(`${name}: every field that the sender signs arrives as it was sent, and the body byte for byte`, async () => {
    const body = '{"a": 1.0,\r\n "b":"\u00e9"}';
    const lines = Object.entries(headers).map(([field, value]) => `${field}: ${value}`);
    const got = await arrived('/hooks/x', lines, body);
    for (const [field, value] of Object.entries(headers))
      assert.match(got, new RegExp(`\\r\\n${field}: ${value}\\r\\n`, 'i'));
    assert.ok(got.endsWith(`\r\n\r\n${Buffer.from(body).toString('latin1')}`), got);
  });
}

for (const field of [...SPOOFED.client, ...SPOOFED.identity]) {
  test(`${field}: a stranger speaks in the name of no proxy`, async () => {
    const own = 'X-Own: evil-6.6.6.6-of-its-own';
    const got = await arrived('/', [`${field}: evil-6.6.6.6`, `${field.replaceAll('-', '_')}: evil-6.6.6.6`, own]);
    assert.ok(got.includes(own.slice('X-Own: '.length)), got);
    assert.ok(!/: evil-6\.6\.6\.6\r\n/.test(got), got);
  });
}

for (const [name, blank] of Object.entries(BLANK)) {
  test(`${name}: a text that nobody sees is refused as the title of a notification, of an entry, and as a label`, async () => {
    const notification = { topic: 'news', title: 'Title' };
    const action = { id: 'a', label: blank, type: 'open-app' };
    for (const text of [blank, blank.repeat(3)]) {
      const calls = [
        { path: '/v1/services/notifications', body: { ...notification, title: text } },
        {
          path: '/v1/services/notifications',
          body: { ...notification, presentation: { actions: [{ ...action, label: text }] } },
        },
        { path: '/v1/services/search/index', body: { entries: [{ id: 'a', title: text, url: '/a' }] } },
      ];
      for (const { path, body } of calls) {
        const answer = await sender.call(path, { body });
        assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], `${path} ${answer.text}`);
      }
    }
  });
}

const others: Readonly<Record<string, () => Promise<void>>> = {
  async 'cron-step-star'() {
    const manager = await managerOfSchedules();
    const query = new URLSearchParams({ cron: '0 8 */2 * MON', timeZone: 'Europe/Berlin' });
    const answer = await manager(`/v1/services/schedules/preview?${query}`);
    const { times } = answer.json as { readonly times: readonly string[] };
    assert.ok(times.length > 0, answer.text);
    for (const time of times) {
      const berlin = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', weekday: 'short', day: 'numeric' });
      const parts = Object.fromEntries(berlin.formatToParts(new Date(time)).map(({ type, value }) => [type, value]));
      assert.equal(parts.weekday, 'Mon', time);
      assert.equal(Number(parts.day) % 2, 1, time);
    }
  },
  async 'error-status-line'() {
    const connection = await openRaw(
      ingress.port,
      `GET /broken HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`,
    );
    await connection.closed();
    assert.match(connection.received(), /^HTTP\/1\.1 502 Bad Gateway\r\n/);
  },
  async 'name-known-before-route'() {
    for (const appId of ['early-one', 'early-two', 'early-three']) {
      await installPublicApp(owner, appId, { workload: BACKEND, routes: ROUTES });
      const { hostname: name } = await publicAddressOf(owner, appId);
      assert.notEqual((await ingress.get(name, '/')).status, 421, 'its URL answers from when it is given out');
    }
  },
};

async function managerOfSchedules() {
  await owner.browser.take('/v1/apps', { body: { appId: 'schedules' } }).catch(() => undefined);
  const launch = await owner.browser.take<{ origin: string; frontendCapability: string }>('/v1/apps/schedules/launch', {
    method: 'POST',
  });
  const { origin, frontendCapability: capability } = launch;
  const exchanged = await sender.call('/v1/frontend/exchange', { body: { capability }, headers: { origin } });
  const { capability: own } = exchanged.json as { readonly capability: string };
  return (path: string) => sender.call(path, { headers: { origin, authorization: `Bearer ${own}` } });
}

/** The client of minio-go is tried where the Gateway refuses: packages/gateway/src/services/object-storage/refusals.test.ts. */
const ELSEWHERE = new Set(['minio-go-plain-http']);

for (const { name } of OTHERS.filter((one) => !ELSEWHERE.has(one.name)))
  test(name, async () => (others[name] ?? assert.fail('this report has no test'))());
