// Making apps by tools of the hub: from a template to an app that is looked after, by who made it alone.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { type Grant, limits, type MadeDraft, type MadeSource, type PageError } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { connectHub, type HubClient } from '../../../../tests/support/mcp-client.ts';
import { until } from '../../../../tests/support/wait.ts';
import { accept, appFiles, DRAFTS, MAKES, review } from '../../test-support/made-apps.ts';
import { findAppVersion, packageFile } from '../catalog/face.ts';
import { draftFiles } from './account-files.ts';
import type { AppKit } from './app-kit.ts';
import { fitting, sweepPageErrors } from './page-errors.ts';

const TOOLS = ['change', 'create', 'errors', 'log', 'source', 'templates'].map((one) => `platform-apps.${one}`);
const CALLS: Grant = { id: 'mcp.tools.call', resources: ['platform-apps.*'] };
const SDK = 'export const App = {};\n';
const PAGE =
  '<!doctype html><title>p</title><script src="platform-errors.js"></script><script type="module" src="a.js"></script>';
const KIT: AppKit = {
  templates: [{ kind: 'frontend', about: 'A page.', files: appFiles('my-app', {}, { 'frontend/index.html': PAGE }) }],
  added: {
    'frontend/platform-sdk.js': SDK,
    'frontend/platform-errors.js': '// errors\n',
    'workload/platform-sdk.mjs': SDK,
  },
};

let world: Constellation;
let ada: TestAccount;
let maker: InstalledTestApp;
let hub: HubClient;
let ahead = 0;
before(async () => {
  world = await startConstellation({ appKit: KIT, clock: () => new Date(Date.now() + ahead) });
  ada = await registerAccount(world, 'ada');
  maker = await installTestApp(world, ada, 'maker', [CALLS, MAKES]);
  hub = await connectHub(world, maker.credential);
});
after(async () => {
  await hub?.[Symbol.asyncDispose]();
  await world?.close();
});

async function call<Answer>(tool: string, given: object, client: Client = hub.client): Promise<Answer> {
  const result = (await client.callTool({ name: `platform-apps.${tool}`, arguments: { ...given } })) as CallToolResult;
  assert.notEqual(result.isError, true, JSON.stringify(result.content));
  return result.structuredContent as Answer;
}

async function refusal(tool: string, given: object, client: Client = hub.client): Promise<string> {
  const result = (await client.callTool({ name: `platform-apps.${tool}`, arguments: { ...given } })) as CallToolResult;
  const [content] = result.content;
  assert.ok(result.isError === true && content?.type === 'text', JSON.stringify(result));
  return content.text;
}

async function make(tool: 'create' | 'change', given: object): Promise<MadeDraft> {
  return (await call<{ draft: MadeDraft }>(tool, given)).draft;
}

async function accepted(draft: MadeDraft): Promise<void> {
  const answer = await accept(ada, draft.id, { hash: draft.hash });
  assert.equal(answer.status, 200, answer.text);
}

const errorsOf = async (appId: string) => (await call<{ errors: PageError[] }>('errors', { appId })).errors;
const report = (appId: string, error: object) =>
  ada.browser.take<{ kept: boolean }>(`/v1/apps/${appId}/page-errors`, {
    body: { message: 'x is not a function', file: '/a.js', line: 3, column: 7, stack: null, ...error },
  });
const manifestOf = (appId: string, version: string, more: object = {}) =>
  appFiles(appId, { version, ...more })['manifest.json'];

test('only who may make apps and call these tools has them', async () => {
  const listed = async (client: Client) =>
    (await client.listTools()).tools.map(({ name }) => name).filter((name) => TOOLS.includes(name));
  assert.deepEqual(await listed(hub.client), TOOLS);
  const others: readonly (readonly [string, Grant[]])[] = [
    ['caller-alone', [{ id: 'mcp.tools.call', resources: ['platform-*'] }]],
    ['maker-alone', [MAKES, { id: 'mcp.tools.call', resources: ['notes.*'] }]],
  ];
  for (const [id, grants] of others) {
    const app = await installTestApp(world, ada, id, grants);
    await using other = await connectHub(world, app.credential);
    assert.deepEqual(await listed(other.client), [], id);
  }
});

test('an app begins with a template, and gets what it names of the platform', async () => {
  const { templates } = await call<Pick<AppKit, 'templates'>>('templates', {});
  assert.deepEqual(templates, KIT.templates);
  const files = {
    ...templates[0]?.files,
    'manifest.json': manifestOf('plants', '1.0.0'),
    'frontend/a.js': "import './platform-sdk.js';",
  };
  const draft = await make('create', { appId: 'plants', files });
  const shown = await review(ada, draft.id);
  assert.deepEqual(
    shown.files.map(({ path, ofPlatform }) => [path, ofPlatform]),
    [
      ['manifest.json', false],
      ['frontend/a.js', false],
      ['frontend/index.html', false],
      ['frontend/platform-errors.js', true],
      ['frontend/platform-sdk.js', true],
    ],
  );
  const source = await call<MadeSource>('source', { appId: 'plants' });
  assert.deepEqual([source.state, source.version], ['waiting', '1.0.0']);
  assert.deepEqual(
    source.files.map(({ path }) => path),
    ['manifest.json', 'frontend/a.js', 'frontend/index.html'],
  );
  await accepted(draft);
  assert.equal((await call<MadeSource>('source', { appId: 'plants' })).state, 'accepted');
});

test('what only looks like a file of the platform is shown as what it is', async () => {
  const files = { ...appFiles('posing'), 'frontend/platform-sdk.js': `${SDK}evil();\n` };
  const { id } = await make('create', { appId: 'posing', files });
  const [posing] = (await review(ada, id)).files.filter(({ path }) => path === 'frontend/platform-sdk.js');
  assert.deepEqual([posing?.ofPlatform, posing?.text], [false, `${SDK}evil();\n`]);
});

test('an app is mended by what its pages report, in a version that its person sees as a difference', async () => {
  const files = appFiles('mended', {}, { 'frontend/a.js': 'x.y();\n' });
  await accepted(await make('create', { appId: 'mended', files }));
  const first = (await call<MadeSource>('source', { appId: 'mended' })).version;
  assert.deepEqual(await errorsOf('mended'), []);
  assert.deepEqual(await report('mended', {}), { kept: true });
  assert.deepEqual(await report('mended', {}), { kept: true });
  await report('mended', { message: 'another', line: null, column: null });
  const items = await errorsOf('mended');
  assert.deepEqual(
    items.map(({ message, times, version, file, line }) => [message, times, version, file, line]),
    [
      ['another', 1, first, '/a.js', null],
      ['x is not a function', 2, first, '/a.js', 3],
    ],
  );
  const { rows } = await world.core.context.pool.query("SELECT key FROM accounts WHERE name = 'ada'");
  const exported = await Array.fromAsync(draftFiles(world.core.context, rows[0].key));
  const content = exported.find(({ path }) => path === 'made-apps.json')?.content;
  assert.deepEqual(
    JSON.parse(String(content)).errors.map(({ appId, message }: Record<string, unknown>) => [appId, message]),
    [
      ['mended', 'another'],
      ['mended', 'x is not a function'],
    ],
  );
  const changed = { 'frontend/a.js': 'y();\n', 'frontend/new.js': '' };
  assert.match(
    await refusal('change', { appId: 'mended', files: changed }),
    /^version_exists: Version 1\.0\.0 of mended was already published\. Raise the version\.$/,
  );
  const draft = await make('change', {
    appId: 'mended',
    files: { ...changed, 'manifest.json': manifestOf('mended', '1.0.1') },
  });
  const shown = await review(ada, draft.id);
  assert.equal(shown.former?.version, '1.0.0');
  assert.equal(shown.files.find(({ path }) => path === 'frontend/index.html')?.text, files['frontend/index.html']);
  // One that waits is gone on with, and keeps its number.
  const next = await make('change', { appId: 'mended', files: { 'frontend/new.js': null } });
  assert.equal((await ada.fetch(`${DRAFTS}/${draft.id}`)).status, 404);
  assert.deepEqual(
    (await review(ada, next.id)).files.map(({ path }) => path),
    ['manifest.json', 'frontend/a.js', 'frontend/index.html'],
  );
  await accepted(next);
});

test('errors of before are kept as long as promised, and the last ones alone', async () => {
  await accepted(await make('create', { appId: 'noisy', files: appFiles('noisy') }));
  for (let n = 0; n < limits.pageErrors.value + 5; n += 1) await report('noisy', { message: `error ${n}` });
  const errors = () => errorsOf('noisy');
  assert.equal((await errors()).length, limits.pageErrors.value);
  assert.equal((await errors())[0]?.message, `error ${limits.pageErrors.value + 4}`);
  ahead = limits.pageErrorHours.value * 3_600_000 + 1_000;
  assert.deepEqual(await errors(), []);
  const { context } = world.core;
  const sweep = () => sweepPageErrors(context, context.clock() as Parameters<typeof sweepPageErrors>[1]);
  assert.equal(await sweep(), false);
  const { rowCount } = await context.pool.query('SELECT FROM app_page_errors');
  ahead = 0;
  assert.equal(rowCount, 0);
});

test('errors of an app, and of all apps of an account, take no more than they may, and the oldest give way', async () => {
  const { pageErrorsSize: ofApp, pageErrorsAccountSize: ofAccount } = limits;
  const bytes = async (appId: string | null) => {
    const { rows } = await world.core.context.pool.query<{ bytes: number }>(
      `SELECT coalesce(sum(octet_length(report)), 0)::integer AS bytes
         FROM app_page_errors e JOIN installations i ON i.id = e.installation_id WHERE $1::text IS NULL OR i.app_id = $1`,
      [appId],
    );
    return rows[0]?.bytes ?? 0;
  };
  const stack = '✗'.repeat(4_000);
  const stackBytes = Buffer.byteLength(stack);
  const perApp = Math.ceil(ofApp.value / stackBytes) + 2;
  const apps = Array.from({ length: Math.ceil(ofAccount.value / ofApp.value) + 1 }, (_, index) => `flood-${index}`);
  for (const appId of apps) {
    await accepted(await make('create', { appId, files: appFiles(appId) }));
    for (let n = 0; n < perApp; n += 1) await report(appId, { message: `error ${n}`, stack });
    const taken = await bytes(appId);
    assert.ok(taken <= ofApp.value && taken > ofApp.value - 2 * stackBytes, String(taken));
  }
  const all = await bytes(null);
  assert.ok(all <= ofAccount.value && all > ofAccount.value - 2 * stackBytes, String(all));
  const [oldest, newest] = [await bytes(apps[0] ?? ''), await bytes(apps.at(-1) ?? '')];
  assert.ok(oldest < newest - stackBytes, `the oldest give way, of whichever app: ${oldest} of ${newest}`);
  assert.equal((await errorsOf(apps.at(-1) ?? ''))[0]?.message, `error ${perApp - 1}`);
});

test('a package that is deleted between its look-up and its reading is refused in words, and a review goes on without it', async () => {
  await accepted(await make('create', { appId: 'fleeting', files: appFiles('fleeting') }));
  const { context } = world.core;
  const next = await make('create', {
    appId: 'fleeting',
    files: { ...appFiles('fleeting'), 'manifest.json': manifestOf('fleeting', '1.0.1') },
  });
  const { packageHash } = (await findAppVersion(context.database, 'fleeting')) ?? assert.fail();
  await rm(packageFile(context, packageHash));
  assert.equal((await review(ada, next.id)).former, null);
  assert.equal((await ada.fetch(`${DRAFTS}/${next.id}/decline`, { method: 'POST' })).status, 204);
  assert.match(await refusal('source', { appId: 'fleeting' }), /was just deleted/);
});

test('what a clock that was ahead left hides no other error', async () => {
  await accepted(await make('create', { appId: 'ahead', files: appFiles('ahead') }));
  ahead = 600_000;
  for (let n = 0; n < limits.pageErrors.value; n += 1) await report('ahead', { message: `then ${n}` });
  ahead = 0;
  await report('ahead', { message: 'now' });
  const messages = (await errorsOf('ahead')).map(({ message }) => message);
  assert.ok(messages.includes('now'), messages.join());
});

test('a line that is too long for an answer hides none of the others', () => {
  const long = 'x'.repeat(limits.madeAppText.value);
  assert.deepEqual(fitting(['newest', long, 'older']), ['newest', 'older']);
  const half = long.slice(0, -100);
  assert.deepEqual(fitting([half, half, 'older']), [half]);
});

test('what its owner published under the number of a made version says nothing to who made that', async () => {
  await accepted(await make('create', { appId: 'replaced', files: appFiles('replaced') }));
  assert.deepEqual(await report('replaced', {}), { kept: true });
  const { pool } = world.core.context;
  await pool.query("UPDATE made_versions SET hash = repeat('0', 64) WHERE app_id = 'replaced'");
  assert.deepEqual(await report('replaced', { message: 'of another package' }), { kept: false });
});

test('an error that is reported while the app changes is judged by what is there then', async () => {
  await accepted(await make('create', { appId: 'changing', files: appFiles('changing') }));
  const { pool } = world.core.context;
  const other = await pool.connect();
  await other.query('BEGIN');
  await other.query("SELECT FROM installations WHERE app_id = 'changing' FOR UPDATE");
  const reporting = report('changing', {});
  await until('the report to wait', async () => {
    const { rowCount } = await pool.query('SELECT FROM pg_locks WHERE NOT granted');
    return (rowCount ?? 0) > 0;
  });
  await other.query("DELETE FROM made_versions WHERE app_id = 'changing'");
  await other.query('COMMIT');
  other.release();
  assert.deepEqual(await reporting, { kept: false });
});

test('an answer holds so much text, and says how to go on', async () => {
  const most = limits.madeAppText.value;
  const long = `${'🌱'.repeat(most / 2 + 10)}end`;
  await make('create', {
    appId: 'long',
    files: { ...appFiles('long'), 'frontend/a.txt': long, 'frontend/b.txt': 'short' },
  });
  const { files } = await call<MadeSource>('source', { appId: 'long' });
  assert.deepEqual(
    files.map(({ path, text, next }) => [path, text === null, next]),
    [
      ['manifest.json', false, null],
      ['frontend/a.txt', true, 0],
      ['frontend/b.txt', false, null],
      ['frontend/index.html', false, null],
    ],
  );
  let read = '';
  for (let offset: number | null = 0; offset !== null; ) {
    const { files: parts }: MadeSource = await call('source', { appId: 'long', path: 'frontend/a.txt', offset });
    assert.ok((parts[0]?.text?.length ?? 0) <= most);
    read += parts[0]?.text;
    offset = parts[0]?.next ?? null;
  }
  assert.equal(read, long);
});

test('a refusal says what is wrong with which file, each of it', async () => {
  const broken = {
    ...appFiles('broken'),
    'manifest.json': '{\n  "id": "broken",\n  "version": "1.0.0"\n  "name": "Broken app"\n}\n',
  };
  assert.match(
    await refusal('create', { appId: 'broken', files: broken }),
    /^invalid_request: manifest\.json is not valid JSON in UTF-8: see line 4, column 3\.$/,
  );
  const two = appFiles('broken', { frontend: { entry: 'none.html' }, icon: 'none.svg' });
  const text = await refusal('create', { appId: 'broken', files: two });
  assert.match(text, /\n- frontend\.entry: names "none\.html", which is not in frontend\/ of the package/);
  assert.match(text, /\n- icon: names "none\.svg"/);
  const large = { ...appFiles('broken'), 'frontend/a.js': 'x'.repeat(limits.toolArguments.value) };
  assert.match(await refusal('create', { appId: 'broken', files: large }), /^payload_too_large: .*256 KiB/);
  assert.match(
    await refusal('change', { appId: 'nothing', files: {} }),
    /^not_found: You made no app with the id nothing/,
  );
  assert.match(
    await refusal('source', { appId: 'plants', path: 'frontend/none.js' }),
    /^not_found: plants has no such file\. It has manifest\.json, frontend\/a\.js, frontend\/index\.html\.$/,
  );
});

test('as much as a call may hold is handed in, and more with the next one', async () => {
  const most = limits.toolArguments.value - 2_000;
  await make('create', { appId: 'wide', files: { ...appFiles('wide'), 'frontend/a.js': 'x'.repeat(most) } });
  const draft = await make('change', { appId: 'wide', files: { 'frontend/b.js': 'y'.repeat(most) } });
  const sizes = (await review(ada, draft.id)).files.map(({ bytes }) => bytes).filter((bytes) => bytes === most);
  assert.equal(sizes.length, 2);
});
