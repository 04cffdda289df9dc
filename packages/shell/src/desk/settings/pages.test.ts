// The list of the pages of Settings: every page that a domain declares is in it, and an address leads to one of them.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { findPage } from './find-page.ts';
import { MENU_PAGES, SETTINGS_PAGES } from './pages.ts';

const DESK = path.join(import.meta.dirname, '..');
const RUN = 'wf-0199c1de-7c3a-7b14-9f4e-2a86d1c0b7e5';

test('every page that a domain declares is in the list, once, under a path of its own', async () => {
  const files = globSync('*/settings-pages.ts', { cwd: DESK });
  assert.ok(files.length > 5, `${files.length} domains`);
  const modules = await Promise.all(files.map((file) => import(path.join(DESK, file))));
  const declared = modules.flatMap((module) => Object.values(module));
  assert.equal(declared.length, SETTINGS_PAGES.length);
  assert.deepEqual(new Set(declared), new Set(SETTINGS_PAGES));
  assert.equal(new Set(SETTINGS_PAGES.map((page) => page.path)).size, SETTINGS_PAGES.length);
});

test('a page in the menus needs no more than its name, and one of each app needs the app alone', () => {
  for (const page of MENU_PAGES) assert.doesNotMatch(page.path, /[:/]/);
  for (const page of SETTINGS_PAGES)
    if (page.ofApp !== undefined) assert.deepEqual(page.path.match(/:\w+/g), [':appId'], page.path);
});

for (const [address, shown, params] of [
  ['apps', 'apps', {}],
  ['apps/notes', 'apps/:appId', { appId: 'notes' }],
  ['apps/notes/log', 'apps/:appId/log', { appId: 'notes' }],
  ['apps/notes/internet', 'apps/:appId/internet', { appId: 'notes' }],
  ['apps/notes/workflows', 'apps/:appId/workflows', { appId: 'notes' }],
  [`apps/notes/workflows/${RUN}`, 'apps/:appId/workflows/:workflowId', { appId: 'notes', workflowId: RUN }],
  ['command-line', 'command-line', {}],
  // What no page knows leads to the nearest one.
  ['', 'apps', {}],
  ['evil', 'apps', {}],
  ['apps/UPPER', 'apps', {}],
  ['apps/a--b/log', 'apps', {}],
  ['apps/notes/evil', 'apps/:appId', { appId: 'notes' }],
  ['apps/notes/log/evil', 'apps/:appId/log', { appId: 'notes' }],
  ['apps/notes/workflows/..', 'apps/:appId/workflows', { appId: 'notes' }],
  ['ai/evil', 'ai', {}],
  [':appId', 'apps', {}],
] as const)
  test(`the address “${address}” shows the page ${shown}`, () => {
    const found = findPage(SETTINGS_PAGES, address);
    assert.equal(found.page.path, shown);
    assert.deepEqual(found.params, params);
  });
