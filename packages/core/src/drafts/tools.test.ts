// Making apps by tools of the hub: from a template to an app that is looked after, by who made it alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { type Grant, limits, type MadeDraft, type MadeSource, type PageError } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { connectHub, type HubClient } from '../../../../tests/support/mcp-client.ts';
import { accept, appFiles, DRAFTS, MAKES, review } from '../../test-support/made-apps.ts';
import { draftFiles } from './account-files.ts';
import type { AppKit } from './app-kit.ts';
import { sweepPageErrors } from './page-errors.ts';

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
