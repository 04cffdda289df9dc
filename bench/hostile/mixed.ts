// A mixed hostile load, all at once, from two accounts, their backend and one stranger: how long others wait for an answer
// meanwhile, whether anybody gets a 5xx, what memory the platform takes, and whether it is itself again afterwards.
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { openBackend } from '../../tests/support/backend.ts';
import { registerAccount } from '../../tests/support/client.ts';
import { buildTestPackage } from '../../tests/support/packages.ts';
import { platformPlace, startPlatform } from '../../tests/support/platform-process.ts';
import { rawRequest } from '../../tests/support/raw-http.ts';
import { atMost, median, percentile, printRow, reported } from '../machine.ts';
import { residentOfTree } from '../platform/process-memory.ts';
import { HOSTILE_APP, hostileManifest, hostileWorkload } from './workload.ts';

const QUIET_SECONDS = 20;
/** For connections to time out and queues to drain. */
const RECOVERY_SECONDS = 60;
const EVERY_MILLISECONDS = 100;
const HEALTH_P99_MILLISECONDS = 250;
/** Of the platform and its workloads, under whatever attack. */
export const MEMORY_MIB = 1_536;

/** Starts a platform, attacks it for so many seconds, and prints the rows. */
export async function measureMixed(seconds: number): Promise<void> {
  const place = await platformPlace();
  const platform = await startPlatform(place);
  try {
    const person = await registerAccount(place, 'person');
    const [one, two] = [await registerAccount(place, 'one'), await registerAccount(place, 'two')];
    const body = await buildTestPackage({
      manifest: hostileManifest,
      files: { 'frontend/index.html': '<!doctype html>', 'workload/main.mjs': hostileWorkload },
    });
    const headers = { 'content-type': 'application/gzip' };
    const published = await one.fetch(`/v1/catalog/${HOSTILE_APP}/versions/1.0.0`, { method: 'PUT', body, headers });
    assert.equal(published.status, 201, published.text);
    const installed = await one.fetch('/v1/apps', { body: { appId: HOSTILE_APP } });
    assert.equal(installed.status, 201, installed.text);
    const backend = await openBackend(place, one, HOSTILE_APP);
    await backend('/?seconds=0');

    /** Asks for health and for the person's apps until `duration` seconds are over. */
    const look = async (duration: number) => {
      const health: number[] = [];
      const apps: number[] = [];
      const failures: string[] = [];
      let memory = 0;
      const until = performance.now() + 1_000 * duration;
      const timed = async (times: number[], ask: () => Promise<{ status: number }>) => {
        const begun = performance.now();
        const status = await ask().then(
          (answer) => answer.status,
          (cause: Error) => cause.message,
        );
        times.push(performance.now() - begun);
        if (status !== 200) failures.push(`${status}`);
      };
      const asking = async (times: number[], ask: () => Promise<{ status: number }>) => {
        const open: Promise<void>[] = [];
        while (performance.now() < until) {
          open.push(timed(times, ask));
          await new Promise((resolve) => setTimeout(resolve, EVERY_MILLISECONDS));
        }
        await Promise.all(open);
      };
      const host = new URL(place.origin).host;
      const weighing = async () => {
        while (performance.now() < until) {
          memory = Math.max(memory, residentOfTree(platform.pid));
          await new Promise((resolve) => setTimeout(resolve, 2_000));
        }
      };
      await Promise.all([
        asking(health, () => rawRequest({ port: place.port, path: '/v1/health', headers: { host } })),
        asking(apps, () => person.fetch('/v1/apps')),
        weighing(),
      ]);
      return {
        health: percentile(health, 99),
        healthMedian: median(health),
        apps: percentile(apps, 99),
        failures,
        memory: memory / 2 ** 20,
      };
    };

    const quiet = await look(QUIET_SECONDS);
    const attackers = spawn(
      process.execPath,
      [
        fileURLToPath(new URL('./attackers.ts', import.meta.url)),
        `${place.port}`,
        place.origin,
        one.cookie,
        two.cookie,
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const said = buffer(attackers.stdout);
    await backend(`/?seconds=${seconds}`);
    const beside = await look(seconds);
    attackers.stdin.end();
    process.stderr.write(`what the attacks were answered: ${(await said).toString()}\n`);
    if (beside.failures.length > 0) process.stderr.write(`the person was answered: ${beside.failures.join(', ')}\n`);
    await new Promise((resolve) => setTimeout(resolve, 1_000 * RECOVERY_SECONDS));
    const after = await look(QUIET_SECONDS);

    printRow(reported('GET /v1/health, 99th percentile, in quiet', quiet.health, 'ms'));
    printRow(
      atMost(`the same during ${seconds} s of a mixed hostile load`, beside.health, 'ms', HEALTH_P99_MILLISECONDS),
    );
    printRow(reported('its median during that load', beside.healthMedian, 'ms'));
    printRow(reported('GET /v1/apps of another account, 99th percentile, in quiet', quiet.apps, 'ms'));
    printRow(reported('the same during that load', beside.apps, 'ms'));
    printRow(atMost('requests of that account and of health that failed meanwhile', beside.failures.length, '', 0));
    printRow(atMost('most memory of the platform and its workloads meanwhile', beside.memory, 'MiB', MEMORY_MIB));
    printRow(reported('GET /v1/health, 99th percentile, one minute later', after.health, 'ms'));
    printRow(reported('memory then (before the load: next line)', after.memory, 'MiB'));
    printRow(reported('memory before', quiet.memory, 'MiB'));
  } finally {
    await platform.stop();
    await place.remove();
  }
}
