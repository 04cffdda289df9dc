// A target and a place lead to somewhere in their app, and never anywhere else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressAtPlace, addressAtTarget, isPlace } from './place.ts';

const BEGINS = 'http://notes--a.apps.example';
const URL_OF_APP = `${BEGINS}/index.html#platform=secret`;

const elsewhere = [
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '\\\\evil.example',
  '/\t/evil.example/',
  '/\n/evil.example/',
  ' //evil.example/',
  'javascript:alert(1)',
  'data:text/html,x',
  'notes/1',
  '@evil.example',
  ':80',
  '',
];

test('a query and a path are targets of the app, and the fragment stays', () => {
  assert.equal(addressAtTarget(URL_OF_APP, '?note=1'), `${BEGINS}/index.html?note=1#platform=secret`);
  assert.equal(addressAtTarget(URL_OF_APP, '/notes/1?page=2'), `${BEGINS}/notes/1?page=2#platform=secret`);
  assert.equal(addressAtTarget(URL_OF_APP, '/ü/../a b'), `${BEGINS}/a%20b#platform=secret`);
});

test('no other target changes where the app begins', () => {
  for (const target of [...elsewhere, '?a#platform=other', '/a#platform=other']) {
    const address = new URL(addressAtTarget(URL_OF_APP, target));
    assert.equal(address.origin, BEGINS, target);
    assert.equal(address.hash, '#platform=secret', target);
  }
});

test('an app comes back to its path, query and fragment', () => {
  const addresses = [
    ['/', '/#platform=secret'],
    ['/notes/1', '/notes/1#platform=secret'],
    ['/index.html?note=1', '/index.html?note=1#platform=secret'],
    ['/#/notes/1?a=b', '/#platform=secret&/notes/1?a=b'],
    ['/a/?q=%C3%BC&b#c&d', '/a/?q=%C3%BC&b#platform=secret&c&d'],
    ['/a//b', '/a//b#platform=secret'],
    ['/?next=https://evil.example/', '/?next=https://evil.example/#platform=secret'],
  ];
  for (const [place = '', address] of addresses) assert.equal(addressAtPlace(URL_OF_APP, place), `${BEGINS}${address}`);
});

test('no place leads off the origin of the app, nor puts launch data into its address', () => {
  const smuggled = ['/#platform=other', '/?a#platform=other', '/?#platform=', '/a#b#platform=other'];
  const unwritten = ['/a b', '/ü', '/a\\b', '/a\u0000', '/a\u202e'];
  for (const place of [...elsewhere, ...smuggled, ...unwritten]) {
    assert.equal(isPlace(place), false, place);
    assert.equal(addressAtPlace(URL_OF_APP, place), URL_OF_APP, place);
  }
});

test('what a browser makes of a place stays on the origin and behind the launch data', () => {
  const odd = ['/..//evil.example/', '/.//evil.example', '/%2f%2fevil.example', '/;@evil.example', '/:80', '/%5cevil'];
  for (const place of odd) {
    const address = new URL(addressAtPlace(URL_OF_APP, `${place}#&platform=x`));
    assert.equal(address.origin, BEGINS, place);
    assert.match(address.hash, /^#platform=secret(?:&|$)/, place);
  }
});

test('a place has at most 2,048 characters', () => {
  assert.equal(isPlace(`/${'a'.repeat(2_047)}`), true);
  assert.equal(isPlace(`/${'a'.repeat(2_048)}`), false);
});
