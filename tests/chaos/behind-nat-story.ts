// The part of behind-nat.test.ts that runs inside the network namespace of core's machine: as the first machine it starts the
// platform, through nsenter it runs the node behind the router. Ends with 0, or with what went wrong.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { LaunchDescriptor } from '@platform/contract';
import { handshake } from '../../packages/http/test-support/handshakes.ts';
import { openRaw } from '../../packages/http/test-support/raw-exchange.ts';
import { registerAccount } from '../support/client.ts';
import type { PlatformPlace } from '../support/platform-process.ts';
import { rawRequest } from '../support/raw-http.ts';
import { cutTheWire, installPublicApp, Strangers } from './public-over-link.ts';
import {
  joinAlone,
  onTwoMachines,
  otherAddress,
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
  await reachAsClient(place, launch.backend ?? assert.fail('it has no backend'));
  tell('a native client reaches the backend at the Ingress, by what its launch gave, and opens a WebSocket there');
  await cutTheWire(strangers, reached);
}

/** With what a launch gives, on this machine, whose Ingress the URL of the ticket names. */
async function reachAsClient({ ingressPort }: PlatformPlace, { endpointTicket, capability }: Backend): Promise<void> {
  const ticket: { url: string } = JSON.parse(Buffer.from(endpointTicket.slice('pet1.'.length), 'base64url').toString());
  const { host, port, pathname } = new URL(ticket.url);
  assert.match(host, /^node-[0-9a-f-]{36}\.public\.platform\.localhost:/);
  assert.equal(Number(port), ingressPort);
  const ask = (at: string, presented: string) =>
    rawRequest({
      port: ingressPort,
      path: `${pathname}/`,
      headers: { host: at, authorization: `Bearer ${presented}` },
    });
  const { status, text } = await ask(host, capability);
  assert.deepEqual([status, text], [200, 'answered']);
  assert.equal((await ask(host, `pdc_${'A'.repeat(43)}`)).status, 401);
  assert.equal((await ask(`x${host}`, capability)).status, 421);
  const fields = handshake({ Host: host, Authorization: `Bearer ${capability}` });
  const socket = await openRaw(ingressPort, `GET ${pathname}/echo HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
  await socket.until(() => /^HTTP\/1\.1 101 .*\r\n\r\n/s.test(socket.received()));
  socket.socket.write('echoed');
  await socket.until(() => socket.received().endsWith('echoed'));
  socket.socket.destroy();
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
await onTwoMachines(
  { first: { ...iroh, PLATFORM_INGRESS_LINK: `${ownAddress}:8793` }, second: { ...iroh, PLATFORM_NODE_ORIGIN: '' } },
  story,
);
