// The parts that the internet reaches are killed while connections come each few milliseconds: the supervisor keeps their
// sockets, so no connection is refused, and each that came while nothing accepted is answered afterwards.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  killPart,
  type PlatformPlace,
  type PlatformProcess,
  partOf,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { STORY_MS, until } from '../support/wait.ts';

const EVERY_MS = 4;
const KILLS = 2;

let place: PlatformPlace;
let platform: PlatformProcess | undefined;

before(async () => {
  place = await platformPlace();
  platform = await startPlatform(place);
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

let clients = 0;

/** A request on a connection of its own, from one of many addresses: each part limits the connections of one. @returns the status, or the code of the error */
function request(port: number): Promise<string> {
  clients += 1;
  const localAddress = `127.0.0.${2 + (clients % 100)}`;
  return new Promise((resolve) => {
    http
      .get({ host: '127.0.0.1', localAddress, port, path: '/', agent: false }, (answer) => {
        answer.resume();
        answer.on('end', () => resolve('answered')).on('error', () => resolve('cut'));
      })
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

for (const [name, portOf] of [
  ['Core', () => place.port],
  ['Node', () => place.nodePort],
  ['Ingress', () => place.ingressPort],
] as const) {
  test(`no connection to the port of ${name} is refused while it is killed ${KILLS} times`, {
    timeout: STORY_MS,
  }, async (context) => {
    assert.equal(await request(portOf()), 'answered');
    const load = new AbortController();
    const asked: Promise<string>[] = [];
    const asking = (async () => {
      while (!load.signal.aborted) {
        asked.push(request(portOf()));
        await delay(EVERY_MS);
      }
    })();
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const sent = asked.length;
      await killPart(place, name);
      await until('it to run again', async () => {
        const { pid, restarts } = await partOf(place, name);
        return pid !== null && restarts >= kill;
      });
      // Accepted and not yet answered, a second kill would cut them.
      await Promise.all(asked);
      assert.ok(asked.length > sent, 'the load went on meanwhile');
    }
    load.abort();
    await asking;
    const results = Map.groupBy(await Promise.all(asked), (result) => result);
    const counts: Partial<Record<string, number>> = Object.fromEntries(
      [...results].map(([result, { length }]) => [result, length]),
    );
    context.diagnostic(JSON.stringify(counts));
    assert.equal(counts.ECONNREFUSED ?? 0, 0, JSON.stringify(counts));
    // What a killed process had accepted is cut; there is little of it at a time.
    assert.ok((counts.answered ?? 0) > asked.length * 0.9, JSON.stringify(counts));
  });
}
