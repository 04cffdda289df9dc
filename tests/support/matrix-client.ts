// Foreign Matrix clients with encryption as processes that a test talks to: matrix-nio, and matrix-js-sdk, on which Element is
// built.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { lockedTools } from './locked-tools.ts';
import type { Synapse } from './synapse.ts';
import { until } from './wait.ts';

const NIO_CLIENT = new URL('./synapse/nio_client.py', import.meta.url).pathname;
const JS_SDK = new URL('./matrix-js-sdk/', import.meta.url).pathname;
/** What arrives passes two servers and is decrypted. */
const ARRIVES_MS = 60_000;

export interface Arrived {
  readonly event: 'invite' | 'message' | 'undecrypted' | 'ready';
  readonly room: string;
  readonly sender: string;
  readonly id: string;
  readonly body: string;
  readonly decrypted: boolean;
  /** All of it, of a client of matrix-js-sdk. */
  readonly type?: string;
  readonly content?: Readonly<Record<string, unknown>>;
  /** Of one that is `undecrypted`. */
  readonly failure?: string;
}

export interface MatrixClient {
  readonly userId: string;
  /** What arrived, in that order. */
  readonly arrived: readonly Arrived[];
  /** A command of nio_client.py, or of matrix-js-sdk/client.mjs. @throws Error where the client says that it failed */
  do(command: string, args?: object): Promise<Record<string, unknown>>;
  /** Waits for an invitation. @returns the room */
  invitedBy(userId: string): Promise<string>;
  /** Waits for a message of this text. */
  receives(body: string): Promise<Arrived>;
  close(): Promise<void>;
}

/** Whose device, at which server. */
export interface Login {
  readonly server: Synapse;
  readonly name: string;
  /** Of an account that there is already. */
  readonly isFurther?: boolean;
}

/** A device of matrix-nio. @param packages of `synapsePackages` */
export const startMatrixClient = (packages: string, server: Synapse, name: string): Promise<MatrixClient> =>
  start({ server, name }, 'python3', [NIO_CLIENT], { PYTHONPATH: packages });

/** What clients of matrix-js-sdk are made of; `null` without a package index. */
export const jsSdkTools = (): Promise<string | null> => lockedTools(JS_SDK).catch(() => null);

/** A device of matrix-js-sdk. @param tools of `jsSdkTools` */
export const startJsClient = (tools: string, login: Login): Promise<MatrixClient> =>
  start(login, process.execPath, [path.join(JS_SDK, 'client.mjs'), tools]);

async function start(
  { server, name, isFurther = false }: Login,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<MatrixClient> {
  const password = 'only-of-tests';
  if (!isFurther) await server.register(name, password);
  const folder = await mkdtemp(path.join(tmpdir(), 'matrix-client-'));
  const child = spawn(program, [...args, server.origin, `@${name}:${server.serverName}`, password, folder], {
    stdio: ['pipe', 'pipe', process.env.MATRIX_CLIENT_LOG === undefined ? 'ignore' : 'inherit'],
    env: { ...process.env, ...env },
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
