// What behind-nat.test.ts tells, run inside the network namespace of core's machine: as the first machine it starts the
// platform, through nsenter it runs the node behind the router. Ends with 0, or with what went wrong.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import { emptyPlace, inherited, type PlatformPlace, startPlatform } from '../support/platform-process.ts';
import { ask, command, folder, SecondMachine, tell, until } from './second-machine.ts';

const [ownAddress = '', otherNetwork = '', otherAddress = '', routerAddress = ''] = process.argv.slice(2);
const HIDDEN = 'hidden';
const HEALED_SECONDS = 5;
const ROUTES = ['GET:/*'];
const PERMISSIONS = [{ id: 'endpoints.public', resources: ROUTES }];

const WORKLOAD = `
import { createServer } from 'node:http';
setInterval(() => console.log('still here'), 500);
createServer((request, response) => response.end('answered')).listen(Number(process.env.PORT));
`;

async function main(): Promise<void> {
  const second = await folder('second');
  const place = await emptyPlace({
    PLATFORM_LINK_LISTEN: `${ownAddress}:8789`,
    PLATFORM_LINK_CARRIER: 'iroh',
    PLATFORM_INGRESS_LINK: `${ownAddress}:8793`,
  });
  const machine = new SecondMachine(otherNetwork, {
    ...inherited,
    PLATFORM_DATA_DIR: second,
    PLATFORM_LISTEN_HOST: otherAddress,
    PLATFORM_NODE_ORIGIN: 'http://second.platform.localhost:8788',
    PLATFORM_LINK_CARRIER: 'iroh',
  });
  const platform = await startPlatform(place);
  try {
    await story(place, machine);
  } catch (error) {
    process.stderr.write(`${platform.output()}\n--- the node:\n${machine.output}\n`);
    throw error;
  } finally {
    await machine.kill('SIGKILL');
    await platform.stop();
    await place.remove();
    await rm(second, { recursive: true, force: true });
  }
}

async function story(place: PlatformPlace, machine: SecondMachine): Promise<void> {
  const node = (...args: string[]) => command(place, ['node', ...args]);
  const token = /pne_\S+/.exec(await node('token', '--label', 'platform-hosted'))?.[0] ?? '';
  await machine.start(['node', 'join', `https://${ownAddress}:8789`, token, '--name', HIDDEN]);
  const list = await node('list');
  assert.match(list, /^hidden +ready .* iroh /m);
  const first = /^(\S+) +ready/m.exec(list.replace(/^hidden .*$/m, ''))?.[1] ?? assert.fail(list);
  for (const address of [otherAddress, routerAddress])
    for (const port of [8788, 8790, 8792]) await assert.rejects(reach(address, port));
  tell('the node joined; nothing at its machine or its router can be reached from here');

  await node('cordon', first);
  const account = await registerAccount(place, 'tenant');
  await install(account);
  await until('it runs', async () => (await state(account)) === 'running');
  await until('its log', async () => (await account.fetch('/v1/apps/witness/logs')).text.includes('still here'));
  tell('core starts a backend there, and reads its state and its log');

  const hostname = (await account.browser.take<{ hostname: string }>('/v1/apps/witness/public')).hostname;
  const publicStatus = () => publicRequest(place.ingressPort, hostname);
  await until('a stranger is answered', async () => (await publicStatus()) === 'answered');
  tell('a public request passes the Ingress and reaches the backend');

  for (const seconds of [1, 8]) {
    await ask('cut');
    const until_ = performance.now() + seconds * 1_000;
    // Calls go on meanwhile, as they would.
    do await state(account, 500);
    while (performance.now() < until_);
    await ask('join');
    const healed = performance.now();
    await until('core reaches it again', async () => (await state(account, 500)) !== null);
    await until('strangers reach it again', async () => (await publicStatus()) === 'answered');
    const took = (performance.now() - healed) / 1_000;
    tell(`cut for ${seconds} s; reached again after ${took.toFixed(2)} s`);
    assert.ok(took <= HEALED_SECONDS, `it took ${took} s`);
  }
}

async function install(account: TestAccount): Promise<void> {
  const workload = { runtime: 'node', entry: 'main.mjs', mode: 'always' };
  const body = await buildTestPackage({
    manifest: testManifest('witness', { workload, publicEndpoints: ROUTES, permissions: PERMISSIONS }),
    files: { 'frontend/index.html': '<!doctype html>', 'workload/main.mjs': WORKLOAD },
  });
  await account.browser.take('/v1/catalog/witness/versions/1.0.0', {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/gzip' },
  });
  await account.browser.take('/v1/apps', { body: { appId: 'witness', permissions: PERMISSIONS } });
}

/** As its node says; `null` where core does not reach it in time. */
async function state(account: TestAccount, milliseconds = 10_000): Promise<string | null> {
  const answer = await Promise.race([
    account.fetch('/v1/apps/witness/status'),
    new Promise<null>((resolve) => setTimeout(() => resolve(null), milliseconds).unref()),
  ]);
  if (answer?.status !== 200) return null;
  return (JSON.parse(answer.text) as { state: string }).state;
}

/** What the Ingress of this machine answers; `null` where that is not in time. */
async function publicRequest(port: number, hostname: string): Promise<string | null> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    socket.write(`GET / HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
    const parts: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => parts.push(chunk)).on('error', () => undefined);
    await once(socket, 'close', { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    const text = Buffer.concat(parts).toString();
    return text.startsWith('HTTP/1.1 200 ') && text.includes('answered') ? 'answered' : null;
  } finally {
    socket.destroy();
  }
}

async function reach(host: string, port: number): Promise<void> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(1_000) });
  } finally {
    socket.destroy();
  }
}

await main();
process.disconnect?.();
