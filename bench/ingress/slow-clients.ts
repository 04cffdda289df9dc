// How long others wait for their answers while slowhttptest holds an Ingress with slow heads, slow bodies and slow reading.
// Runs in a network of its own (startSlowClientsBench), where clients have addresses of strangers: the loopback interface
// would count as a proxy. Argument: for how many seconds each is measured.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { join } from 'node:path';
import { startNginx } from '../gateway/processes.ts';
import { atMost, percentile, printRow, reported } from '../machine.ts';
import { ANSWER, Bed, LOAD_CORE, NAME } from './bed.ts';

const CONNECTIONS = 400;
const CONNECTIONS_PER_SECOND = 200;
/** In which they connect, and are refused what they ask beyond their share. */
const BEGIN_SECONDS = 4;
const ASKED_PER_SECOND = 50;
/** The Ingress listens here; from here comes slowhttptest as well. */
const ATTACKERS = '192.0.2.1';
const OTHERS = '198.51.100.1';
/** Answers with more than a reader takes at once. */
const LARGE_PATH = '/large';
const LARGE_BYTES = 4 * 1_024 * 1_024;

const kinds = [
  { name: 'slow heads', path: '/feed', args: ['-H', '-i', '2'] },
  { name: 'slow bodies', path: '/feed', args: ['-B', '-i', '2', '-s', '8192'] },
  {
    name: 'slow reading',
    path: LARGE_PATH,
    args: ['-X', '-w', '16', '-y', '64', '-n', '2', '-z', '16', '-k', '3'],
  },
] as const;

/** Runs this file in a network of its own. Needs root. */
export async function startSlowClientsBench(seconds: number): Promise<void> {
  const addresses = [ATTACKERS, OTHERS].map((address) => `ip address add ${address}/32 dev lo`);
  const script = ['ip link set lo up', ...addresses, 'exec "$@"'].join('; ');
  const args = ['--net', 'sh', '-euc', script, 'sh', process.execPath, import.meta.filename, String(seconds)];
  const child = spawn('unshare', args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('The part with slow clients failed. It needs root, unshare and ip.');
}

async function compareSlowClients(bed: Bed, seconds: number): Promise<void> {
  const workload = join(bed.folder, 'slow.sock');
  await bed.write(LARGE_PATH, 'x'.repeat(LARGE_BYTES));
  await bed.keep(
    startNginx(bed.folder, 'slow', LOAD_CORE, {
      server: `listen unix:${workload}; location = ${LARGE_PATH} { root ${bed.folder}; }
               location / { default_type application/json; return 200 '${ANSWER}'; }`,
    }),
  );
  const { ingress } = await bed.startWay({ workload, behindProxy: false, host: ATTACKERS });
  const { port } = ingress;
  // Until it is compiled.
  await askFor(port, BEGIN_SECONDS);
  const quiet = (await askFor(port, seconds)).p99;
  printRow(reported(`GET of others, ${ASKED_PER_SECOND} a second on new connections, p99`, quiet, 'ms'));
  for (const { name, path, args } of kinds) {
    const attack = startSlowClients(port, [...args, '-l', String(BEGIN_SECONDS + seconds + 5)], path);
    const begin = await askFor(port, BEGIN_SECONDS);
    const during = await askFor(port, seconds);
    await attack.stop();
    printRow(atMost(`the same beside ${CONNECTIONS} connections with ${name}, to that`, during.p99 / quiet, '×', 2));
    printRow(reported('the same while they connect', begin.p99 / quiet, '×'));
    printRow(reported('of the others, refused', begin.refused + during.refused, 'requests'));
  }
}

function startSlowClients(port: number, args: readonly string[], path: string) {
  const child = spawn(
    'slowhttptest',
    [
      ...[...args, '-c', String(CONNECTIONS), '-r', String(CONNECTIONS_PER_SECOND), '-v', '0'],
      // The name resolves nowhere: as through a proxy, in absolute form.
      ...['-u', `http://${NAME}${path}`, '-d', `${ATTACKERS}:${port}`],
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

/** @returns milliseconds; and how many requests got another answer than 200 */
async function askFor(port: number, seconds: number): Promise<{ readonly p99: number; readonly refused: number }> {
  const times: number[] = [];
  let refused = 0;
  const asked: Promise<void>[] = [];
  const total = ASKED_PER_SECOND * seconds;
  const started = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, ((performance.now() - started) / 1_000) * ASKED_PER_SECOND);
      while (asked.length < due) asked.push(ask());
      if (asked.length < total) return;
      clearInterval(timer);
      resolve();
    }, 5);
  });
  await Promise.all(asked);
  return { p99: percentile(times, 99), refused };

  async function ask(): Promise<void> {
    const began = performance.now();
    const place = { host: ATTACKERS, port, path: '/feed', localAddress: OTHERS, agent: false };
    const request = http.get({ ...place, headers: { host: NAME } });
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    await once(answer.resume(), 'end');
    if (answer.statusCode !== 200) refused += 1;
    times.push(performance.now() - began);
  }
}

if (import.meta.main) {
  await using bed = await Bed.make();
  await compareSlowClients(bed, Number(process.argv[2]));
}
