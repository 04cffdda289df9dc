// The part of behind-nat.test.ts in a network without UDP, run inside the network namespace of core's machine, where a relay
// of iroh stands as well. Ends with 0, or with what went wrong.
import assert from 'node:assert/strict';
import { registerAccount } from '../support/client.ts';
import { startIrohRelay } from '../support/iroh-relay.ts';
import { cutTheWire, installPublicApp, Strangers } from './public-over-link.ts';
import { joinAlone, onTwoMachines, ownAddress, reaches, type TwoMachines, tell, until } from './second-machine.ts';

const APP = 'witness';
const relay = await startIrohRelay(ownAddress);

async function story(machines: TwoMachines): Promise<void> {
  assert.match(await joinAlone(machines, 'hidden'), /^hidden +ready .* iroh /);
  const account = await registerAccount(machines.place, 'tenant');
  await installPublicApp(account, APP);
  const reached = reaches(account, APP);
  await until('core to reach it', reached);
  const strangers = await Strangers.of(machines.place, account, APP);
  await until('a stranger to be answered', () => strangers.isAnswered());
  tell(`core and strangers reach the backend; the relay carried ${relay.carried()} datagrams`);
  await cutTheWire(strangers, reached);
}

const iroh = { PLATFORM_LINK_CARRIER: 'iroh', PLATFORM_IROH_RELAY: relay.url };
try {
  await onTwoMachines({ first: iroh, second: iroh }, story);
} finally {
  await relay.close();
}
