// What behind-nat.test.ts tells, run inside the network namespace of core's machine: as the first machine it starts the
// platform, through nsenter it runs the node behind the router. Ends with 0, or with what went wrong.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import type { LaunchDescriptor } from '@platform/contract';
import { registerAccount } from '../support/client.ts';
import { cutTheWire, installPublicApp, Strangers } from './public-over-link.ts';
import {
  joinAlone,
  onTwoMachines,
  otherAddress,
  otherNetwork,
  ownAddress,
  reaches,
  routerAddress,
  type TwoMachines,
  tell,
  until,
} from './second-machine.ts';

type Backend = NonNullable<LaunchDescriptor['backend']>;

const APP = 'witness';

async function story({ place, machine }: TwoMachines): Promise<void> {
  assert.match(await joinAlone({ place, machine }, 'hidden'), /^hidden +ready .* iroh /);
  for (const address of [otherAddress, routerAddress])
    for (const port of [8788, 8790, 8792]) await assert.rejects(reach(address, port));
  tell('the node joined; nothing at its machine or its router can be reached from here');

  const account = await registerAccount(place, 'tenant');
  await installPublicApp(account, APP);
  const reached = reaches(account, APP);
  await until('core to reach it', reached);
  await until('its log', async () => (await account.fetch(`/v1/apps/${APP}/logs`)).text.includes('still here'));
  tell('core starts a backend there, and reads its state and its log');

  const strangers = await Strangers.of(place, account, APP);
  await until('a stranger to be answered', () => strangers.isAnswered());
  tell('a public request passes the Ingress and reaches the backend');

  const launch = await account.browser.take<LaunchDescriptor>(`/v1/apps/${APP}/launch`, { method: 'POST' });
  assert.equal(await askAtTheNode(launch.backend ?? assert.fail('it has no backend')), 'answered');
  tell('a native client reaches the backend where the origin of the node leads to it');
  await cutTheWire(strangers, reached);
}

/** A request with what a launch gives, from the other machine itself, as behind a tunnel of the operator's that ends there. */
async function askAtTheNode({ endpointTicket, capability }: Backend): Promise<string> {
  const { url }: { url: string } = JSON.parse(
    Buffer.from(endpointTicket.slice('pet1.'.length), 'base64url').toString(),
  );
  const { host, port, pathname } = new URL(url);
  const headers = { host, authorization: `Bearer ${capability}` };
  const target = JSON.stringify({ host: otherAddress, port, path: `${pathname}/`, headers });
  const client = `require('node:http').get(${target}, (response) => response.pipe(process.stdout))`;
  const inside = [`--net=${otherNetwork}`, '--', process.execPath, '-e', client];
  return (await promisify(execFile)('nsenter', inside)).stdout;
}

async function reach(host: string, port: number): Promise<void> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(1_000) });
  } finally {
    socket.destroy();
  }
}

const iroh = { PLATFORM_LINK_CARRIER: 'iroh' };
await onTwoMachines({ first: { ...iroh, PLATFORM_INGRESS_LINK: `${ownAddress}:8793` }, second: iroh }, story);
