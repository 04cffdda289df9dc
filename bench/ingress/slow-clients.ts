// How long others wait for their answers while slowhttptest holds an Ingress with slow heads, slow bodies and slow reading.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { join } from 'node:path';
import { startNginx } from '../gateway/processes.ts';
import { atMost, percentile, printRow, reported } from '../machine.ts';
import { ANSWER, type Bed, LOAD_CORE, NAME } from './bed.ts';

export interface SlowClientsOptions {
  readonly seconds: number;
}

interface Attacked {
  readonly port: number;
  readonly seconds: number;
}

const CONNECTIONS = 400;
const PER_SECOND = 50;
/** slowhttptest comes from 127.0.0.1; the others are somebody else. */
const OTHERS = '127.0.0.2';

const kinds = [
  { name: 'slow heads', args: ['-H', '-i', '2'] },
  { name: 'slow bodies', args: ['-B', '-i', '2', '-s', '8192'] },
  { name: 'slow reading', args: ['-X', '-w', '16', '-y', '64', '-n', '2', '-z', '16', '-k', '3'] },
] as const;

/** Answers with more than a reader takes at once. */
const LARGE_PATH = '/large';
const LARGE_BYTES = 4 * 1_024 * 1_024;

export async function compareSlowClients(bed: Bed, { seconds }: SlowClientsOptions): Promise<void> {
  const workload = join(bed.folder, 'slow.sock');
  await bed.write(LARGE_PATH, 'x'.repeat(LARGE_BYTES));
  await bed.keep(
    startNginx(bed.folder, 'slow', LOAD_CORE, {
      server: `listen unix:${workload}; location = ${LARGE_PATH} { root ${bed.folder}; }
               location / { default_type application/json; return 200 '${ANSWER}'; }`,
    }),
  );
  // Without a proxy: each client has its own address, and its own limits.
  const { ingress } = await bed.startWay({ workload, behindProxy: false });
  const attacked = { port: ingress.port, seconds };
  const quiet = percentile(await askFor(attacked), 99);
  printRow(reported(`GET of others, ${PER_SECOND} a second on new connections, p99`, quiet, 'ms'));
  for (const { name, args } of kinds) {
    const attack = startSlowClients(attacked, args, name === 'slow reading' ? LARGE_PATH : '/feed');
    const during = await askFor(attacked);
    await attack.stop();
    printRow(
      atMost(
        `the same beside ${CONNECTIONS} connections with ${name}, to that`,
        percentile(during, 99) / quiet,
        '×',
        2,
      ),
    );
  }
}

function startSlowClients({ port, seconds }: Attacked, args: readonly string[], path: string) {
  const child = spawn(
    'slowhttptest',
    [
      ...[...args, '-c', String(CONNECTIONS), '-r', '200', '-l', String(seconds + 5), '-v', '0'],
      // The name resolves nowhere: as through a proxy, in absolute form.
      ...['-u', `http://${NAME}${path}`, '-d', `127.0.0.1:${port}`],
    ],
    { stdio: 'ignore' },
  );
  const exited = once(child, 'exit');
  return {
    async stop() {
      child.kill();
      await exited;
    },
  };
}

/** @returns milliseconds of each request; throws where one was not answered with 200 */
async function askFor({ port, seconds }: Attacked): Promise<number[]> {
  const times: number[] = [];
  const asked: Promise<void>[] = [];
  const total = PER_SECOND * seconds;
  const started = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, ((performance.now() - started) / 1_000) * PER_SECOND);
      while (asked.length < due) asked.push(ask());
      if (asked.length < total) return;
      clearInterval(timer);
      resolve();
    }, 5);
  });
  await Promise.all(asked);
  return times;

  async function ask(): Promise<void> {
    const began = performance.now();
    const place = { host: '127.0.0.1', port, path: '/feed', localAddress: OTHERS, agent: false };
    const request = http.get({ ...place, headers: { host: NAME } });
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    await once(answer.resume(), 'end');
    if (answer.statusCode !== 200) throw new Error(`another client was answered with ${answer.statusCode}`);
    times.push(performance.now() - began);
  }
}
