// The address of the page and what it shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, readStoreAddress, readView, storeAddress, type View } from './view.ts';

const views: readonly View[] = [
  { kind: 'home' },
  { kind: 'app', appId: 'notes' },
  { kind: 'settings', page: 'apps' },
  { kind: 'settings', page: 'app', appId: 'notes' },
  { kind: 'settings', page: 'logs', appId: 'notes' },
  { kind: 'settings', page: 'internet', appId: 'notes' },
  { kind: 'settings', page: 'workflows', appId: 'notes' },
  { kind: 'settings', page: 'workflow', appId: 'notes', workflowId: 'wf-0199c1de-7c3a-7b14-9f4e-2a86d1c0b7e5' },
  { kind: 'settings', page: 'passkeys' },
  { kind: 'settings', page: 'sessions' },
  { kind: 'settings', page: 'notifications' },
  { kind: 'settings', page: 'storage' },
  { kind: 'settings', page: 'ai' },
];

for (const view of views) {
  test(`${addressOf(view)} leads to the page that wrote it`, () => assert.deepEqual(readView(addressOf(view)), view));
}

for (const hash of [
  '',
  '#',
  '#/',
  '#/app',
  '#/app/',
  '#/app/No',
  '#/app/..',
  '#/app/a--b',
  '#enrol=abc',
  '#/unknown/notes',
]) {
  test(`${hash === '' ? 'no address' : hash} leads home`, () => assert.deepEqual(readView(hash), { kind: 'home' }));
}

test('an unknown settings page leads to the first one', () => {
  assert.deepEqual(readView('#/app/settings'), { kind: 'settings', page: 'apps' }, 'there is one Settings');
  assert.deepEqual(readView('#/settings/evil'), { kind: 'settings', page: 'apps' });
  assert.deepEqual(readView('#/settings/apps/UPPER'), { kind: 'settings', page: 'apps' });
  const workflows = { kind: 'settings', page: 'workflows', appId: 'notes' } as const;
  assert.deepEqual(readView('#/settings/apps/notes/workflows/..'), workflows);
});

test('the address of an app’s page in the Store names the app', () => {
  assert.equal(readStoreAddress(storeAddress('notes-2')), 'notes-2');
});

for (const hash of [
  '',
  '#/',
  '#/store',
  '#/store/',
  '#/store/No',
  '#/store/a',
  '#/store/a--b',
  '#/store/notes/x',
  '#/app/notes',
])
  test(`${hash === '' ? 'no address' : hash} names no app’s page in the Store`, () =>
    assert.equal(readStoreAddress(hash), null));
