// Clients of the protocol that people have, unmodified: each is led to the shell by the refusal of /mcp, uses tools of the platform and of
// an app, and is refused once its person has ended the connection. The test plays the browser; nothing leaves this machine.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import * as readline from 'node:readline';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Connection } from '@platform/contract';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { allowInBrowser, OutsideClient } from '../support/connected-client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { type FakeBrowser, fakeBrowser } from '../support/fake-browser.ts';
import { freePort } from '../support/free-port.ts';
import { lockedPython } from '../support/locked-python.ts';
import { lockedTools } from '../support/locked-tools.ts';
import { publishTestApp } from '../support/publish.ts';
import { type RealNode, startRealNode } from '../support/real-node.ts';
import { until } from '../support/wait.ts';
import { bundleWorkload } from '../system/tools/bundle-workload.ts';

const CLIENTS = path.join(import.meta.dirname, 'mcp-clients');
const INSTALL_MS = 300_000;
const RUN_MS = 120_000;
const SCOPES = ['tools:call:platform-*', 'tools:call:notes.*'];
const TOOLS = ['notes.count', 'platform-apps.list'];

let world: Constellation;
let node: RealNode;
let ada: TestAccount;
let folder: string;
let url: string;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'mcp-clients-'));
  world = await startConstellation();
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
  ada = await registerAccount(world, 'ada');
  const workload = { runtime: 'node', entry: 'main.mjs', mcp: { path: '/mcp' }, resources: { memoryMiB: 256 } };
  const files = { 'workload/main.mjs': await bundleWorkload('notes-workload.ts'), 'frontend/index.html': '' };
  await publishTestApp(
    ada,
    'notes',
    { workload, permissions: [{ id: 'mcp.tools.serve', resources: ['self'] }] },
    files,
  );
  await ada.browser.take('/v1/apps', { body: { appId: 'notes' } });
  url = new OutsideClient(world).resource();
});
after(async () => {
  await node?.stop();
  await world?.close();
  await rm(folder, { recursive: true });
});

/** A browser of its own, and what is installed; `null` without a package registry. */
async function ready<Installed>(
  t: TestContext,
  installing: Promise<Installed>,
): Promise<{ readonly installed: Installed; readonly browser: FakeBrowser } | null> {
  const installed = await installing.catch(() => null);
  if (installed !== null) return { installed, browser: await fakeBrowser(await mkdtemp(path.join(folder, 'home-'))) };
  t.skip('needs a package registry');
  return null;
}

async function allow(browser: FakeBrowser): Promise<void> {
  const back = await allowInBrowser(world, ada, await browser.opened(), SCOPES);
  assert.ok(['127.0.0.1', 'localhost'].includes(back.hostname), back.href);
  // Some open the browser before they listen.
  await until('the client has its code', () =>
    fetch(back).then(
      async (page) => (await page.arrayBuffer()) !== undefined,
      () => false,
    ),
  );
}

async function endConnections(): Promise<readonly Connection[]> {
  const { items } = await ada.browser.take<{ items: Connection[] }>('/v1/account/connections');
  for (const { id } of items) await ada.browser.fetch(`/v1/account/connections/${id}`, { method: 'DELETE' });
  return items;
}

function includesTools(names: readonly string[]): void {
  for (const name of TOOLS) assert.ok(names.includes(name), `${name} among ${names.join(' ')}`);
}

for (const mode of ['auto', 'legacy'])
  test(`Python’s mcp, ${mode}`, { timeout: INSTALL_MS + RUN_MS }, async (t) => {
    const given = await ready(t, lockedPython(path.join(CLIENTS, 'requirements.txt')));
    if (given === null) return;
    const { installed, browser } = given;
    const program = spawn('python3', [path.join(CLIENTS, 'client.py'), url, mode], {
      env: { ...browser.environment, PYTHONPATH: installed },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.after(() => program.kill());
    const lines = readline.createInterface({ input: program.stdout })[Symbol.asyncIterator]();
    const said = async () => JSON.parse((await lines.next()).value ?? '["nothing"]') as [string, unknown];
    assert.deepEqual(await said(), ['opens', '/oauth/authorize']);
    await allow(browser);
    const [what, tools] = await said();
    assert.equal(what, 'tools');
    includesTools(tools as string[]);
    assert.deepEqual(await said(), ['apps', true]);
    assert.match(String((await said())[1]), /"calls"/);
    const [connection] = await endConnections();
    assert.deepEqual(connection?.client, { name: 'Python', host: '127.0.0.1' });
    program.stdin.end('go on\n');
    assert.deepEqual(await said(), ['opens', '/oauth/authorize'], 'it sends its person to the shell again');
    assert.equal((await browser.opened()).pathname, '/oauth/authorize');
  });

test('the Inspector, without a head', { timeout: INSTALL_MS + RUN_MS }, async (t) => {
  const given = await ready(t, lockedTools(CLIENTS));
  if (given === null) return;
  const { installed, browser } = given;
  const program = path.join(installed, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`;
  // Without a terminal it signs nobody in unless it is told to.
  const env = {
    ...browser.environment,
    ...{ MCP_OAUTH_CALLBACK_URL: callback, MCP_AUTO_OPEN_ENABLED: 'true', MCP_INSPECTOR_SECRET_STORE: 'file' },
  };
  const inspect = (...more: string[]) =>
    promisify(execFile)(
      process.execPath,
      [program, '--cli', '--server-url', url, '--transport', 'http', '--format', 'json', ...more],
      { env, timeout: RUN_MS },
    );
  const listing = inspect('--method', 'tools/list');
  await Promise.race([allow(browser), listing]);
  const { stdout } = await listing;
  includesTools([...stdout.matchAll(/"name":\s*"([\w.-]+)"/g)].map(([, name = '']) => name));
  for (const era of ['legacy', 'modern']) {
    const call = (tool: string) =>
      inspect('--stored-auth-only', '--protocol-era', era, '--method', 'tools/call', '--tool-name', tool);
    assert.match((await call('platform-apps.list')).stdout, /notes/);
    assert.match((await call('notes.count')).stdout, /calls/);
  }
  await endConnections();
  await assert.rejects(inspect('--stored-auth-only', '--method', 'tools/list'), (error: { stderr: string }) => {
    assert.match(error.stderr, /"code":\s*"auth_required"/);
    return true;
  });
});

test('mcp-remote, between a program on this computer and /mcp', { timeout: INSTALL_MS + RUN_MS }, async (t) => {
  const given = await ready(t, lockedTools(CLIENTS));
  if (given === null) return;
  const { installed, browser } = given;
  const program = path.join(installed, 'node_modules/mcp-remote/dist/proxy.js');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, url, String(await freePort()), '--host', '127.0.0.1', '--transport', 'http-only'],
    env: { ...browser.environment },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'desktop', version: '1.0.0' });
  t.after(() => client.close());
  const connecting = client.connect(transport, { timeout: RUN_MS });
  connecting.catch(() => undefined);
  await allow(browser);
  await connecting;
  includesTools((await client.listTools()).tools.map(({ name }) => name));
  const apps = await client.callTool({ name: 'platform-apps.list', arguments: {} });
  assert.match(JSON.stringify(apps.structuredContent), /notes/);
  const count = await client.callTool({ name: 'notes.count', arguments: {} });
  assert.match(JSON.stringify(count.content), /calls/);
  await endConnections();
  const refused = client.callTool({ name: 'notes.count', arguments: {} });
  refused.catch(() => undefined);
  assert.equal((await browser.opened()).pathname, '/oauth/authorize', 'it sends its person to the shell again');
});
