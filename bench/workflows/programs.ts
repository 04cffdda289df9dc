// Programs that the bench starts, each in a process of its own, and orders to measure something.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { GatewayPlace } from '../../tests/support/app-gateway.ts';

/** What core says of itself. */
export interface WorkflowServer {
  readonly port: number;
  readonly place: GatewayPlace;
  readonly databaseUrl: string;
}

/** What a Gateway says of itself. */
export interface WorkflowGateway {
  readonly port: number;
  /** Of its workload. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Runs of three steps each, so many of them at a time. */
export interface RunsOrder {
  readonly runs: number;
  readonly atOnce: number;
}

export interface Program<Order, Answer> {
  readonly pid: number;
  ask(order: Order): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts a script of this folder, which calls `serveOrders`. */
export async function startProgram<Order, Answer>(
  script: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Program<Order, Answer>> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url)), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  async function read(): Promise<string> {
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`${script} ended.`);
    return value;
  }
  await read();
  if (child.pid === undefined) throw new Error(`${script} was not started.`);
  return {
    pid: child.pid,
    async ask(order) {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      return JSON.parse(await read());
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    },
  };
}

/** Says that the program is ready, and answers its orders one after the other until there are no more. */
export async function serveOrders<Order, Answer>(answer: (order: Order) => Promise<Answer>): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  process.stdout.write('ready\n');
  for await (const line of lines) process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}

/** @returns seconds until the last one has ended */
export async function timed({ runs, atOnce }: RunsOrder, run: (number: number) => Promise<void>): Promise<number> {
  let begun = 0;
  const started = performance.now();
  async function work(): Promise<void> {
    while (begun < runs) {
      begun += 1;
      await run(begun);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work));
  return (performance.now() - started) / 1_000;
}
