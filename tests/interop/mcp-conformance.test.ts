// The conformance suite of the protocol's authors against an app that serves its fixtures, through the hub: as another app uses it, and
// as a connected client does. What is expected to fail is named with its reason; anything else that fails, or passes, fails here.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import * as readline from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { allowInBrowser, connectClient, OutsideClient } from '../support/connected-client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { freePort } from '../support/free-port.ts';
import { type InstalledTestApp, installTestApp } from '../support/installed-app.ts';
import { lockedTools } from '../support/locked-tools.ts';
import { type Forwarder, type ForwarderOptions, startForwarder } from '../support/mcp-forwarder.ts';
import { publishTestApp } from '../support/publish.ts';
import { type RealNode, startRealNode } from '../support/real-node.ts';
import { bundleWorkload } from '../system/tools/bundle-workload.ts';

const SUITE = path.join(import.meta.dirname, 'mcp-conformance');
const INSTALL_MS = 180_000;
const RUN_MS = 300_000;

/** By revision: what fails, and why it does. */
const EXPECTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2026-07-28': {},
  '2025-11-25': {
    ...Object.fromEntries(
      [
        'tools-call-sampling',
        'tools-call-elicitation',
        'elicitation-sep1034-defaults',
        'elicitation-sep1330-enums',
      ].map((one) => [one, 'The hub keeps no session, in which alone a server of this revision can ask its client.']),
    ),
    'server-sse-multiple-streams': 'The hub keeps no session; without one the suite does not go on.',
    'resources-subscribe': 'No stream is held open at a backend, which would never sleep; lists are subscribed to.',
    'resources-unsubscribe': 'There is no subscription to one resource.',
  },
};

let world: Constellation;
let node: RealNode;
let ada: TestAccount;
let asker: InstalledTestApp;
let folder: string;
/** Why the suite is not there; `null` when it is. */
let missing: string | null = null;
let program: string;

before(
  async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'mcp-conformance-'));
    try {
      program = path.join(await lockedTools(SUITE), 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
    } catch {
      missing = 'needs a package registry';
      return;
    }
    world = await startConstellation();
    node = await startRealNode(world, { credential: world.core.localNode.nodeCredential });
    ada = await registerAccount(world, 'ada');
    const workload = { runtime: 'node', entry: 'main.mjs', mcp: { path: '/mcp' }, resources: { memoryMiB: 256 } };
    const main = await bundleWorkload(path.join(SUITE, 'fixture-workload.ts'));
    const permissions = [{ id: 'mcp.tools.serve', resources: ['self'] }];
    await publishTestApp(
      ada,
      'fixture',
      { workload, permissions },
      { 'workload/main.mjs': main, 'frontend/index.html': '' },
    );
    await ada.browser.take('/v1/apps', { body: { appId: 'fixture' } });
    asker = await installTestApp(world, ada, 'asker', [{ id: 'mcp.tools.call', resources: ['fixture.*'] }]);
  },
  { timeout: 2 * INSTALL_MS },
);
after(async () => {
  await node?.stop();
  await world?.close();
  await rm(folder, { recursive: true });
});

interface Way {
  readonly path: string;
  readonly open: () => Promise<ForwarderOptions>;
}

const WAYS: Readonly<Record<string, Way>> = {
  'as another app': {
    path: '/v1/services/mcp/fixture',
    async open() {
      const { capability } = await asker.openFrontend();
      return { port: world.port, host: new URL(world.origin).host, credential: capability, origin: asker.origin };
    },
  },
  'as a connected client': {
    path: '/mcp/fixture',
    async open() {
      const { tokens } = await connectClient(world, ada, { app: 'fixture', scopes: ['tools:call:fixture.*'] });
      return { port: world.port, host: `localhost:${world.port}`, credential: tokens.access_token };
    },
  },
};

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** What the suite found wrong in scenarios that it did not expect to fail, a line each. */
async function complaints(results: string, stdout: string): Promise<string> {
  const lines: string[] = [];
  const unexpected = [...stdout.matchAll(/✗ ([\w-]+)$/gm)].map(([, name]) => `server-${name}-2`);
  for (const scenario of await readdir(results)) {
    if (!unexpected.some((name) => scenario.startsWith(name))) continue;
    const checks: Check[] = JSON.parse(await readFile(path.join(results, scenario, 'checks.json'), 'utf8'));
    for (const { id, status, errorMessage } of checks)
      if (status === 'FAILURE' || status === 'WARNING') lines.push(`${scenario} ${status} ${id}: ${errorMessage}`);
  }
  return lines.join('\n');
}

/** The suite gives some answers half a second, which a busy machine may not keep; what is wrong is so each time. */
const ATTEMPTS = 3;

async function run(forwarder: Forwarder, way: Way, revision: string, attempt = 1): Promise<string> {
  const results = await mkdtemp(path.join(folder, 'results-'));
  const failures = path.join(results, '..', 'expected.yml');
  const expected = Object.keys(EXPECTED[revision] ?? {});
  await writeFile(failures, `server: [${expected.map((one) => `'${one}'`).join(', ')}]\n`);
  const given = ['server', '--url', forwarder.origin + way.path, '--requirements', revision];
  const options = ['--expected-failures', failures, '--output-dir', results];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...given, ...options], {
      ...{ cwd: folder, timeout: RUN_MS, maxBuffer: 64 * 1_024 * 1_024 },
      env: { PATH: process.env.PATH, HOME: folder },
    });
    return stdout;
  } catch (error) {
    if (attempt < ATTEMPTS) return run(forwarder, way, revision, attempt + 1);
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    // What it did, scenario by scenario, comes before.
    return assert.fail([stdout.split('=== SUMMARY ===').at(-1), stderr, await complaints(results, stdout)].join('\n'));
  }
}

for (const [name, way] of Object.entries(WAYS))
  for (const revision of Object.keys(EXPECTED))
    test(`the suite of ${revision}, ${name}`, { timeout: 2 * RUN_MS }, async (t) => {
      if (missing !== null) return t.skip(missing);
      await using forwarder = await startForwarder(await way.open());
      assert.match(await run(forwarder, way, revision), /=== SUMMARY ===/);
    });

test('the suite of authorization servers', { timeout: RUN_MS }, async (t) => {
  if (missing !== null) return t.skip(missing);
  const client = new OutsideClient(world);
  const port = await freePort();
  const { client_id: id } = await client.register({ redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  const results = await mkdtemp(path.join(folder, 'results-'));
  const given = ['--url', client.origin, '--client-id', id, '--resource', client.resource(), '--port', String(port)];
  const suite = spawn(process.execPath, [program, 'authorization', ...given, '--output-dir', results], {
    ...{ cwd: folder, env: { PATH: process.env.PATH, HOME: folder }, stdio: ['ignore', 'pipe', 'inherit'] },
  });
  t.after(() => suite.kill());
  const ended = once(suite, 'exit');
  const said: string[] = [];
  for await (const line of readline.createInterface({ input: suite.stdout })) {
    said.push(line);
    if (!line.startsWith(client.origin)) continue;
    // It asks its person to open this in the browser.
    const back = await allowInBrowser(world, ada, new URL(line), ['tools:call:platform-apps.list']);
    await (await fetch(back)).arrayBuffer();
  }
  assert.deepEqual(await ended, [0, null], said.join('\n'));
  const checks = await Promise.all(
    (await readdir(results)).map(async (one) =>
      JSON.parse(await readFile(path.join(results, one, 'checks.json'), 'utf8')),
    ),
  );
  assert.deepEqual(
    (checks.flat() as Check[]).map((check) => `${check.id} ${check.status}`).sort(),
    ['authorization-code-grant', 'authorization-server-metadata', 'authorization-server-metadata-cimd'].map(
      (one) => `${one} SUCCESS`,
    ),
    said.join('\n'),
  );
});
