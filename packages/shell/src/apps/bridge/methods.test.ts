// What each bridge method asks for before it does anything: grants of this moment, the exact target, the app in front.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BridgeCall,
  type BridgeContext,
  type Grant,
  type InstalledApp,
  laterBridgeMethods,
  type Notification,
} from '@platform/contract';
import { call, ID, OTHER_ID, PICKED_FILE, status, world } from '../../../test-support/methods-world.ts';

/** Each method that needs a grant: parameters, the grant that covers them, and one that does not quite. */
const guarded: readonly {
  readonly method: BridgeCall;
  readonly params?: unknown;
  readonly grant: Grant;
  readonly near: Grant;
}[] = [
  {
    method: 'apps.open',
    params: { appId: 'notes' },
    grant: { id: 'apps.lifecycle', resources: ['notes'] },
    near: { id: 'apps.lifecycle', resources: ['store'] },
  },
  {
    method: 'apps.start',
    params: { appId: 'notes' },
    grant: { id: 'apps.lifecycle', resources: ['no*'] },
    near: { id: 'apps.lifecycle', resources: ['notes-*'] },
  },
  {
    method: 'apps.stop',
    params: { appId: 'notes' },
    grant: { id: 'apps.lifecycle', resources: ['*'] },
    near: { id: 'apps.install', resources: ['*'] },
  },
  {
    method: 'apps.return',
    grant: { id: 'apps.lifecycle', resources: ['asker'] },
    near: { id: 'apps.lifecycle', resources: ['notes'] },
  },
  {
    method: 'apps.requestInstall',
    params: { appId: 'chess' },
    grant: { id: 'apps.install', resources: ['chess'] },
    near: { id: 'apps.install', resources: ['ches'] },
  },
  {
    method: 'apps.create',
    params: { draftId: 'drf-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203' },
    grant: { id: 'apps.create', resources: ['*'] },
    near: { id: 'apps.install', resources: ['*'] },
  },
  {
    method: 'apps.uninstall',
    params: { appId: 'notes' },
    grant: { id: 'apps.uninstall', resources: ['notes'] },
    near: { id: 'apps.install', resources: ['notes'] },
  },
  {
    method: 'apps.list',
    grant: { id: 'apps.catalog.read', resources: ['*'] },
    near: { id: 'apps.install', resources: ['*'] },
  },
  {
    method: 'apps.list',
    params: { scope: 'catalog' },
    grant: { id: 'apps.install', resources: ['*'] },
    near: { id: 'apps.catalog.read', resources: ['*'] },
  },
  {
    method: 'launcher.register',
    grant: { id: 'apps.launcher.register', resources: ['self'] },
    near: { id: 'apps.lifecycle', resources: ['*'] },
  },
  {
    method: 'launcher.restore',
    grant: { id: 'apps.launcher.register', resources: ['self'] },
    near: { id: 'apps.lifecycle', resources: ['*'] },
  },
  {
    method: 'runtime.status',
    grant: { id: 'runtime.status.read', resources: ['*'] },
    near: { id: 'apps.lifecycle', resources: ['*'] },
  },
  {
    method: 'runtime.pause',
    grant: { id: 'runtime.pause', resources: ['*'] },
    near: { id: 'runtime.status.read', resources: ['*'] },
  },
  {
    method: 'notifications.list',
    grant: { id: 'notifications.read', resources: ['news'] },
    near: { id: 'notifications.publish', resources: ['*'] },
  },
  {
    method: 'notifications.list',
    params: { topic: 'news' },
    grant: { id: 'notifications.read', resources: ['news'] },
    near: { id: 'notifications.read', resources: ['private'] },
  },
  {
    method: 'notifications.read',
    params: { id: ID },
    grant: { id: 'notifications.read', resources: ['news'] },
    near: { id: 'notifications.publish', resources: ['news'] },
  },
  {
    method: 'notifications.readAll',
    grant: { id: 'notifications.read', resources: ['*'] },
    near: { id: 'notifications.publish', resources: ['*'] },
  },
];

for (const { method, params, grant, near } of guarded) {
  const label = `${method} ${params === undefined ? '' : JSON.stringify(params)}`.trim();
  test(`${label} works with ${grant.id} on ${grant.resources} and is refused with ${near.id} on ${near.resources}`, async () => {
    await call(world({ grants: [grant] }), method, params);
    const denied = world({ grants: [near] });
    await assert.rejects(call(denied, method, params), { code: 'grant_missing' });
    const bare = world();
    await assert.rejects(call(bare, method, params), { code: 'grant_missing' });
    assert.deepEqual([...denied.done, ...bare.done], [], 'a refused call does nothing');
  });
}

const everything: Grant[] = [
  'apps.lifecycle',
  'apps.install',
  'apps.create',
  'apps.uninstall',
  'apps.catalog.read',
  'apps.launcher.register',
  'notifications.read',
  'runtime.status.read',
  'runtime.pause',
].map((id) => ({ id: id as Grant['id'], resources: ['*'] }));

for (const [method, params] of [
  ['apps.open', { appId: 'notes' }],
  ['apps.return', undefined],
  ['apps.requestInstall', { appId: 'chess' }],
  ['apps.uninstall', { appId: 'notes' }],
  ['apps.create', { draftId: 'drf-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203' }],
  ['launcher.register', undefined],
  ['launcher.restore', undefined],
  ['runtime.pause', undefined],
] as const) {
  test(`${method} is only for the app the person looks at`, async () => {
    const state = world({ grants: everything, inFront: false });
    await assert.rejects(call(state, method, params), { code: 'not_authorized' });
    assert.deepEqual(state.done, []);
  });
}

test('a grant that was taken back stops the very next call', async () => {
  const state = world({ grants: everything });
  assert.deepEqual(await call(state, 'apps.start', { appId: 'notes' }), status);
  state.grants = [];
  await assert.rejects(call(state, 'apps.start', { appId: 'notes' }), { code: 'grant_missing' });
  assert.deepEqual(state.done, ['start notes']);
});

test('an app is opened at its target, and only when it is installed', async () => {
  const state = world({ grants: everything });
  await call(state, 'apps.open', { appId: 'notes', target: '?note=1' });
  await assert.rejects(call(state, 'apps.open', { appId: 'chess' }), { code: 'not_found' });
  await assert.rejects(call(state, 'apps.open', { appId: 'notes', target: 'https://evil.example/' }), {
    code: 'invalid_request',
  });
  assert.deepEqual(state.done, ['open notes ?note=1']);
});

test('the answer of the person to a review is the answer of the call', async () => {
  for (const approves of [true, false]) {
    const state = world({ grants: everything, approves });
    assert.deepEqual(await call(state, 'apps.requestInstall', { appId: 'chess', version: '1.2.0' }), {
      installed: approves,
    });
    assert.deepEqual(await call(state, 'apps.uninstall', { appId: 'notes' }), { removed: approves });
    assert.deepEqual(await call(state, 'runtime.pause'), { paused: approves });
    const draftId = 'drf-0192f0c1-2d3e-7a4b-8c5d-6e7f80910203';
    assert.deepEqual(await call(state, 'apps.create', { draftId }), { accepted: approves });
    const done = ['review asker chess 1.2.0', 'remove? asker notes', 'pause? asker', `draft? asker ${draftId}`];
    assert.deepEqual(state.done, done);
  }
});

test('an app gets the contact that the person picked at this question, or nobody', async () => {
  const ben = { address: 'ben@platform.example', label: 'Ben' };
  assert.deepEqual(await call(world({ approves: true }), 'contacts.pick'), { contact: ben });
  assert.deepEqual(await call(world({ approves: false }), 'contacts.pick'), { contact: null });
});

test('an app gets the file that the person picked at this question, and learns under which name they kept one of its own', async () => {
  assert.deepEqual(await call(world({ approves: true }), 'files.pick', { access: 'write' }), { file: PICKED_FILE });
  assert.deepEqual(await call(world({ approves: false }), 'files.pick'), { file: null });
  assert.deepEqual(await call(world({ approves: true }), 'files.save', { name: 'a.txt' }), { saved: 'a.txt' });
  assert.deepEqual(await call(world({ approves: false }), 'files.save', { name: 'a.txt' }), { saved: null });
  for (const [method, params] of [
    ['files.pick', { access: 'manage' }],
    ['files.pick', { id: PICKED_FILE.id }],
    ['files.save', { name: '../a' }],
    ['files.save', {}],
  ] as const)
    await assert.rejects(call(world({ approves: true }), method, params), { code: 'invalid_request' });
});

test('lists hold only what the grant covers, with pictures a frame can show', async () => {
  const state = world({ grants: [{ id: 'apps.install', resources: ['no*'] }] });
  const answer = (await call(state, 'apps.list', { scope: 'catalog' })) as { items: readonly InstalledApp[] };
  assert.deepEqual(
    answer.items.map(({ appId, icon }) => [appId, icon]),
    [['notes', 'data:image/png;base64,AA==']],
  );
  const params = { scope: 'catalog', icons: 'path' };
  const { items } = (await call(state, 'apps.list', params)) as { items: readonly InstalledApp[] };
  assert.deepEqual(
    items.map(({ icon }) => icon),
    ['/v1/catalog/notes/versions/1.0.0/icon'],
  );
});

test('an app reads only the records whose topic it may read, on every page', async () => {
  const state = world({ grants: [{ id: 'notifications.read', resources: ['private'] }] });
  const first = await call(state, 'notifications.list', {});
  assert.deepEqual(first, { items: [], nextCursor: '1' });
  const second = (await call(state, 'notifications.list', { cursor: '1' })) as { items: readonly Notification[] };
  assert.deepEqual(
    second.items.map(({ id }) => id),
    [OTHER_ID],
  );
});

test('a record of another topic cannot be marked read, and its existence is not disclosed', async () => {
  const state = world({ grants: [{ id: 'notifications.read', resources: ['news'] }] });
  const missing = 'ntf-0192f0c1-2d3e-7a4b-8c5d-6e7f80910299';
  const refusals = await Promise.all(
    [OTHER_ID, missing].map((id) => call(state, 'notifications.read', { id }).catch((error: Error) => error)),
  );
  assert.deepEqual(refusals[0], refusals[1]);
  assert.deepEqual(state.done, []);
});

test('marking all read marks what the app may read and nothing else', async () => {
  const narrow = world({ grants: [{ id: 'notifications.read', resources: ['pri*'] }] });
  assert.deepEqual(await call(narrow, 'notifications.readAll'), { updated: 1 });
  assert.deepEqual(narrow.done, ['read all pri*']);
  const wide = world({ grants: [{ id: 'notifications.read', resources: ['*'] }] });
  assert.deepEqual(await call(wide, 'notifications.readAll'), { updated: 2 });
  assert.deepEqual(wide.done, ['read all *']);
});

test('states are returned for apps with a backend that the grant covers', async () => {
  const state = world({ grants: [{ id: 'runtime.status.read', resources: ['notes'] }] });
  assert.deepEqual(await call(state, 'runtime.status', {}), { items: [{ appId: 'notes', status }] });
  await assert.rejects(call(state, 'runtime.status', { appId: 'store' }), { code: 'not_found' });
});

test('states are asked for one after another', async () => {
  const state = world({
    grants: [{ id: 'runtime.status.read', resources: ['*'] }],
    apps: world().apps.flatMap((app) => (app.hasWorkload ? ['one', 'two'].map((appId) => ({ ...app, appId })) : [])),
  });
  await call(state, 'runtime.status', {});
  const asked = ['one', 'two'].flatMap((appId) => [`ask for the state of ${appId}`, `hear the state of ${appId}`]);
  assert.deepEqual(state.done, asked);
});

test('search is for the home screen alone', async () => {
  const grants: Grant[] = [{ id: 'apps.launcher.register', resources: ['self'] }];
  await assert.rejects(call(world({ grants: everything }), 'search.query', { q: 'notes' }), { code: 'not_authorized' });
  await assert.rejects(call(world({ isHome: true }), 'search.query', { q: 'notes' }), { code: 'grant_missing' });
  const state = world({ grants, isHome: true });
  assert.deepEqual(await call(state, 'search.query', { q: 'notes' }), { query: 'notes', apps: [], items: [] });
  assert.deepEqual(state.done, ['call search.query {"query":{"q":"notes","limit":20}}']);
});

test('the trusted surfaces open for the platform’s own Settings app alone', async () => {
  const params = { surface: 'permissions', appId: 'notes' };
  for (const change of [
    { appId: 'settings', isSystem: false },
    { appId: 'asker', isSystem: true },
  ]) {
    const state = world({ ...change, grants: everything });
    await assert.rejects(call(state, 'chrome.set', params), { code: 'not_authorized' });
    assert.deepEqual(state.done, []);
  }
  const settings = world({ appId: 'settings', isSystem: true });
  await call(settings, 'chrome.set', params);
  await call(settings, 'chrome.set', { surface: 'passkeys' });
  await call(settings, 'chrome.set', { surface: 'storage' });
  await call(settings, 'chrome.set', { surface: 'ai' });
  assert.deepEqual(settings.done, [
    'surface permissions notes',
    'surface passkeys null',
    'surface storage null',
    'surface ai null',
  ]);
  const fleet = world({ appId: 'fleet', isSystem: true });
  await call(fleet, 'chrome.set', { surface: 'platform' });
  assert.deepEqual(fleet.done, ['surface platform null']);
  await assert.rejects(call(fleet, 'chrome.set', { surface: 'passkeys' }), { code: 'not_authorized' });
  const platform = world({ appId: 'platform', isSystem: true, grants: everything });
  await assert.rejects(call(platform, 'chrome.set', { surface: 'platform' }), { code: 'not_authorized' });
  await assert.rejects(call({ ...settings, inFront: false }, 'chrome.set', params), { code: 'not_authorized' });
  await assert.rejects(call(settings, 'chrome.set', { surface: 'logs' }), { code: 'invalid_request' });
  await assert.rejects(call(settings, 'chrome.set', { surface: 'logs', appId: 'gone' }), { code: 'not_found' });
});

test('the platform’s own Notifications app alone mutes and changes surfaces, in front, while it may read everything', async () => {
  const own = { appId: 'notifications', isSystem: true, grants: everything };
  const mute = { appId: 'notes', topic: 'news', muted: true };
  const changes = [
    ['notifications.mute', mute],
    ['notifications.surfaces', { flashes: false }],
  ] as const;
  for (const [method, params] of [...changes, ['notifications.settings', undefined]] as const) {
    for (const change of [{ appId: 'asker' }, { isSystem: false }]) {
      const state = world({ ...own, ...change });
      await assert.rejects(call(state, method, params), { code: 'not_authorized' });
      assert.deepEqual(state.done, []);
    }
    const narrow = world({ ...own, grants: [{ id: 'notifications.read', resources: ['news'] }] });
    await assert.rejects(call(narrow, method, params), { code: 'grant_missing' });
    assert.deepEqual(narrow.done, []);
  }
  for (const [method, params] of changes)
    await assert.rejects(call(world({ ...own, inFront: false }), method, params), { code: 'not_authorized' });

  const state = world(own);
  const old = { appId: 'notes', topic: 'old' };
  await call(state, 'notifications.mute', mute);
  await call(state, 'notifications.mute', mute);
  assert.deepEqual(state.settings.muted, [old, { appId: 'notes', topic: 'news' }]);
  await call(state, 'notifications.mute', { appId: 'notes', muted: true });
  await call(state, 'notifications.mute', { ...mute, muted: false });
  assert.deepEqual(state.settings.muted, [old, { appId: 'notes', topic: null }]);
  await call(state, 'notifications.surfaces', { system: false });
  await call(state, 'notifications.surfaces', { webPush: false });
  assert.deepEqual(await call(state, 'notifications.settings'), { ...state.settings, system: false, webPush: false });
  await call(state, 'chrome.set', { surface: 'notifications' });
  assert.equal(state.done.at(-1), 'surface notifications null');
  await assert.rejects(call(state, 'chrome.set', { surface: 'passkeys' }), { code: 'not_authorized' });
});

test('an app names its own place only, whatever it sends', async () => {
  const state = world();
  await call(state, 'chrome.set', { title: 'Chapter 2' });
  await assert.rejects(call(state, 'chrome.set', { title: 'a\u202Eb' }), { code: 'invalid_request' });
  assert.deepEqual(state.done, ['title asker Chapter 2']);
});

test('a link opens when the person agrees, and an address of the platform never does', async () => {
  const state = world();
  assert.deepEqual(await call(state, 'links.open', { url: 'https://Example.org' }), { opened: true });
  state.approves = false;
  assert.deepEqual(await call(state, 'links.open', { url: 'https://example.org/x' }), { opened: false });
  for (const url of ['https://shell.example/', 'https://notes--y.apps.example/', 'https://asker--x.apps.example./'])
    await assert.rejects(call(state, 'links.open', { url }), { code: 'not_authorized', message: /apps\.open/ });
  assert.deepEqual(state.done, ['link? asker https://example.org/', 'link? asker https://example.org/x']);
});

test('an app keeps 64 KiB of JSON, counted in bytes, and not one more', async () => {
  const state = world();
  const fits = JSON.stringify('x'.repeat(65_534));
  const wide = JSON.stringify('ü'.repeat(32_767));
  for (const json of [fits, wide]) {
    assert.equal(new TextEncoder().encode(json).length, 65_536);
    assert.equal(await call(state, 'state.set', { json }), null);
    assert.deepEqual(await call(state, 'state.get'), { json });
  }
  for (const json of [fits.replace('x', 'xx'), wide.replace('ü', 'üx'), JSON.stringify('€'.repeat(22_000))]) {
    await assert.rejects(call(state, 'state.set', { json }), { code: 'payload_too_large', message: /may have 64 KiB/ });
  }
  assert.deepEqual(await call(state, 'state.get'), { json: wide }, 'what was kept stays');
  await call(state, 'state.set', { json: 'null' });
  assert.deepEqual(await call(state, 'state.get'), { json: null });
});

test('what an app keeps is JSON, and another app finds nothing of it', async () => {
  const state = world();
  for (const json of ['', '{', 'undefined', '{"a":1}x', "{'a':1}", 'NaN']) {
    await assert.rejects(call(state, 'state.set', { json }), { code: 'invalid_request' });
  }
  await call(state, 'state.set', { json: '{"__proto__":{"a":1}}' });
  assert.deepEqual(await call({ ...state, appId: 'other' }, 'state.get'), { json: null });
  for (const appId of ['notes', 'other']) {
    await assert.rejects(call(state, 'state.get', { appId }), { code: 'invalid_request' });
    await assert.rejects(call(state, 'state.set', { appId, json: '1' }), { code: 'invalid_request' });
    await assert.rejects(call(state, 'place.set', { appId, place: '/' }), { code: 'invalid_request' });
  }
  assert.deepEqual(state.done, ['keep asker {"__proto__":{"a":1}}']);
});

test('a place is on the origin of the app, and its own', async () => {
  const state = world();
  const longest = `/${'a'.repeat(2_047)}`;
  for (const place of ['/', '/notes/1?page=2#end', '/#/notes', longest]) await call(state, 'place.set', { place });
  assert.deepEqual(state.done, [
    'place asker /',
    'place asker /notes/1?page=2#end',
    'place asker /#/notes',
    `place asker ${longest}`,
  ]);
  const hostile = ['//evil.example/', '/\\evil.example', 'https://evil.example/', 'javascript:alert(1)', `${longest}a`];
  for (const place of [...hostile, '/#platform=eyJ9', '/a b', '/\u202e', '', 7, null, ['/a']]) {
    await assert.rejects(call(state, 'place.set', { place }), { code: 'invalid_request' }, `${place}`);
  }
  assert.equal(state.done.length, 4);
});

test('the context holds the grants of this moment', async () => {
  const state = world({ grants: [{ id: 'search.index', resources: ['self'] }] });
  assert.deepEqual(await call(state, 'context.get'), {
    appId: 'asker',
    theme: 'light',
    displayMode: 'window',
    capabilities: state.grants,
  });
});

test('the context has the states of backends with the grant that shows them, and without those of silent nodes', async () => {
  const grants: Grant[] = [{ id: 'runtime.status.read', resources: ['no*'] }];
  const backends = world().apps.flatMap((app) =>
    app.hasWorkload ? ['notes', 'nothing', 'secret'].map((appId) => ({ ...app, appId })) : [app],
  );
  const state = world({ grants, apps: backends, silent: ['nothing'] });
  const runtimeOf = async () => ((await call(state, 'context.get')) as BridgeContext).runtime;
  assert.deepEqual(await runtimeOf(), [{ appId: 'notes', status }]);
  state.grants = [{ id: 'apps.catalog.read', resources: ['*'] }];
  assert.equal(await runtimeOf(), undefined);
});

test('methods that come later say so, unknown ones are not found, and nothing inherited is a method', async () => {
  const later = laterBridgeMethods.filter((method) => /^(wallet|schedules)/.test(method));
  assert.equal(later.length, 3);
  for (const method of later) {
    await assert.rejects(call(world({ grants: everything }), method), { code: 'unavailable', message: /yet/ });
  }
  for (const method of ['apps.destroy', 'notifications.publish', '', 'toString', '__proto__', 'constructor']) {
    await assert.rejects(call(world({ grants: everything }), method), { code: 'not_found' });
  }
});

test('a missing grant is said in the words of core: who can give it, its owner or its author, and for what', async () => {
  const [notes] = world().apps;
  assert.ok(notes !== undefined);
  const apps = [{ ...notes, appId: 'asker', name: 'Asker' }, notes];
  const lifecycle = [{ id: 'apps.lifecycle', resources: ['notes'] }] satisfies Grant[];
  const refusal = (grants: Grant[], requested: Grant[], method: string, params?: unknown) =>
    call(world({ apps, grants, requested }), method, params).then(
      () => assert.fail(`${method} was answered`),
      ({ message }: Error) => message,
    );
  const allow = 'You can allow it in Settings → Apps → Asker.';
  const request = 'Asker does not request it: its author can add it to `permissions` in manifest.json.';
  const start = 'Asker may not open, start and stop apps on the app "notes" (apps.lifecycle).';
  assert.equal(await refusal([], lifecycle, 'apps.start', { appId: 'notes' }), `${start} ${allow}`);
  assert.equal(await refusal([], [], 'apps.start', { appId: 'notes' }), `${start} ${request}`);
  const other = [{ id: 'apps.lifecycle', resources: ['store'] }] satisfies Grant[];
  assert.equal(await refusal(other, other, 'apps.start', { appId: 'notes' }), `${start} ${request}`);
  const read = 'Asker may not read and mark your notifications (notifications.read).';
  assert.equal(await refusal([], [], 'notifications.readAll'), `${read} ${request}`);
  assert.equal(
    await refusal([], [{ id: 'notifications.read', resources: ['news'] }], 'notifications.readAll'),
    `${read} ${allow}`,
  );
});
