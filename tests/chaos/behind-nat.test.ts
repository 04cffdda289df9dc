// A node behind NAT, as three network namespaces: core reaches it over the connection that it keeps to core, in no other
// way, and again within five seconds after a cut. The story itself runs inside the first machine (behind-nat-story.ts).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connectBehindNat, namespacesUnavailable } from '../support/network-namespaces.ts';

const STORY = fileURLToPath(new URL('./behind-nat-story.ts', import.meta.url));

/** The multicast group of the local network in which routers with UPnP are. */
const UPNP = '239.255.255.250';

let networks: ReturnType<typeof connectBehindNat> | undefined;
const skip = namespacesUnavailable();

before(() => {
  if (skip === false) networks = connectBehindNat();
});
after(() => networks?.remove());

test('a node behind NAT joins, is called over iroh, and is reached again after a cut', {
  skip,
  timeout: 400_000,
}, async (context) => {
  const { a, b, router, cut, join } = networks ?? assert.fail();
  const places = [a.address, b.file, b.address, router.address];
  const story = spawn('nsenter', [`--net=${a.file}`, '--', process.execPath, STORY, ...places], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [story.stdout, story.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  story.on('message', (event) => {
    if (event === 'cut') cut();
    if (event === 'join') join();
    story.send('done');
  });
  const [code, signal] = await once(story, 'close');
  for (const line of output.split('\n').filter((text) => text.startsWith('STORY '))) context.diagnostic(line);
  assert.equal(code ?? signal, 0, output);
  const { a: byCore, b: byNode } = networks?.sentTo() ?? assert.fail();
  // iroh looks for a router that speaks UPnP, and cannot be told not to; nobody else is spoken to.
  const others = (all: readonly string[]) => all.filter((address) => address !== UPNP);
  assert.deepEqual(others(byCore), [router.address, b.address]);
  assert.deepEqual(others(byNode), [a.address]);
});
