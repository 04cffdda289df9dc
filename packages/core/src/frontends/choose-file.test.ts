// Which file answers a path of an app host.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseFile } from './choose-file.ts';

const names = new Set(['index.html', 'main.js', 'docs/index.html', 'docs/a b/index.html', 'page.html']);
const file = (name: string) => ({ kind: 'file', name });
const redirect = (path: string) => ({ kind: 'redirect', path });
const none = { kind: 'none' };

function choose(path: string, { entry = 'index.html', wantsPage = false } = {}) {
  const segments = path.split('/').filter((segment) => segment !== '');
  return chooseFile(names, entry, { segments, trailingSlash: path.endsWith('/'), wantsPage });
}

test('a file answers under its own path and no other', () => {
  assert.deepEqual(choose('/main.js'), file('main.js'));
  assert.deepEqual(choose('/main.js/'), none);
  assert.deepEqual(choose('/MAIN.JS'), none);
  assert.deepEqual(choose('/main'), none);
});

test('a folder answers with its index, at the path that ends in a slash', () => {
  assert.deepEqual(choose('/'), file('index.html'));
  assert.deepEqual(choose('/docs/'), file('docs/index.html'));
  assert.deepEqual(choose('/docs'), redirect('/docs/'));
  assert.deepEqual(choose('/docs/a b'), redirect('/docs/a%20b/'));
});

test('the root leads to an entry document that lies elsewhere', () => {
  const elsewhere = chooseFile(new Set(['app/start.html']), 'app/start.html', {
    segments: [],
    trailingSlash: true,
    wantsPage: true,
  });
  assert.deepEqual(elsewhere, redirect('/app/start.html'));
});

test('a page that only the script of the app knows is answered with the entry document', () => {
  assert.deepEqual(choose('/notes/1', { wantsPage: true }), file('index.html'));
  assert.deepEqual(choose('/notes/1', { wantsPage: true, entry: 'page.html' }), file('page.html'));
  assert.deepEqual(choose('/notes/1'), none);
});

test('a missing file is missing even for a page: an error must not look like a script', () => {
  assert.deepEqual(choose('/gone.js', { wantsPage: true }), none);
  assert.deepEqual(choose('/notes/1.5', { wantsPage: true }), none);
});

test('names of the language are not names of files', () => {
  for (const name of ['/constructor', '/__proto__', '/hasOwnProperty', '/toString'])
    assert.deepEqual(choose(name), none);
});
