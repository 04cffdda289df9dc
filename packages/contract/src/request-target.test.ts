// The path vectors, judged by the answer a small file server built on these functions would give.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { checkRequestTarget, normaliseStaticPath } from './request-target.ts';

interface PathCase {
  readonly name: string;
  readonly target: string;
  readonly expected: 'never-outside' | 'reject' | 'serves';
  readonly serves?: string;
}

const vectors: { readonly cases: readonly PathCase[] } = JSON.parse(
  await readFile(new URL('../test-vectors/paths.json', import.meta.url), 'utf8'),
);
const SENTINEL = 'bytes that must never leave';
let outside = '';

before(async () => {
  outside = await mkdtemp(join(tmpdir(), 'request-target-'));
  const root = join(outside, 'root');
  const app = join(root, 'app');
  await mkdir(join(app, 'x'), { recursive: true });
  await mkdir(join(root, 'app2'));
  await mkdir(join(app, '.git'));
  await Promise.all([
    writeFile(join(outside, 'sentinel.txt'), SENTINEL),
    writeFile(join(root, 'app2', 'private.txt'), SENTINEL),
    writeFile(join(app, '.npmrc'), SENTINEL),
    writeFile(join(app, '.git', 'config'), SENTINEL),
    ...vectors.cases
      .filter((item) => item.serves !== undefined)
      .map((item) => writeFile(join(app, item.serves ?? ''), `content of ${item.serves}`)),
  ]);
});

after(() => rm(outside, { recursive: true, force: true }));

/** Serves the folder `app` under `/app/`, as an app host serves one package. */
async function serve(target: string): Promise<{ status: number; body: string }> {
  const path = target.split('?', 1)[0] ?? '';
  if (!path.startsWith('/app/')) return { status: 404, body: '' };
  const segments = normaliseStaticPath(path.slice('/app'.length));
  if (segments === null) return { status: 400, body: '' };
  try {
    return { status: 200, body: await readFile(join(outside, 'root', 'app', ...segments), 'utf8') };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    assert.ok(code === 'ENOENT' || code === 'EISDIR' || code === 'ENAMETOOLONG' || code === 'ENOTDIR', String(error));
    return { status: 404, body: '' };
  }
}

for (const item of vectors.cases) {
  test(`a static path keeps its promise: ${item.name} is ${item.expected}`, async () => {
    const answer = await serve(item.target);
    assert.ok(!answer.body.includes(SENTINEL));
    if (item.expected === 'reject') assert.notEqual(answer.status, 200);
    if (item.expected === 'serves') {
      assert.deepEqual(answer, { status: 200, body: `content of ${item.serves}` });
    }
  });
}

/** What the API may still see of each class: whatever passes holds no separator or dot segment once decoded. */
for (const item of vectors.cases) {
  test(`an accepted API path cannot climb: ${item.name}`, () => {
    const target = checkRequestTarget(item.target);
    if (!target.ok) return;
    assert.equal(target.path + target.query, item.target);
    const decoded = decodeURIComponent(target.path);
    assert.equal(decoded.split('/').length, target.path.split('/').length);
    assert.ok(!decoded.split('/').some((segment) => segment === '.' || segment === '..'));
    assert.doesNotMatch(decoded, /[\u0000-\u001f\u007f\\]/);
  });
}

const REFUSED_CLASSES = new Set(['encoded-slash', 'overlong-utf8', 'bad-percent', 'nul', 'control']);
test('encoded slashes, broken encoding, NUL and control bytes are refused on the API', () => {
  for (const item of vectors.cases) {
    const kind = item.name.replace(/-\d+$/, '');
    if (REFUSED_CLASSES.has(kind)) assert.equal(checkRequestTarget(item.target).ok, false, item.target);
  }
});

for (const target of [
  '*',
  '',
  'v1/services/x',
  'http://127.0.0.1/v1',
  '/a\\b',
  '/a%5Cb',
  '/a#b',
  '/a/.',
  '/a/..',
  '/./a',
  '/%2e/a',
  '/%2E%2e/a',
  '/.%2e/a',
  '/a b',
  '/caf\u00e9',
  '/a?x=\u0000',
  '/a?x=\u00e9',
]) {
  test(`the API refuses ${JSON.stringify(target)}`, () => {
    assert.deepEqual(checkRequestTarget(target), { ok: false });
  });
}

for (const [target, path, query] of [
  ['/', '/', ''],
  ['/v1/services/notifications', '/v1/services/notifications', ''],
  ['/v1/search?q=a%2Fb#c&d=../..', '/v1/search', '?q=a%2Fb#c&d=../..'],
  ['/a?', '/a', '?'],
  ['//evil.example/x', '//evil.example/x', ''],
  ['/.well-known/x', '/.well-known/x', ''],
  ['/a..b/...', '/a..b/...', ''],
  ['/caf%C3%A9/%E6%97%A5', '/caf%C3%A9/%E6%97%A5', ''],
  ['/a%252e%252e', '/a%252e%252e', ''],
] as const) {
  test(`the API accepts ${JSON.stringify(target)} unchanged`, () => {
    assert.deepEqual(checkRequestTarget(target), { ok: true, path, query });
  });
}

for (const [path, expected] of [
  ['/', []],
  ['/index.html', ['index.html']],
  ['/x/', ['x']],
  ['/x/./y.txt', ['x', 'y.txt']],
  ['/x/../index.html', ['index.html']],
  ['/x/..', []],
  ['/.well-known/security.txt', ['.well-known', 'security.txt']],
  ['/x/.well-known/security.txt', null],
  ['/x/%2e/y.txt', null],
  ['/x//y.txt', null],
  ['/..', null],
  ['/x/../../y', null],
  ['/.env', null],
  ['/%2eenv', null],
  ['relative', null],
] as const) {
  test(`a static path ${path} resolves to ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(normaliseStaticPath(path), expected);
  });
}

test('a long hostile path is judged in linear time', () => {
  const long = `/${'a%25/'.repeat(200_000)}`;
  assert.equal(checkRequestTarget(long).ok, true);
  assert.equal(checkRequestTarget(`/${'a'.repeat(1_000_000)}\\`).ok, false);
  assert.equal(checkRequestTarget(`${'/a'.repeat(500_000)}/.`).ok, false);
});
