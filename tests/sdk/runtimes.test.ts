// The suite of the SDK in every runtime, from its package as it is installed elsewhere.
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { WebSocketServer } from 'ws';
import { lockedTools } from '../support/locked-tools.ts';
import { resolverUnavoidable, withoutResolver } from '../support/no-resolver.ts';
import { installPackedSdk } from '../support/packed-sdk.ts';
import { bundleSuite, type SuiteWorld, startSuiteWorld } from '../support/sdk-suite.ts';
import { allCases, type CaseResult } from './suite/run.ts';

const RUNTIMES = path.join(import.meta.dirname, '../runtimes');
/** The first of them installs the others. */
const INSTALL_MS = 600_000;
const [cpu, bunCpu] = process.arch === 'arm64' ? ['arm64', 'aarch64'] : ['x64', 'x64'];

/** The program, below the folder of the runtimes, and its arguments. */
const runtimes: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  'Node 20': [`node-20-${cpu}/bin/node`],
  'Node 22': [`node-22-${cpu}/bin/node`],
  'Node 24': [process.execPath],
  Bun: [`@oven/bun-linux-${bunCpu}/bin/bun`],
  Deno: [
    `@deno/linux-${cpu}-glibc/deno`,
    'run',
    '--cached-only',
    '--allow-net=127.0.0.1,node.platform.localhost',
    '--allow-env',
  ],
};

/** Which runtime it is, then the results; the exit of the process by itself is part of the promise. */
const PROGRAM = `
import { runSuite } from './suite.mjs';
const { versions } = globalThis.process;
const runtime = versions.deno ? 'Deno' : versions.bun ? 'Bun' : 'Node ' + versions.node.split('.')[0];
const [apiUrl, gatewayToken, misbehaving] = [process.env.API_URL, process.env.TOKEN, process.env.MISBEHAVING];
const results = await runSuite({ apiUrl, gatewayToken, misbehaving });
console.log(JSON.stringify({ runtime, results }));
`;

/** Asks a backend and a service, both below `localhost`, and says which host each was asked as. */
const LOCAL_PROGRAM = `
import { connectBackend, PlatformServicesClient } from '@platform/sdk';
const { LINE: line, API: apiUrl } = globalThis.process.env;
const backend = connectBackend(line);
const heard = [(await backend.json('/notes')).host];
heard.push((await new PlatformServicesClient({ apiUrl, gatewayToken: 'pgt_x' }).listApps()).host);
if (typeof WebSocket === 'function') {
  const socket = await backend.webSocket('/chat', { protocols: ['chat'] });
  const answered = new Promise((resolve) => socket.addEventListener('message', ({ data }) => resolve(data)));
  socket.send('Who am I to you?');
  heard.push(await answered);
  socket.close();
} else heard.push(heard[0]);
console.log(JSON.stringify(heard));
`;

let world: SuiteWorld;
let project = '';
let tools = '';
before(async () => {
  project = await mkdtemp(path.join(tmpdir(), 'sdk-runtimes-'));
  tools = await lockedTools(RUNTIMES);
  await installPackedSdk(project);
  await writeFile(path.join(project, 'suite.mjs'), await bundleSuite());
  await writeFile(path.join(project, 'program.mjs'), PROGRAM);
  await writeFile(path.join(project, 'local.mjs'), LOCAL_PROGRAM);
  world = await startSuiteWorld();
});
after(async () => {
  await world?.close();
  await rm(project, { recursive: true, force: true });
});

for (const [name, [program, ...args]] of Object.entries(runtimes)) {
  test(`in ${name} the SDK keeps every promise of its suite`, { timeout: INSTALL_MS }, async () => {
    const { environment, misbehaving } = await world.open();
    const env = {
      PATH: process.env.PATH,
      HOME: project,
      DENO_NO_UPDATE_CHECK: '1',
      NO_COLOR: '1',
      API_URL: environment.PLATFORM_API_URL,
      TOKEN: environment.PLATFORM_GATEWAY_TOKEN,
      MISBEHAVING: misbehaving,
    };
    const file = path.isAbsolute(program) ? program : path.join(tools, 'node_modules', program);
    const { stdout } = await promisify(execFile)(file, [...args, 'program.mjs'], {
      cwd: project,
      env,
      timeout: 120_000,
    });
    const { runtime, results } = JSON.parse(stdout) as { runtime: string; results: CaseResult[] };
    assert.equal(runtime, name);
    assert.deepEqual(
      results.filter(({ failure }) => failure !== undefined),
      [],
    );
    assert.deepEqual(
      results.map((result) => result.name),
      Object.keys(allCases()),
    );
  });
}

/** Says which host it is asked as, by HTTP and to the first frame of a WebSocket. */
async function startMirror() {
  const server = http.createServer(({ headers }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ host: headers.host }));
  });
  const sockets = new WebSocketServer({ server, handleProtocols: (offered) => (offered.has('chat') ? 'chat' : false) });
  sockets.on('connection', (socket, { headers }) => {
    socket.once('message', () => socket.send(String(headers.host)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `node.platform.localhost:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets.clients) socket.terminate();
      server.close();
      server.closeAllConnections();
    },
  };
}

for (const [name, [program, ...args]] of Object.entries(runtimes)) {
  const skip = resolverUnavoidable();
  test(`in ${name} a name below localhost is this machine, without any resolver`, {
    skip,
    timeout: INSTALL_MS,
  }, async (t) => {
    const mirror = await startMirror();
    t.after(() => mirror.close());
    const ticket = Buffer.from(JSON.stringify({ url: `http://${mirror.host}/e/x` })).toString('base64url');
    const runtime = path.resolve(tools, 'node_modules', program);
    const line = withoutResolver(runtime, [...args, path.join(project, 'local.mjs')]);
    const { stdout } = await promisify(execFile)(line.program, line.args, {
      cwd: project,
      env: {
        PATH: process.env.PATH,
        HOME: project,
        DENO_NO_UPDATE_CHECK: '1',
        LINE: `pet1.${ticket}#pdc_x`,
        API: `http://${mirror.host}`,
      },
    });
    assert.deepEqual(JSON.parse(stdout), [mirror.host, mirror.host, mirror.host]);
  });
}
