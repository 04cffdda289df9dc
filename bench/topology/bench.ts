// The topology of public names at its size: how long a snapshot takes, how soon a change is in effect at every Ingress, and
// what an Ingress takes of memory. Core has a core of the machine for itself; PostgreSQL, the Ingresses and the caller share
// the other.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { RETURNING_MEMORY } from '../../packages/cli/test-support/internals.ts';
import { rawRequest } from '../../tests/support/raw-http.ts';
import { REST_CPU, startCoreAlone } from '../core-alone.ts';
import { atMost, median, percentile, printRow, reported } from '../machine.ts';
import type { InformedIngress } from './ingress-server.ts';
import type { TopologyServer } from './server.ts';

const NAMES = 100_000;
const INGRESSES = 3;
const CHANGES = 300;

await using bench = await startCoreAlone<TopologyServer>({
  server: new URL('./server.ts', import.meta.url),
  args: [String(NAMES), String(INGRESSES)],
  postgres: 'disk',
});
await bench.separate();
const { port, origin, cookie, seeds } = bench.line;
const host = new URL(origin).host;

const compiled = await mkdtemp(join(tmpdir(), 'bench-topology-'));

async function startOne(seed: string) {
  const program = fileURLToPath(new URL('./ingress-server.ts', import.meta.url));
  const args = ['-c', String(REST_CPU), process.execPath, program, `http://127.0.0.1:${port}`, host, seed];
  const env = { ...process.env, ...RETURNING_MEMORY, NODE_COMPILE_CACHE: compiled };
  const child = spawn('taskset', args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, informed: JSON.parse(String(line)) as InformedIngress };
}

async function stop({ child }: Awaited<ReturnType<typeof startOne>>): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

const started: Awaited<ReturnType<typeof startOne>>[] = [];
try {
  // Leaves behind what is compiled, as the first start of a platform does.
  await stop(await startOne(seeds[0] ?? ''));
  for (const seed of seeds) started.push(await startOne(seed));
  const informed = started.map((one) => one.informed);
  const snapshot = median(informed.map(({ milliseconds }) => milliseconds)) / 1_000;
  printRow(atMost('topology of 100,000 names: start of an Ingress until it serves all of them', snapshot, 's', 3));
  const memory = Math.max(...informed.map(({ residentMiB }) => residentMiB));
  printRow(atMost('topology of 100,000 names: resident memory of the Ingress', memory, 'MiB', 150));
  const heap = Math.max(...informed.map(({ heapMiB }) => heapMiB));
  printRow(reported('the same: of it in use by JavaScript', heap, 'MiB'));

  const times: number[] = [];
  for (let index = 0; index < CHANGES; index += 1) {
    const resources = index % 2 === 0 ? ['GET:/*'] : ['GET:/*', 'POST:/hooks/*'];
    const body = JSON.stringify({ permissions: [{ id: 'endpoints.public', resources }] });
    const begun = performance.now();
    const answer = await rawRequest({
      port,
      method: 'PUT',
      path: '/v1/apps/changing/permissions',
      headers: { host, origin, cookie, 'content-type': 'application/json' },
      body,
    });
    times.push(performance.now() - begun);
    if (answer.status !== 200) throw new Error(answer.text);
  }
  // Answered when every Ingress has confirmed it, so this is more than the way to them.
  const slowest = percentile(times, 99);
  printRow(atMost('new permissions, in effect at 3 Ingresses with 100,000 names: p99', slowest, 'ms', 100));
  printRow(reported('the same: median', median(times), 'ms'));
} finally {
  await Promise.all(started.map(stop));
  await rm(compiled, { recursive: true });
}
