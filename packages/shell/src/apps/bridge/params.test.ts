// Parameters of bridge methods: what the readers let through and what they name as wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as contract from '@platform/contract';
import {
  appIdText,
  cursorText,
  linkText,
  oneOf,
  optional,
  queryText,
  readParams,
  targetText,
  titleText,
  topicText,
  truth,
  versionText,
  wholeNumber,
} from './params.ts';

const shape = { appId: appIdText, target: optional(targetText) };

test('named members are read, absent optional ones stay absent', () => {
  assert.deepEqual(readParams(shape, { appId: 'notes' }), { appId: 'notes' });
  assert.deepEqual(readParams(shape, { appId: 'notes', target: undefined }), { appId: 'notes' });
});

test('a method without parameters takes nothing, and an empty object', () => {
  assert.deepEqual(readParams({}, undefined), {});
  assert.deepEqual(readParams({}, null), {});
  assert.deepEqual(readParams({}, {}), {});
});

for (const [name, value, message] of [
  ['an unknown member', { appId: 'notes', extra: 1 }, /unknown member `extra`/],
  ['a missing member', {}, /`appId` must be an app id/],
  ['a list', [], /must be an object/],
  ['a text', 'notes', /must be an object/],
  ['a number for a text', { appId: 7 }, /`appId`/],
  ['an inherited name', { appId: 'notes', constructor: 1 }, /unknown member `constructor`/],
] as const) {
  test(`${name} is an invalid request that says so`, () => {
    assert.throws(() => readParams(shape, value), { code: 'invalid_request', message });
  });
}

test('members come from the object itself, never from its prototype', () => {
  const polluted = Object.create(null) as Record<string, unknown>;
  assert.throws(() => readParams({ toString: appIdText }, polluted), { code: 'invalid_request' });
});

for (const target of ['?', '?note=1', '?q=a%20b&c=/d', `?${'x'.repeat(511)}`]) {
  test(`the target ${target.slice(0, 20)} is accepted`, () => {
    assert.deepEqual(readParams({ target: targetText }, { target }), { target });
  });
}

for (const target of [
  '',
  '/path',
  'note=1',
  '?a#b',
  '?a b',
  '?a\\b',
  '//evil',
  'https://evil/',
  `?${'x'.repeat(512)}`,
  '?<b>',
]) {
  test(`the target "${target.slice(0, 20)}" is refused`, () => {
    assert.throws(() => readParams({ target: targetText }, { target }), { code: 'invalid_request' });
  });
}

test('numbers, truths and choices are held to their ranges', () => {
  const limit = wholeNumber(1, 200);
  assert.equal(limit(200, 'limit'), 200);
  for (const wrong of [0, 201, 1.5, '5', Number.NaN, null]) assert.throws(() => limit(wrong, 'limit'));
  assert.throws(() => truth()('true', 'unread'));
  assert.throws(() => oneOf(['installed', 'catalog'])('all', 'scope'), { message: /installed, catalog/ });
});

test('titles cannot hold control characters or turn the reading direction', () => {
  for (const wrong of ['a\nb', 'a\u0000', '\u202Eevil', 'x'.repeat(61)]) assert.throws(() => titleText(wrong, 'title'));
  assert.equal(titleText('Übersicht 2026', 'title'), 'Übersicht 2026');
});

/** The readers repeat patterns of the contract, whose schemas the page cannot carry: both must agree. */
const twins: readonly (readonly [
  string,
  (value: unknown, name: string) => unknown,
  { safeParse(value: unknown): { success: boolean } },
  readonly string[],
])[] = [
  [
    'app ids',
    appIdText,
    contract.appId,
    ['abc', 'a-b-c', 'ab', 'a--b', '-ab', 'ab-', 'Abc', 'x'.repeat(40), 'x'.repeat(41), 'ä-b', ''],
  ],
  [
    'topics',
    topicText,
    contract.notificationTopic,
    ['notes', 'a.b_c-d', 'A', '', 'x'.repeat(64), 'x'.repeat(65), 'a b', '*'],
  ],
  [
    'versions',
    versionText,
    contract.version,
    ['1.0.0', '1.0.0+7a37a364f45e', '1.0.0-rc.1', '1.0', 'v1.0.0', '1.0.0 ', ''],
  ],
];

for (const [name, read, schema, samples] of twins) {
  test(`${name} are what the contract says they are`, () => {
    for (const sample of samples) {
      const accepted = (() => {
        try {
          read(sample, 'value');
          return true;
        } catch {
          return false;
        }
      })();
      assert.equal(accepted, schema.safeParse(sample).success, `"${sample}"`);
    }
  });
}

test('a link is an https address, given as browsers write it', () => {
  const read = (value: unknown) => linkText(value, 'url');
  assert.equal(read('https://EXAMPLE.org'), 'https://example.org/');
  assert.equal(read('https://\u0430pple.com/\u202Egpj'), 'https://xn--pple-43d.com/%E2%80%AEgpj');
  assert.equal(read(`https://a.example/${'x'.repeat(2_030)}`).length, 2_048);
  for (const wrong of [
    'http://example.org/',
    'javascript:alert(1)',
    'data:text/html,x',
    'blob:https://example.org/1',
    'mailto:ada@example.org',
    'https://ada@example.org/',
    'https://accounts.example.org:pass@evil.example/',
    'https://',
    '/page',
    '//example.org/',
    `https://a.example/${'x'.repeat(2_031)}`,
    `https://a.example/${'\u00e4'.repeat(400)}`,
    { toString: () => 'https://example.org/' },
    null,
  ])
    assert.throws(() => read(wrong), { code: 'invalid_request' }, String(wrong));
});

test('a search has words, a cursor only the letters of one', () => {
  assert.equal(queryText('東京', 'q'), '東京');
  for (const wrong of ['', '   ', 'a\nb', 'x'.repeat(201)]) assert.throws(() => queryText(wrong, 'q'));
  for (const wrong of ['', 'a b', 'a/b', 'x'.repeat(513)]) assert.throws(() => cursorText(wrong, 'cursor'));
});
