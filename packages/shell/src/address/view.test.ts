// The address of the page and what it shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, readStoreAddress, readView, settingsAt, storeAddress, type View } from './view.ts';

const views: readonly View[] = [
  { kind: 'home' },
  { kind: 'app', appId: 'notes' },
  settingsAt('apps'),
  settingsAt('apps/:appId', { appId: 'notes' }),
  settingsAt('apps/:appId/workflows/:workflowId', {
    appId: 'notes',
    workflowId: 'wf-0199c1de-7c3a-7b14-9f4e-2a86d1c0b7e5',
  }),
  settingsAt('command-line'),
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

test('the tile of Settings leads to its pages, of which there is one set', () => {
  assert.deepEqual(readView('#/app/settings'), settingsAt('apps'));
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
