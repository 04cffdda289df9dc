// How long others wait for their answers while slowhttptest holds an Ingress with slow heads, slow bodies and slow reading.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { atMost, percentile, printRow, reported } from '../machine.ts';

export interface SlowClientsOptions {
  readonly port: number;
  readonly hostname: string;
  /** Answers with more than a reader takes at once. */
  readonly largePath: string;
}

const SECONDS = 12;
const CONNECTIONS = 400;
const PER_SECOND = 50;
/** slowhttptest comes from 127.0.0.1; the others are somebody else. */
const OTHERS = '127.0.0.2';

const kinds = [
  { name: 'slow heads', args: ['-H', '-i', '2'] },
  { name: 'slow bodies', args: ['-B', '-i', '2', '-s', '8192'] },
  { name: 'slow reading', args: ['-X', '-w', '16', '-y', '64', '-n', '2', '-z', '16', '-k', '3'] },
] as const;

export async function compareSlowClients(options: SlowClientsOptions): Promise<void> {
  const quiet = percentile(await askFor(options, SECONDS), 99);
  printRow(reported(`GET of others, ${PER_SECOND} a second on new connections, p99`, quiet, 'ms'));
  for (const { name, args } of kinds) {
    const attack = startSlowClients(options, [...args, ...(name === 'slow reading' ? [options.largePath] : ['/feed'])]);
    const during = await askFor(options, SECONDS);
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

function startSlowClients({ port, hostname }: SlowClientsOptions, args: readonly string[]) {
  const path = args.at(-1) ?? '/';
  const child = spawn(
    'slowhttptest',
    [
      ...[...args.slice(0, -1), '-c', String(CONNECTIONS), '-r', '200', '-l', String(SECONDS + 5), '-v', '0'],
      // The name resolves nowhere: as through a proxy, in absolute form.
      ...['-u', `http://${hostname}${path}`, '-d', `127.0.0.1:${port}`],
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
async function askFor({ port, hostname }: SlowClientsOptions, seconds: number): Promise<number[]> {
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
    const request = http.get({ ...place, headers: { host: hostname } });
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    await once(answer.resume(), 'end');
    if (answer.statusCode !== 200) throw new Error(`another client was answered with ${answer.statusCode}`);
    times.push(performance.now() - began);
  }
}
