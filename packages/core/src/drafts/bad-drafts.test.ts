// What an app may hand in as another app: what publishing takes, and nothing of it slows down others.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits, permissions } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import type { InstalledTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { accept, appFiles, handIn, makeApp, makerApp, review, waiting } from '../../test-support/made-apps.ts';

let world: Constellation;
let person: TestAccount;
let maker: InstalledTestApp;
before(async () => {
  world = await startConstellation();
  person = await registerAccount(world, 'careful');
  maker = await makerApp(world, person, 'helper');
});
after(() => world.close());

/** Names in the package that mean another file to some disk, some reader, or a person. */
const NAMES = [
  ...['../manifest.json', 'frontend/../../etc/passwd', '/etc/passwd', '//server/share', 'frontend//a.js', './a/./b'],
  ...['C:/windows/a.js', 'frontend/a.js:stream', 'frontend\\a.js', '~/.ssh/config', 'frontend/con.js', 'frontend/NUL'],
  ...[
    'frontend/com1.txt',
    'frontend/aux',
    'frontend/a.js.',
    'frontend/a ',
    'frontend/a*.js',
    'frontend/a|b',
    'frontend/',
  ],
  ...[
    'frontend/\u202Egpj.js',
    'frontend/a\u200B.js',
    'frontend/\uFF0E\uFF0E/a.js',
    'frontend/a\uFF0Fb.js',
    'frontend/a\u0007.js',
  ],
  ...['frontend/\u2028', 'frontend/INDEX.html', 'frontend/index.html/a.js', 'FRONTEND/index.html', 'Manifest.json'],
  ...[
    `frontend/${'a'.repeat(256)}`,
    `frontend/${'a/'.repeat(256)}b`,
    'frontend/\uFEFFa.js',
    'frontend/..',
    'manifest.json/a',
  ],
];

for (const name of NAMES) {
  test(`refused: a file named ${JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)}`, async () => {
    const answer = await handIn(maker, 'named', { ...appFiles('named'), [name]: 'x' });
    assert.equal(answer.status, 400, answer.text);
    assert.equal(problemCode(answer), 'invalid_request');
  });
}

const everything = Object.keys(permissions).map((id) => ({ id, resources: ['*'] }));

/** Manifests, as their text or as what goes over a valid one. */
const MANIFESTS: readonly (readonly [string, string | Readonly<Record<string, unknown>>])[] = [
  ['that is none', 'hello'],
  ['that is empty', ''],
  ['that is an empty object', '{}'],
  ['that is a list', '[1]'],
  ['that is null', 'null'],
  ['that names a member twice', '{"schemaVersion":9,"schemaVersion":9,"id":"odd"}'],
  ['that says private twice', '{"visibility":"private","visibility":"private"}'],
  ['with a hidden second visibility', '{"id":"odd","\\u0076isibility":"public","version":"1.0.0"}'],
  ['of another app', { id: 'another' }],
  ['of a public app', { visibility: 'public' }],
  ['of an unlisted app', { visibility: 'unlisted' }],
  ['of no visibility that there is', { visibility: 'none' }],
  ['with a role of the platform', { systemRoles: ['files.user-manager'] }],
  ['that asks for everything', { permissions: everything }],
  ['without its entry', { frontend: { entry: 'missing.html' } }],
  ['with an icon elsewhere', { icon: '../../icon.svg' }],
  ['with a version that is none', { version: '1' }],
  ['with a number as version', { version: 1 }],
  ['with a name that draws nothing', { name: '\u2800' }],
  ['with a name that runs backwards', { name: '\u202Eevil' }],
  ['with an unknown member', { trusted: true }],
  [
    'with the environment of the runtime',
    { workload: { runtime: 'node', entry: 'a.js', environment: { LD_PRELOAD: '/x' } } },
  ],
  ['of 300 KiB', { summary: 'x'.repeat(300 * 1024) }],
  ['nested deeper than any', `${'['.repeat(40_000)}${']'.repeat(40_000)}`],
];

for (const [what, manifest] of MANIFESTS) {
  test(`refused: a manifest ${what}`, async () => {
    const files =
      typeof manifest === 'string' ? { ...appFiles('odd'), 'manifest.json': manifest } : appFiles('odd', manifest);
    const answer = await handIn(maker, 'odd', files);
    assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], answer.text);
    assert.deepEqual(await waiting(person), []);
  });
}

test('refused: no files, files that are no text, and too many of them', async () => {
  const many = Object.fromEntries(Array.from({ length: limits.draftFiles.value }, (_, n) => [`frontend/${n}.js`, '']));
  const bodies: readonly unknown[] = [
    { appId: 'odd' },
    { appId: 'odd', files: {} },
    { appId: 'odd', files: [] },
    { appId: 'odd', files: { 'manifest.json': 1 } },
    { appId: 'odd', files: { 'manifest.json': { base64: 'e30=' } } },
    { appId: 'Odd', files: appFiles('odd') },
    { appId: '../odd', files: appFiles('odd') },
    { appId: 'odd', files: { ...appFiles('odd'), ...many } },
    { appId: 'odd', files: { ...appFiles('odd'), 'frontend/a.js': '\u0000' } },
    { appId: 'odd', files: { ...appFiles('odd'), 'frontend/a.js': '\uD800' } },
    { appId: 'odd', files: appFiles('odd'), version: '1.0.0' },
  ];
  for (const body of bodies) {
    const answer = await maker.call('/v1/services/apps', { body });
    assert.equal(problemCode(answer), 'invalid_request', JSON.stringify(body).slice(0, 100));
  }
});

test('refused: more than five megabytes, and as many tiny files as fit into them', async () => {
  const large = { ...appFiles('odd'), 'frontend/a.js': 'x'.repeat(limits.draftBody.value) };
  assert.equal(problemCode(await handIn(maker, 'odd', large)), 'payload_too_large');
  const tiny = Buffer.from(
    `{"appId":"odd","files":{${Array.from({ length: 450_000 }, (_, n) => `"${n.toString(36)}":""`).join(',')}}}`,
  );
  assert.ok(tiny.length < limits.draftBody.value);
  // What others ask meanwhile is answered before it: it is read in a thread.
  const order: string[] = [];
  const sent = maker
    .call('/v1/services/apps', { body: tiny, headers: { 'content-type': 'application/json' } })
    .then((answer) => {
      order.push('tiny');
      return answer;
    });
  await person.browser.take('/v1/apps');
  order.push('list');
  assert.equal(problemCode(await sent), 'invalid_request');
  assert.deepEqual(order, ['list', 'tiny']);
});

test('names in any script are kept as they are, and text with what draws nothing is given to the review as it is', async () => {
  const more = { 'frontend/пример.js': '// \u202E evil \u200D', 'frontend/植物.json': '{}', 'frontend/🌱.txt': '\r\n' };
  const draft = await makeApp(maker, 'scripts', appFiles('scripts', {}, more));
  const shown = await review(person, draft.id);
  for (const [path, text] of Object.entries(more))
    assert.equal(shown.files.find((file) => file.path === path)?.text, text, path);
  assert.equal((await accept(person, draft.id, { hash: draft.hash })).status, 200);
});

test('the same files are the same package, in whichever order they come', async () => {
  const files = appFiles('same-bytes', {}, { 'frontend/a.js': '1', 'frontend/b.js': '2' });
  const one = await makeApp(maker, 'same-bytes', files);
  const other = await makeApp(maker, 'same-bytes', Object.fromEntries(Object.entries(files).reverse()));
  assert.equal(one.hash, other.hash);
  assert.notEqual(one.id, other.id);
});

test('a version that is not the highest is refused, and so is one of before', async () => {
  const draft = await makeApp(maker, 'onward', appFiles('onward', { version: '2.0.0' }));
  await accept(person, draft.id, { hash: draft.hash });
  for (const version of ['1.9.9', '2.0.0', '2.0.0-rc.1'])
    assert.equal(
      problemCode(await handIn(maker, 'onward', appFiles('onward', { version }))),
      'version_exists',
      version,
    );
  await makeApp(maker, 'onward', appFiles('onward', { version: '2.0.1' }));
});

test('what asks for powers gets none that its person does not name', async () => {
  const asks = ['messaging.read', 'messaging.send', 'apps.create', 'runtime.pause', 'mcp.tools.call'].map((id) => ({
    id,
    resources: ['*'],
  }));
  const draft = await makeApp(maker, 'greedy', appFiles('greedy', { permissions: asks }));
  assert.equal((await accept(person, draft.id, { hash: draft.hash })).status, 200);
  const { permissions: held } = await person.browser.take<{ permissions: unknown[] }>('/v1/apps/greedy/permissions');
  assert.deepEqual(held, []);
});

test('bad acceptances: another hash, more than was asked for, what is no hash', async () => {
  const draft = await makeApp(maker, 'exact');
  const bodies: readonly (readonly [unknown, string])[] = [
    [{}, 'invalid_request'],
    [{ hash: '' }, 'invalid_request'],
    [{ hash: draft.hash.toUpperCase() }, 'invalid_request'],
    [{ hash: '0'.repeat(64) }, 'proposal_conflict'],
    [{ hash: draft.hash, permissions: [{ id: 'search.index', resources: ['self'] }] }, 'grants_exceed_request'],
    [{ hash: draft.hash, version: '2.0.0' }, 'invalid_request'],
  ];
  for (const [body, code] of bodies)
    assert.equal(problemCode(await accept(person, draft.id, body)), code, JSON.stringify(body));
  assert.equal((await accept(person, draft.id, { hash: draft.hash })).status, 200);
  assert.equal((await accept(person, draft.id, { hash: draft.hash })).status, 404);
});
