// The SDK in a project outside of this repository: it installs from its package, type-checks under strict settings in
// both ways of resolving modules, completes in plain JavaScript in an editor, and leaves out of a bundle what is not used.
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { LanguageServer } from '../support/language-server.ts';
import { installPackedSdk } from '../support/packed-sdk.ts';

const MODULES = path.join(import.meta.dirname, '../../node_modules');

let project = '';
let sdk = '';
before(async () => {
  project = await realpath(await mkdtemp(path.join(tmpdir(), 'outside-')));
  await installPackedSdk(project);
  sdk = path.join(project, 'node_modules/@platform/sdk');
  // What the author of a backend installs besides.
  for (const name of [
    '@types/node',
    'undici-types',
    '@modelcontextprotocol',
    '@standard-schema',
    'eventsource',
    'eventsource-parser',
    'zod',
  ])
    await cp(path.join(MODULES, name), path.join(project, 'node_modules', name), { recursive: true });
});
after(() => rm(project, { recursive: true, force: true }));

const BACKEND = `
import { createServer } from 'node:http';
import * as officialClient from '@modelcontextprotocol/client';
import type { Client } from '@modelcontextprotocol/client';
import * as officialServer from '@modelcontextprotocol/server';
import {
  type Flow,
  Notifications,
  PlatformError,
  PlatformServicesClient,
  type PublishNotification,
  type WorkflowDefinition,
  type WorkflowRun,
} from '@platform/sdk';

const platform = PlatformServicesClient.fromEnv();
const signal = AbortSignal.timeout(60_000);
const news: PublishNotification = { topic: 'orders', title: 'Paid', priority: 'high', dedupeKey: 'order-7' };
const record = await platform.notifications.publish(news, { signal, timeoutMilliseconds: 1_000 });
const topic: string = record.topic;
// @ts-expect-error There is no such priority.
await platform.notifications.publish({ topic, title: 'Paid', priority: 'urgent' });
// @ts-expect-error A notification has a title.
await platform.notifications.publish({ topic });
for await (const { event, data, id } of platform.notifications.stream({ signal, lastEventId: '7' })) {
  if (event === 'notification') console.log(id?.length, data);
}
const unread: number = (await (await Notifications.connect()).list({ unread: true, limit: 10, signal })).items.length;
const indexed: number = await platform.search.replace([{ id: 'a', title: 'A', url: '?a', kind: 'note', text: 'b' }], { signal });
await platform.search.remove('a', { signal });
const { items: apps, nextCursor } = await platform.listApps({ limit: 1, signal });
const running: boolean | undefined = apps[0]?.running;
const accounts: number = (await platform.system({ signal })).accounts.total;
const answer: Response = await platform.intelligence('openai').request('chat/completions', { body: { model: 'm' }, signal });
const issues: Response = await platform.outbound('github').request('/issues', { method: 'POST', body: '{}', signal });
const bucket: string | undefined = platform.objectStorage()?.bucket;
const tools: Client = await platform.mcp(import('@modelcontextprotocol/client'), { app: 'notes', signal });
const noted = await tools.callTool({ name: 'add', arguments: { text: 'Milk' } });
await platform.mcp(officialClient, { chain: 'c', client: { capabilities: {} } });
// @ts-expect-error The package has no such option.
await platform.mcp(officialClient, { client: { capabilitees: {} } });
// @ts-expect-error The package is missing.
await platform.mcp();
const served = platform.tools.serve(officialServer, { name: 'shop', version: '1.0.0' }, (server, request) => {
  server.registerTool('count', { annotations: { readOnlyHint: true } }, async ({ mcpReq }) => {
    const others = await request.mcp(officialClient);
    const caller: string | null = request.caller;
    await others.close();
    return { content: [{ type: 'text', text: caller ?? String(mcpReq.id) }] };
  });
});
createServer(async (request, response) => {
  if (!(await served.handle(request, response))) response.writeHead(404).end();
});
const fetched: Response = await served.fetch(new Request('http://localhost/mcp'));
{
  await using lease = await platform.acquireWorkLease({ durationSeconds: 60, renewForSeconds: 600, signal });
  const ends: Date = await platform.renewWorkLease(lease.id, { signal });
  console.log(ends.getTime(), lease.ended.aborted);
}

interface Order {
  readonly cents: number;
}
async function order(flow: Flow, { cents }: Order) {
  const seat = await flow.activity('reserve', 'reserve', { cents }, async (input, { idempotencyKey, signal: lost, attempt }) => {
    const key: string = idempotencyKey;
    return { number: input.cents + attempt, key, late: lost.aborted };
  });
  const [receipt, mail] = await Promise.all([
    flow.activity('pay', 'charge', seat.number, (number) => \`r-\${number.toFixed()}\`, { retry: { attempts: 3, nonRetryable: ['declined'] } }),
    flow.activity('mail', 'mail', null, () => 1),
  ]);
  return { receipt, mail };
}
const result = await platform.runWorkflow(
  { definition: 'order', version: 1, input: { cents: 5 }, idempotencyKey: 'order-7', durationSeconds: 60, signal },
  order,
);
const receipt: string = result.receipt;
// @ts-expect-error The result is typed through.
const wrong: number = result.receipt;
// @ts-expect-error So is the input.
await platform.runWorkflow({ definition: 'order', version: 1, input: { euros: 5 }, idempotencyKey: 'a', durationSeconds: 60 }, order);
const definitions: WorkflowDefinition[] = [{ definition: 'order', version: 1, run: order }];
for (const { outcome } of await platform.resumeWorkflows(definitions, { signal })) console.log('error' in outcome);
const runs: WorkflowRun[] = (await platform.workflows.list({ status: 'running', definition: 'order', signal })).items;
const [first] = runs;
if (first !== undefined) {
  const events = (await platform.workflows.history(first.id, { signal })).items;
  const sequence: number | undefined = events[0]?.sequence;
  await platform.workflows.cancel(first.id, { signal });
  console.log((await platform.workflows.get(first.id)).status === 'cancelled', sequence);
}
try {
  await platform.search.clear({ signal });
} catch (error) {
  if (error instanceof PlatformError && error.code === 'rate_limited') console.log(error.retryAfter?.toFixed());
  // @ts-expect-error The codes are known.
  if (error instanceof PlatformError && error.code === 'rate_limitted') throw error;
}
export { accounts, answer, bucket, fetched, indexed, noted, issues, nextCursor, receipt, running, unread, wrong };
`;

const PAGE = `
import { App, type BridgeContext, Notifications, type PendingProposal, PlatformError, type ToolAnswer, type UsableTool, type WorkloadStatus } from '@platform/sdk/browser';

const app = await App.connect({ timeoutMilliseconds: 5_000 });
const context: BridgeContext = app.context;
const theme: 'light' | 'dark' = context.theme;
app.on('notification', ({ notification }) => console.log(notification.title));
const status: WorkloadStatus = await app.apps.start('notes');
const notes = await app.backend.json<{ id: string }[]>('/notes', { method: 'GET' }, { signal: AbortSignal.timeout(1_000) });
const first: string | undefined = notes[0]?.id;
await app.state.set({ draft: 'Milk' });
const { items } = await app.search('milk', { limit: 3 });
const opened: boolean = await app.openLink('https://example.org/');
await (await Notifications.connect()).readAll();
await app.bridge.call('chrome.set', { title: 'Notes' });
const tools: readonly UsableTool[] = (await app.bridge.call('mcp.listTools')).items;
const answered: ToolAnswer = await app.bridge.call('mcp.callTool', { name: 'notes.add', arguments: { text: 'Milk' } });
const waits: string | undefined = answered.kind === 'proposal' ? answered.proposal.expiresAt : answered.refusal?.code;
const proposal: PendingProposal = await app.bridge.call('mcp.proposeTool', { name: 'notes.add' });
// @ts-expect-error A tool has a name.
await app.bridge.call('mcp.callTool', { arguments: {} });
// @ts-expect-error There is no such method.
await app.bridge.call('chrome.reset');
export { first, items, opened, PlatformError, proposal, status, theme, tools, waits };
`;

const STRICT = {
  target: 'es2024',
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true,
};

async function check(name: string, options: object, source: string): Promise<string> {
  const folder = path.join(project, name);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'app.ts'), source);
  const config = { compilerOptions: { ...STRICT, ...options }, files: ['app.ts'] };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  const compiler = fileURLToPath(import.meta.resolve('../../node_modules/typescript/bin/tsc'));
  const run = promisify(execFile)(process.execPath, [compiler, '--project', folder, '--pretty', 'false'], {
    cwd: project,
  });
  return (await run.catch((error: { stdout: string }) => error)).stdout;
}

const RESOLUTIONS = [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'preserve', moduleResolution: 'bundler' },
];
for (const resolution of RESOLUTIONS) {
  const mode = resolution.moduleResolution;
  test(`a backend type-checks, strictly, by ${mode}`, async () => {
    const options = { ...resolution, lib: ['es2024', 'esnext.disposable'], types: ['node'] };
    assert.equal(await check(`backend-${mode}`, options, BACKEND), '');
  });

  test(`a page type-checks, strictly, by ${mode}`, async () => {
    const options = { ...resolution, lib: ['es2024', 'dom', 'dom.iterable'], types: [] };
    assert.equal(await check(`page-${mode}`, options, PAGE), '');
  });
}

/** Examples name the package. */
const COMMENTS = /\/\*\*.*?\*\//gs;

test('the package needs no other one, imports none, and runs no script', async () => {
  const manifest = JSON.parse(await readFile(path.join(sdk, 'package.json'), 'utf8'));
  for (const member of ['dependencies', 'optionalDependencies', 'scripts'])
    assert.equal(manifest[member], undefined, member);
  // Whoever wants tools gives them to the SDK.
  const peers = Object.keys(manifest.peerDependencies);
  assert.deepEqual(peers, ['@modelcontextprotocol/client', '@modelcontextprotocol/server']);
  for (const name of peers) assert.deepEqual(manifest.peerDependenciesMeta[name], { optional: true });
  assert.equal(manifest.sideEffects, false);
  const files = await readdir(sdk, { recursive: true });
  for (const file of files.filter((name) => /\.(?:js|d\.ts)$/.test(name))) {
    const text = (await readFile(path.join(sdk, file), 'utf8')).replaceAll(COMMENTS, '');
    const foreign = [...text.matchAll(/\b(?:from|import)\s*\(?['"](?!\.\/)([^'"]+)/g)].map(([, name]) => name);
    assert.deepEqual(foreign, [], file);
  }
});

async function bundled(code: string): Promise<string> {
  const input = path.join(project, 'bundled.js');
  await writeFile(input, code);
  const build = await rolldown({ input });
  const { output } = await build.generate({ minify: true });
  await build.close();
  return output[0].code;
}

test('a bundle holds what is used', async () => {
  const whole = await bundled("export * from '@platform/sdk';");
  const only = await bundled("export { PlatformError } from '@platform/sdk';");
  assert.ok(only.length < whole.length / 10, `${only.length} of ${whole.length} bytes`);
  assert.equal((await bundled("import '@platform/sdk'; import '@platform/sdk/browser';")).trim(), '');
});

const BACKEND_IN_JS = `
import { PlatformServicesClient } from '@platform/sdk';
const platform = PlatformServicesClient.fromEnv();
`;
const PAGE_IN_JS = `
import { App } from '@platform/sdk/browser';
const app = await App.connect();
`;

for (const config of [null, { compilerOptions: { checkJs: false } }]) {
  const which = config === null ? 'without a configuration' : 'with "checkJs": false';
  test(`the language server of an editor completes members and values in plain JavaScript, ${which}`, async (t) => {
    const folder = path.join(project, config === null ? 'plain' : 'configured');
    await mkdir(folder, { recursive: true });
    if (config !== null) await writeFile(path.join(folder, 'jsconfig.json'), JSON.stringify(config));
    const editor = await LanguageServer.open(folder);
    t.after(() => editor.close());
    const proposes = async (name: string, text: string, expected: readonly string[]) => {
      const file = path.join(folder, `${name}.js`);
      await writeFile(file, text.replace('|', ''));
      const proposed = await editor.completions(file, text);
      for (const one of expected) assert.ok(proposed.includes(one), `${one} of ${proposed}`);
    };
    const services = ['runWorkflow', 'notifications', 'search', 'outbound', 'acquireWorkLease'];
    await proposes('members', `${BACKEND_IN_JS}platform.|`, services);
    const fields = ['body', 'priority', 'presentation', 'delivery', 'dedupeKey'];
    await proposes('fields', `${BACKEND_IN_JS}platform.notifications.publish({ topic: 'a', title: 'b', | });`, fields);
    const priorities = ['low', 'normal', 'high', 'critical'];
    await proposes(
      'values',
      `${BACKEND_IN_JS}platform.notifications.publish({ topic: 'a', priority: '|' });`,
      priorities,
    );
    const parts = ['backend', 'context', 'notifications', 'openLink', 'state'];
    await proposes('page', `${PAGE_IN_JS}app.|`, parts);
    await proposes('context', `${PAGE_IN_JS}app.context.|`, ['theme', 'appId']);
  });
}
