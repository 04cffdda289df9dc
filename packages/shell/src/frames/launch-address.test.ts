// A target leads to a place of its app, and never anywhere else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchAddress } from './launch-address.ts';

const URL_OF_APP = 'http://notes--a.apps.example/index.html#launch=secret';

test('a query and a path are places of the app, and the fragment stays', () => {
  const begins = 'http://notes--a.apps.example';
  assert.equal(launchAddress(URL_OF_APP, '?note=1'), `${begins}/index.html?note=1#launch=secret`);
  assert.equal(launchAddress(URL_OF_APP, '/notes/1?page=2'), `${begins}/notes/1?page=2#launch=secret`);
  assert.equal(launchAddress(URL_OF_APP, '/ü/../a b'), `${begins}/a%20b#launch=secret`);
  assert.equal(launchAddress(URL_OF_APP, null), URL_OF_APP);
});

test('nothing else changes where the app begins', () => {
  const elsewhere = [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '\\\\evil.example',
    '/\t/evil.example/',
    'javascript:alert(1)',
    'notes/1',
    '?a#launch=other',
    '/a#launch=other',
    '',
  ];
  for (const target of elsewhere) {
    const address = new URL(launchAddress(URL_OF_APP, target));
    assert.equal(address.origin, 'http://notes--a.apps.example', target);
    assert.equal(address.hash, '#launch=secret', target);
  }
});
