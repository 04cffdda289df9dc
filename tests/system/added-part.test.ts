// What a part of the platform has by being in the table: a fourth process, added in one place, is started, watched, measured,
// said and ended as the others are, by the real supervisor.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import {
  type LongCommand,
  PARTS,
  type PlatformPlace,
  partStatesOf,
  platformPlace,
  RUNNING,
  runCommand,
  startCommand,
} from '../support/platform-process.ts';
import { rawRequest } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';

const START = fileURLToPath(new URL('../../packages/cli/test-support/added-part/start.ts', import.meta.url));

let place: PlatformPlace;
let greeterPort: number;
let metricsPort: number;
let platform: LongCommand | undefined;

before(async () => {
  metricsPort = await freePort();
  place = await platformPlace({ PLATFORM_METRICS_LISTEN: `127.0.0.1:${metricsPort}` });
  greeterPort = await freePort();
});
after(async () => {
  await platform?.stop();
  await place.remove();
});

function start(port: number): Promise<LongCommand> {
  const environment = { ...place.environment, GREETER_PORT: String(port), GREETER_JOURNAL: journalFile() };
  return startCommand([], environment, RUNNING, START);
}

const journalFile = () => path.join(place.dataDirectory, 'greeter.journal');

/** What it wrote at its starts and ends: which parts ran then. */
function journal(): unknown[] {
  return readFileSync(journalFile(), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('its ports are checked with those of all others before anything starts', async () => {
  await assert.rejects(
    start(place.nodePort),
    /GREETER_PORT and PLATFORM_NODE_ORIGIN both name port \d+ on 127\.0\.0\.1; give them different ports\./,
  );
});

test('it starts in its place with an order made of what the parts before it reported', async () => {
  platform = await start(greeterPort);
  const names = (await partStatesOf(place)).map(({ name }) => name);
  assert.deepEqual(names, [...PARTS.slice(0, 2), 'Greeter', ...PARTS.slice(2)]);
  assert.deepEqual(journal(), [{ event: 'start', core: true, node: false }]);
  assert.match(platform.output(), new RegExp(`^ {2}Greets {7}whom http://127\\.0\\.0\\.1:${place.port} sends$`, 'm'));
  const { parts } = JSON.parse(await runCommand(['ps', '--json'], place.environment));
  assert.deepEqual(
    parts.map(({ name, restarts }: { name: string; restarts: number }) => `${name} ${restarts}`),
    names.map((name) => `${name} 0`),
  );
});

test('its metrics are among those of the platform', async () => {
  const host = `127.0.0.1:${metricsPort}`;
  const { text } = await rawRequest({ port: metricsPort, path: '/metrics', headers: { host } });
  assert.match(text, /^platform_part_up\{part="greeter"\} 1$/m);
  assert.match(text, /^greeter_greetings_total 0$/m);
  assert.match(text, /^process_resident_memory_bytes\{part="greeter"\} \d/m);
});

test('it is pinged: when it hangs it alone is killed and started again', async () => {
  const running = platform;
  assert.ok(running !== undefined);
  const others = async () => (await partStatesOf(place)).filter(({ name }) => name !== 'Greeter').map(({ pid }) => pid);
  const before = await others();
  // Never answered.
  void rawRequest({ port: greeterPort, path: '/hang' }).catch(() => undefined);
  await until('the greeter to run again', () => /^Greeter runs again after/m.test(running.output()), 60_000);
  assert.match(
    running.output(),
    /^Greeter did not answer for 6 s\. Greeter was killed by SIGKILL\. It is being restarted\.$/m,
  );
  assert.equal((await rawRequest({ port: greeterPort, path: '/' })).text, 'hello');
  assert.deepEqual(await others(), before);
});

test('a signal ends it in its turn: after the node, while core still runs', async () => {
  assert.equal(await platform?.stop(), 0);
  assert.doesNotMatch(platform?.output() ?? '', /while stopping|took too long/);
  assert.deepEqual(journal().slice(1), [
    { event: 'start', core: true, node: true },
    { event: 'end', core: true, node: false },
  ]);
});
