// A node behind NAT, as three network namespaces: core and the Ingress reach it over the connections that it keeps to them,
// in no other way, and again after a cut. The stories themselves run inside the first machine (…-story.ts).
import assert from 'node:assert/strict';
import { connectBehindNat, type NetworksBehindNat } from '../support/network-namespaces.ts';
import { testStory } from './two-machines.ts';

/** The multicast group of the local network in which routers with UPnP are. */
const UPNP = '239.255.255.250';

function onlyEachOther({ a, b, router, sentTo }: NetworksBehindNat): void {
  const { a: byCore, b: byNode } = sentTo();
  assert.deepEqual(byCore, [router.address, b.address]);
  // iroh looks for a router that speaks UPnP where there is a default route, and cannot be told not to.
  assert.deepEqual(
    byNode.filter((address) => address !== UPNP),
    [a.address],
  );
}

testStory('a node behind NAT joins, is called over iroh, and is reached again after a cut', {
  connect: connectBehindNat,
  file: 'behind-nat-story.ts',
  timeout: 600_000,
  after: onlyEachOther,
});

testStory('a node that no UDP packet reaches is reached through the relay that is configured', {
  connect: () => connectBehindNat({ udp: false }),
  file: 'over-relay-story.ts',
  timeout: 600_000,
  after: onlyEachOther,
});
