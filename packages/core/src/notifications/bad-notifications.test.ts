// What is not a notification is refused with the contract's error, and nothing of it is stored.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registerAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer, rawRequest } from '../../../../tests/support/raw-http.ts';

const ROUTE = '/v1/services/notifications';

let world: Constellation;
let app: InstalledTestApp;
before(async () => {
  world = await startConstellation();
  const account = await registerAccount(world, 'careless');
  app = await installTestApp(world, account, 'sender', [
    { id: 'notifications.publish', resources: ['news', 'a*', 'NEWS'] },
  ]);
});
after(() => world.close());

async function assertRefused(answer: RawAnswer, status: number, code: string): Promise<void> {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
  const { rowCount } = await world.core.context.pool.query('SELECT FROM notifications');
  assert.equal(rowCount, 0);
}

const action = (change: object) => ({
  presentation: { actions: [{ id: 'a', label: 'Open', type: 'open-app', ...change }] },
});
const target = (value: unknown) => action({ target: value });
const malformed: readonly (readonly [string, object])[] = [
  ['no topic', { topic: undefined }],
  ['an empty topic', { topic: '' }],
  ['an upper-case topic', { topic: 'NEWS' }],
  ['a topic of 65 characters', { topic: 'a'.repeat(65) }],
  ['no title', { title: undefined }],
  ['an empty title', { title: '' }],
  ['a title of 121 characters', { title: 'x'.repeat(121) }],
  ['a title of two lines', { title: 'a\nb' }],
  ['a title that turns the reading direction', { title: 'a\u202Eb' }],
  ['a title with a NUL', { title: 'a\u0000b' }],
  ['a title with half a character', { title: 'a\uD83Db' }],
  ['a body of 2,001 characters', { body: 'x'.repeat(2_001) }],
  ['a body that turns the reading direction', { body: 'a\u2067b' }],
  ['a body with a control character', { body: 'a\u001bb' }],
  ['a body with a bare carriage return', { body: 'a\rb' }],
  ['a title with a tab', { title: 'a\tb' }],
  ['a label of two lines', action({ label: 'a\nb' })],
  ['a body that is no text', { body: { html: '<b>x</b>' } }],
  ['a member for HTML', { html: '<b>x</b>' }],
  ['an unknown priority', { priority: 'urgent' }],
  ['an unknown delivery', { delivery: 'email' }],
  ['an empty dedupe key', { dedupeKey: '' }],
  ['a dedupe key of 129 characters', { dedupeKey: 'k'.repeat(129) }],
  ['a dedupe key with half a character', { dedupeKey: '\uDC00' }],
  ['an unknown mode', { presentation: { mode: 'fullscreen' } }],
  ['an unknown tone', { presentation: { tone: 'loud' } }],
  ['an unknown layout', { presentation: { layout: 'html' } }],
  ['raw HTML for a presentation', { presentation: '<b>x</b>' }],
  ['an unknown member of a presentation', { presentation: { script: 'x' } }],
  ['an expiry of no time', { presentation: { expiresInSeconds: 0 } }],
  ['an expiry of half a second', { presentation: { expiresInSeconds: 0.5 } }],
  ['an expiry beyond a week', { presentation: { expiresInSeconds: 604_801 } }],
  [
    'four actions',
    { presentation: { actions: [1, 2, 3, 4].map((n) => ({ id: `a${n}`, label: 'x', type: 'open-app' })) } },
  ],
  [
    'two actions of one id',
    { presentation: { actions: [1, 2].map(() => ({ id: 'a', label: 'x', type: 'open-app' })) } },
  ],
  ['an action without a label', action({ label: '' })],
  ['an action with an empty id', action({ id: '' })],
  ['an action with an id of 65 characters', action({ id: 'a'.repeat(65) })],
  ['an action whose id has a space', action({ id: 'a b' })],
  ['a label of 41 characters', action({ label: 'x'.repeat(41) })],
  ['a label with half a character', action({ label: '\uD800' })],
  ['an unknown kind of action', action({ type: 'open-url' })],
  ['an unknown style', action({ style: 'huge' })],
  ['an action with an address', action({ url: 'https://x.example' })],
  ['an action for another app', action({ appId: 'wallet' })],
  ['an empty target', target('')],
  ['a target of 513 characters', target(`?${'a'.repeat(512)}`)],
  ['an external target', target('https://x.example/?a=1')],
  ['a protocol-relative target', target('//x.example/?a=1')],
  ['a target with backslashes', target('\\\\x.example')],
  ['a query with a backslash', target('?a\\b')],
  ['a target that is a script', target('javascript:alert(1)')],
  ['a target with raw HTML', target('?<script>alert(1)</script>')],
  ['a target with a quote', target('?a="b"')],
  ['a target with a fragment', target('?a#b')],
  ['a target that is only a fragment', target('#b')],
  ['a path of another app', target('/apps/wallet?a=1')],
  ['a relative path', target('../?a=1')],
  ['a target with a line break', target('?a\nb')],
  ['a target that is no text', target(['?a'])],
];
for (const [what, change] of malformed) {
  test(`a notification with ${what} is refused`, async () => {
    const answer = await app.call(ROUTE, { body: { topic: 'news', title: 'Hello', ...change } });
    await assertRefused(answer, 400, 'invalid_request');
  });
}

for (const topic of ['mail', 'new', 'news.more', 'b', '*']) {
  test(`the topic ${topic}, which no grant covers, is refused`, async () => {
    const answer = await app.call(ROUTE, { body: { topic, title: 'Hello' } });
    if (topic === '*') await assertRefused(answer, 400, 'invalid_request');
    else await assertRefused(answer, 403, 'grant_missing');
  });
}

const good = JSON.stringify({ topic: 'news', title: 'Hello' });
const bodies: readonly (readonly [string, string | undefined, string, number, string])[] = [
  ['several at once', `[${good},${good}]`, 'application/json', 400, 'invalid_request'],
  ['one that breaks off', good.slice(0, -1), 'application/json', 400, 'invalid_request'],
  ['none', undefined, 'application/json', 400, 'invalid_request'],
  ['one nested too deep', `${'['.repeat(33)}${']'.repeat(33)}`, 'application/json', 400, 'invalid_request'],
  ['a form', 'topic=news&title=Hello', 'application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
  [
    'one that is too large',
    JSON.stringify({ topic: 'news', title: 'Hello', body: 'x'.repeat(262_144) }),
    'application/json',
    413,
    'payload_too_large',
  ],
];
for (const [what, body, mediaType, status, code] of bodies) {
  test(`a request with ${what} is refused`, async () => {
    const answer = await rawRequest({
      port: world.port,
      method: 'POST',
      path: ROUTE,
      headers: {
        host: new URL(world.origin).host,
        authorization: `Bearer ${app.credential}`,
        'content-type': mediaType,
      },
      ...(body === undefined ? {} : { body }),
    });
    await assertRefused(answer, status, code);
  });
}
