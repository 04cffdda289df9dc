// A foreign Matrix client with encryption, matrix-nio, as a process that a test talks to.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import type { Synapse } from './synapse.ts';
import { until } from './wait.ts';

const PROGRAM = new URL('./synapse/nio_client.py', import.meta.url).pathname;
/** What arrives passes two servers and is decrypted. */
const ARRIVES_MS = 60_000;

export interface Arrived {
  readonly event: 'invite' | 'message' | 'undecrypted' | 'ready';
  readonly room: string;
  readonly sender: string;
  readonly id: string;
  readonly body: string;
  readonly decrypted: boolean;
}

export interface MatrixClient {
  readonly userId: string;
  /** What arrived, in that order. */
  readonly arrived: readonly Arrived[];
  /** A command of nio_client.py. @throws Error where the client says that it failed */
  do(command: string, args?: object): Promise<Record<string, unknown>>;
  /** Waits for an invitation. @returns the room */
  invitedBy(userId: string): Promise<string>;
  /** Waits for a message of this text. */
  receives(body: string): Promise<Arrived>;
  close(): Promise<void>;
}

/** Registers an account and logs in, with a new device. */
export async function startMatrixClient(packages: string, server: Synapse, name: string): Promise<MatrixClient> {
  const password = 'only-of-tests';
  await server.register(name, password);
  const folder = await mkdtemp(path.join(tmpdir(), 'nio-'));
  const child = spawn('python3', [PROGRAM, server.origin, `@${name}:${server.serverName}`, password, folder], {
    stdio: ['pipe', 'pipe', process.env.NIO_LOG === undefined ? 'ignore' : 'inherit'],
    env: { ...process.env, PYTHONPATH: packages },
  });
  const arrived: Arrived[] = [];
  const answers = new Map<number, (answer: Record<string, unknown>) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as Record<string, unknown>;
    if (typeof said.id === 'number') answers.get(said.id)?.(said);
    else arrived.push(said as unknown as Arrived);
  });
  const find = (what: string, matches: (one: Arrived) => boolean) =>
    until(
      what,
      () => {
        if (child.exitCode !== null) throw new Error(`The Matrix client of ${name} ended.`);
        return arrived.find(matches);
      },
      ARRIVES_MS,
    );
  await find('the login of a Matrix client', ({ event }) => event === 'ready');
  let count = 0;
  return {
    userId: `@${name}:${server.serverName}`,
    arrived,
    async do(command, args = {}) {
      count += 1;
      const id = count;
      const answered = new Promise<Record<string, unknown>>((resolve) => answers.set(id, resolve));
      child.stdin.write(`${JSON.stringify({ id, command, ...args })}\n`);
      const answer = await answered;
      if (typeof answer.error === 'string') throw new Error(`${command}: ${answer.error}`);
      return answer;
    },
    invitedBy: async (userId) =>
      (await find(`an invitation of ${userId}`, ({ event, sender }) => event === 'invite' && sender === userId)).room,
    receives: (body) => find(`the message ${body}`, (one) => one.event === 'message' && one.body === body),
    async close() {
      if (child.exitCode === null) {
        child.stdin.end();
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
