// What direct-link.test.ts tells, run inside the network namespace of core's machine: as the first machine it starts the
// platform, through nsenter it runs the node on the other one. Ends with 0, or with what went wrong.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import * as path from 'node:path';
import type { LaunchDescriptor } from '@platform/contract';
import { fetchOverLink, keyFromSeed, type LinkKey, linkCertificate, loadOrMakeKey } from '@platform/link';
import { registerAccount } from '../support/client.ts';
import { cutTheWire, installPublicApp, Strangers } from './public-over-link.ts';
import {
  joinAlone,
  onTwoMachines,
  otherAddress,
  otherNetwork,
  reaches,
  type TwoMachines,
  tell,
  until,
} from './second-machine.ts';

const APP = 'witness';
/** Where the node takes core, and Ingresses. */
const CONTROL = 8790;
const PUBLIC = 8792;

async function story({ place, machine }: TwoMachines): Promise<void> {
  assert.match(await joinAlone({ place, machine }, 'second'), /^second +ready .* tls, direct /);
  const account = await registerAccount(place, 'tenant');
  await installPublicApp(account, APP);
  await installPublicApp(account, 'neighbour');
  const reached = reaches(account, APP);
  await until('core to reach it', reached);
  const strangers = await Strangers.of(place, account, APP);
  await until('a stranger to be answered', () => strangers.isAnswered());
  tell('a public request passes the Ingress and reaches the backend on the other machine');

  assert.deepEqual(await openPorts(otherAddress), [CONTROL, PUBLIC]);
  assert.deepEqual(udpPlaces(), []);
  tell('of 65,535 ports of the other machine, those of the link answer, and no other');

  const launch = await account.browser.take<LaunchDescriptor>('/v1/apps/neighbour/launch', { method: 'POST' });
  const credential = launch.backend?.capability ?? assert.fail('it has no backend');
  const nodeKey = loadOrMakeKey(path.join(machine.dataDirectory, 'node', 'node.key')).publicKey;
  const ingressKey = loadOrMakeKey(path.join(place.dataDirectory, 'ingress', 'ingress.key'));
  const knock = async (port: number, key: LinkKey | null) =>
    fetchOverLink(`https://${otherAddress}:${port}/`, {
      method: 'GET',
      host: strangers.hostname,
      headers: { authorization: `Bearer ${credential}` },
      key: nodeKey,
      ...(key === null ? {} : { certificate: await linkCertificate(key) }),
      signal: AbortSignal.timeout(30_000),
    });
  const closed = { code: /^(ECONNRESET|UND_ERR_SOCKET|ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)$/ };
  for (const port of [CONTROL, PUBLIC])
    for (const key of [null, keyFromSeed(randomBytes(32))]) await assert.rejects(knock(port, key), closed);
  await assert.rejects(knock(CONTROL, ingressKey), closed);
  assert.equal((await knock(PUBLIC, ingressKey)).status, 401);
  tell('the link refuses strangers, and with the key of the Ingress the credential of another installation');

  await cutTheWire(strangers, reached);
}

/** TCP ports that take connections. */
async function openPorts(host: string): Promise<number[]> {
  const ports = Array.from({ length: 65_535 }, (_, index) => index + 1);
  const open: number[] = [];
  const tryOn = async (): Promise<void> => {
    for (let port = ports.pop(); port !== undefined; port = ports.pop()) if (await takes(host, port)) open.push(port);
  };
  await Promise.all(Array.from({ length: 128 }, tryOn));
  return open.sort((one, other) => one - other);
}

async function takes(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ECONNREFUSED');
    return false;
  } finally {
    socket.destroy();
  }
}

/** Where anything on the other machine takes UDP. */
function udpPlaces(): string[] {
  const said = execFileSync('nsenter', [`--net=${otherNetwork}`, '--', 'ss', '-Hlun']).toString();
  return said.split('\n').filter((line) => line !== '');
}

// Browsers reach the node through a proxy on its own machine.
await onTwoMachines({ first: {}, second: { PLATFORM_LISTEN_HOST: '127.0.0.1' } }, story);
