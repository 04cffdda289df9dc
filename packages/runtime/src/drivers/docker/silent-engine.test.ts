// An engine that takes connections and never answers: the driver is open soon, refuses every start and says why.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { openForConformance } from '../../../test-support/conformance/docker.ts';
import { makePlace } from '../../../test-support/place.ts';

test('an engine that hangs is not waited for, and the reason says so', {
  skip: process.getuid?.() !== 0 && 'needs root, as the docker driver does',
}, async (t) => {
  const place = makePlace();
  t.after(() => place.remove());
  const socketPath = join(place.folder, 'engine.sock');
  const held: Socket[] = [];
  const server = net.createServer((socket) => held.push(socket));
  server.listen(socketPath);
  await once(server, 'listening');
  t.after(() => {
    for (const socket of held) socket.destroy();
    server.close();
  });
  const driver = await openForConformance(join(place.folder, 'platform'), {
    socketPath,
    networkNamespace: '/proc/self/ns/net',
  });
  t.after(() => driver.close());
  assert.equal(driver.report.ok, false);
  assert.match(driver.report.reasons.join(), /^The container engine listens, but has not answered for 5 s\. /);
});
