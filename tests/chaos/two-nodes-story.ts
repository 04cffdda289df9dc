// What two-nodes.test.ts tells, run inside the network namespace of core's machine: as the first machine it starts the
// platform, through nsenter it runs the second one. Ends with 0, or with what went wrong.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import * as path from 'node:path';
import pg from 'pg';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import { databaseUrlOf, type PlatformPlace } from '../support/platform-process.ts';
import { ask, folder, join, nodeCommand, onTwoMachines, type TwoMachines, tell, until } from './second-machine.ts';

const SECOND = 'second';

/** Writes its own name over and over; a name that comes back after another one was written by two at a time. */
const WITNESS = `
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
const self = randomUUID();
const file = process.env.PLATFORM_VOLUME_DIR + '/witness';
setInterval(() => appendFileSync(file, self + '\\n'), 10);
createServer((request, response) => response.end(self)).listen(Number(process.env.PORT));
`;

async function story({ place, machine }: TwoMachines, shared: string): Promise<void> {
  const node = (...args: string[]) => nodeCommand(place, ...args);
  const first = (await nodes(place))[0]?.name ?? assert.fail('the platform has no node');
  /** A start that nobody made before, seen by core on this machine and in the volume. */
  const runsOn = (name: string) => {
    const former = new Set(writers(shared));
    return async () => (await runningOn(place, name)) === 1 && !former.has(writers(shared).at(-1) ?? '');
  };
  await join({ place, machine }, SECOND, 'test');
  await until('the second machine is ready', () => isReady(place));
  tell('the second machine joined');

  await node('cordon', first);
  const account = await registerAccount(place, 'tenant');
  await installWitness(account);
  await until('it runs on the second machine', async () => (await runningOn(place, SECOND)) === 1);
  await until('it writes', () => writers(shared).length > 0);
  const status = await account.browser.take<{ state: string }>('/v1/apps/witness/status');
  assert.match(status.state, /running|starting/, 'core asks a node on another machine over the link');
  const logs = await account.fetch('/v1/apps/witness/logs');
  assert.equal(logs.status, 200, logs.text);
  tell('placed on the second machine, which core controls');

  await node('uncordon', first);
  await machine.kill('SIGKILL');
  await until('it runs on the first machine', runsOn(first));
  assert.match(await node('list'), /^second +lost /m);
  tell('the second machine was killed; the backend runs on the first');

  await machine.start(['node', 'start']);
  await until('the second machine is back', () => isReady(place));
  assert.equal(await runningOn(place, SECOND), 0);
  const onSecond = runsOn(SECOND);
  assert.match(await node('drain', first), /^1 app was taken/);
  await until('it runs on the second machine', onSecond);
  tell('the second machine is back; drained from the first, the backend runs there');

  await node('uncordon', first);
  const onFirst = runsOn(first);
  const said = machine.output.length;
  await ask('cut');
  const stopped = () => machine.output.slice(said).includes('the lease ended without an answer from core');
  await until('the second machine stops it by itself', stopped);
  assert.equal(await onFirst(), false, 'the first machine began before the second one had to stop');
  await until('it runs on the first machine', onFirst);
  tell('the second machine was cut off and stopped; the backend runs on the first');

  await ask('join');
  await until('the second machine is back', () => isReady(place));
  await until('it still writes', grows(shared));
  assert.equal(await runningOn(place, SECOND), 0);
  assert.equal(machine.exitCode, null);

  const toSecond = runsOn(SECOND);
  await node('drain', first);
  await until('it runs on the second machine', toSecond);
  await node('uncordon', first);
  const backOnFirst = runsOn(first);
  await machine.kill('SIGTERM');
  assert.match(await node('list'), /^second +lost /m, 'a machine that is stopped returns its lease before it ends');
  await until('it runs on the first machine', backOnFirst);
  tell('the second machine was stopped and had handed its backend over; it runs on the first');

  const names = writers(shared);
  assert.ok(names.length >= 6, `only ${names.length} starts wrote`);
  assert.equal(new Set(names).size, names.length, `one that had stopped wrote again: ${names.join(' ')}`);
  tell(`healed: ${names.length} starts, one after the other, never two at a time`);
}

async function installWitness(account: TestAccount): Promise<void> {
  const workload = { runtime: 'node', entry: 'main.mjs', mode: 'always', volume: true };
  const body = await buildTestPackage({
    manifest: testManifest('witness', { workload }),
    files: { 'frontend/index.html': '<!doctype html>', 'workload/main.mjs': WITNESS },
  });
  await account.browser.take('/v1/catalog/witness/versions/1.0.0', {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/gzip' },
  });
  await account.browser.take('/v1/apps', { body: { appId: 'witness' } });
}

/** The names in the witness's file, each run of one name once: in order, who wrote. */
function writers(shared: string): string[] {
  return lines(shared).filter((name, index, all) => name !== all[index - 1]);
}

function lines(shared: string): string[] {
  const installation = readdirSync(shared).find((name) => name.startsWith('inst-'));
  const file = path.join(shared, installation ?? 'none', 'witness');
  if (!existsSync(file)) return [];
  // The last line may be half written.
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

function grows(shared: string): () => boolean {
  const before = lines(shared).length;
  return () => lines(shared).length > before + 100;
}

/** Asked of the database: the command line takes its time, and is asked once. */
async function nodes(place: PlatformPlace): Promise<{ name: string; lost: boolean; beats: number; running: number }[]> {
  const client = new pg.Client({ connectionString: await databaseUrlOf(place) });
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT name, lost_at IS NOT NULL AS lost, beat::integer AS beats,
              (SELECT count(*)::integer FROM installation_status s
                WHERE s.node_id = nodes.id AND s.state = 'running') AS running
         FROM nodes ORDER BY local DESC`,
    );
    return rows;
  } finally {
    await client.end();
  }
}

async function isReady(place: PlatformPlace): Promise<boolean> {
  const second = (await nodes(place)).find(({ name }) => name === SECOND);
  return second?.lost === false && second.beats > 0;
}

async function runningOn(place: PlatformPlace, name: string): Promise<number | undefined> {
  return (await nodes(place)).find((row) => row.name === name)?.running;
}

const shared = await folder('shared');
const environment = {
  first: { PLATFORM_NODE_LOST_SECONDS: '20', PLATFORM_VOLUMES_SHARED: shared },
  second: { PLATFORM_VOLUMES_SHARED: shared },
};
try {
  await onTwoMachines(environment, (machines) => story(machines, shared));
} finally {
  await rm(shared, { recursive: true, force: true });
}
