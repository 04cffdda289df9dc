// A native client in Rust, and Python's own HTTP client, of a real backend through a real node, with what a launch gives.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { LaunchDescriptor } from '@platform/contract';
import { buildSdk } from '@platform/sdk/build';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { freePort } from '../support/free-port.ts';
import { NATIVE_ENGINE } from '../support/native-engine.ts';
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
  world = await startConstellation({ config: { nodeOrigin: `http://127.0.0.1:${port}` } });
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

/** Starts the client with the line that a person hands over. */
function start(program: string, args: readonly string[], line: string) {
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

test('the HTTP client of Python needs the URL of the ticket and a Bearer, and nothing else', async () => {
  const { endpointTicket, capability } = await launch();
  const program = `
import base64, json, sys, urllib.request
ticket, capability = sys.stdin.read().strip().split('#')
body = ticket.split('.')[1]
url = json.loads(base64.urlsafe_b64decode(body + '=' * (-len(body) % 4)))['url']
request = urllib.request.Request(url + '/echo', data=b'"from Python"', headers={'Authorization': 'Bearer ' + capability})
print(urllib.request.urlopen(request).read().decode())`;
  const running = promisify(execFile)('python3', ['-c', program], { timeout: CLIENT_MS });
  running.child.stdin?.end(`${endpointTicket}#${capability}`);
  assert.equal((await running).stdout, '{"body":"from Python"}\n');
});
