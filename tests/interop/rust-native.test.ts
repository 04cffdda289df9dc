// A native client in Rust, and Python's own HTTP client as docs/app-authors.md shows it, of a real backend through a real node,
// with what a launch gives. The node has a name below `localhost`, as on a laptop, and the clients have no resolver that knows it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { LaunchDescriptor } from '@platform/contract';
import { buildSdk } from '@platform/sdk/build';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { documentedBlock } from '../support/documented.ts';
import { freePort } from '../support/free-port.ts';
import { NATIVE_ENGINE } from '../support/native-engine.ts';
import { type Line, resolverUnavoidable, withoutResolver } from '../support/no-resolver.ts';
import { publishTestApp } from '../support/publish.ts';
import { type RealNode, startRealNode } from '../support/real-node.ts';
import { buildRustPrograms } from '../support/rust.ts';
import { until } from '../support/wait.ts';

const CLIENT_MS = 60_000;

/** Before the first test, whose limit does not fit a first build. */
const rust = await buildRustPrograms();
let world: Constellation;
let node: RealNode;
let account: TestAccount;

before(async () => {
  const port = await freePort();
  world = await startConstellation({ config: { nodeOrigin: `http://node.platform.localhost:${port}` } });
  node = await startRealNode(world, { credential: world.core.localNode.nodeCredential, listenPort: port });
  account = await registerAccount(world, 'maker');
  const files = { 'workload/main.mjs': NATIVE_ENGINE, 'workload/sdk.js': await readFile((await buildSdk()).workload) };
  const manifest = { frontend: undefined, workload: { runtime: 'node', entry: 'main.mjs' } };
  await publishTestApp(account, 'engine', manifest, files);
  await account.browser.take('/v1/apps', { body: { appId: 'engine' } });
});
after(async () => {
  await node?.stop();
  await world?.close();
});

async function launch() {
  const { backend } = await account.browser.take<LaunchDescriptor>('/v1/apps/engine/launch', { body: {} });
  return backend ?? assert.fail();
}

const resolves = resolverUnavoidable();
const walled = (program: string, args: readonly string[]): Line =>
  resolves === false ? withoutResolver(program, args) : { program, args };

/** Starts the client with the line that a person hands over. */
function start(client: string, clientArgs: readonly string[], line: string) {
  const { program, args } = walled(client, clientArgs);
  const child = spawn(program, args, { timeout: CLIENT_MS });
  child.stdin.end(line);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  const errors = text(child.stderr);
  return { output: () => output, ended: once(child, 'close').then(() => errors) };
}

test('a client in Rust asks the backend, and is refused with a capability that has ended', async (t) => {
  if (rust.missing !== null) return t.skip(rust.missing);
  const { endpointTicket, capability } = await launch();
  const asked = start(rust.program('native'), ['get', '/echo'], `${endpointTicket}#${capability}\n`);
  assert.equal(await asked.ended, '');
  assert.equal(asked.output(), '200 {"body":null}\n');
  await account.fetch('/v1/apps/engine/disconnect', { method: 'POST' });
  const refused = start(rust.program('native'), ['get', '/echo'], `${endpointTicket}#${capability}`);
  assert.match(await refused.ended, /^unauthenticated: /);
});

test('a WebSocket of a client in Rust ends when its capability does', async (t) => {
  if (rust.missing !== null) return t.skip(rust.missing);
  const { endpointTicket, capability } = await launch();
  const chat = start(rust.program('native'), ['chat', '/chat', 'from Rust'], `${endpointTicket}#${capability}`);
  await until('the echo', () => chat.output() === 'offered:\nfrom Rust\n', CLIENT_MS);
  await account.fetch('/v1/apps/engine/disconnect', { method: 'POST' });
  await chat.ended;
});

test('the HTTP client of Python reaches it with the lines of the page', async () => {
  const { endpointTicket, capability } = await launch();
  const shown = documentedBlock('docs/app-authors.md', 'python', '### Native clients');
  const typed = shown.replace('"/notes"', '"/echo"');
  assert.notEqual(typed, shown);
  const asked = start(
    'python3',
    ['-c', `import sys\nline = sys.stdin.read()\n${typed}`],
    `${endpointTicket}#${capability}\n`,
  );
  assert.equal(await asked.ended, '');
  assert.equal(asked.output(), "{'body': None}\n");
});
