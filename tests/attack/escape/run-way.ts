// Carries out one attempt against a workload that listens to us, and says what came of it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Kit, Probe } from '../../../packages/runtime/test-support/conformance/subject.ts';
import { createLogIntake, openLogStore } from '../../../packages/runtime/test-support/internals.ts';
import { type Call, programOf, readOutput } from './machine-code.ts';
import { isThrough, type SeenAnswer, type SeenLine, type SeenRequest, type Targets, type Way } from './way.ts';

/** The hostile workload, or the same code where no wall stands. */
export interface Hostile {
  run<Arguments extends readonly unknown[], Value>(probe: Probe<Arguments, Value>, ...args: Arguments): Promise<Value>;
  /** One request of a caller, with the answer as the caller gets it. */
  call(path: string): Promise<SeenAnswer>;
  output(): string;
}

export interface Field {
  readonly hostile: Hostile;
  readonly targets: Targets;
  /** What core has been asked, oldest first. */
  readonly core: readonly SeenRequest[];
  /** Where requests to the Gateway go; at core itself in a control. */
  readonly gateway: { readonly host: string; readonly port: number };
  /** Whether lines pass through the log before they are judged. */
  readonly log: 'stored' | 'raw';
}

export interface Outcome {
  readonly through: boolean;
  readonly detail: string;
}

export async function runWay(way: Way, field: Field): Promise<Outcome> {
  const { attempt } = way;
  const { hostile, targets } = field;
  switch (attempt.kind) {
    case 'code': {
      const detail = await hostile.run(attempt.inside as Probe<[Targets], string>, targets);
      return { through: detail.startsWith('through'), detail };
    }
    case 'calls': {
      const calls = attempt.calls(targets);
      const output = await execute(hostile, calls);
      if (output === undefined) return { through: false, detail: 'the program was ended' };
      const through = (attempt.through ?? isThrough)(output, targets);
      return { through, detail: `${output.last} [${output.results.join(' ')}]` };
    }
    case 'request': {
      const before = field.core.length;
      const { host, port } = field.gateway;
      const bytes = Buffer.from(attempt.bytes(targets), 'latin1').toString('base64');
      const answer = await hostile.run(
        ({ exchange }: Kit, ...args: [string, number, string]) => exchange(...args),
        host,
        port,
        bytes,
      );
      const seen = field.core.slice(before);
      const reached = seen.find((one) => attempt.reaches(one, targets));
      return { through: reached !== undefined, detail: reached?.target ?? answer.split('\r\n')[0] ?? '' };
    }
    case 'answer': {
      await hostile.run(({ answerRaw }: Kit, raw: string) => answerRaw(raw), attempt.bytes);
      const answers = [await hostile.call('/raw'), await hostile.call('/raw')];
      const fooled = answers.some((answer) => attempt.fools(answer));
      return { through: fooled, detail: answers.map(({ status }) => status).join(' ') };
    }
    case 'print': {
      const before = hostile.output().length;
      await hostile.run((_kit, text: string) => void process.stdout.write(`${text}end-of-attempt\n`), attempt.bytes);
      const raw = await linesAfter(hostile, before);
      const lines = field.log === 'raw' ? raw.map((line) => ({ stream: 'stdout', line })) : await stored(raw);
      return { through: attempt.fools(lines), detail: JSON.stringify(lines) };
    }
  }
}

/**
 * All requests to the Gateway at once, each on a connection of its own: for those that core has not noticed, waiting
 * for silence after each alone would be most of the time. Gives the names of the ways that core may have noticed.
 */
export async function requestsThatReach(ways: readonly Way[], field: Field): Promise<ReadonlySet<string>> {
  const { hostile, targets, core } = field;
  const { host, port } = field.gateway;
  const attempts = ways.flatMap(({ name, attempt }) => (attempt.kind === 'request' ? [{ name, attempt }] : []));
  const messages = attempts.map(({ attempt }) => Buffer.from(attempt.bytes(targets), 'latin1').toString('base64'));
  const before = core.length;
  await hostile.run(
    async ({ exchange }: Kit, ...[to, at, all]: [string, number, string[]]) => {
      await Promise.all(all.map((bytes) => exchange(to, at, bytes, 1_000)));
    },
    host,
    port,
    messages,
  );
  const seen = core.slice(before);
  // Some of them are good requests with something added: where none arrives, nothing was tried.
  if (seen.length === 0) throw new Error('No request reached core, not even those that may.');
  const reached = attempts.filter(({ attempt }) => seen.some((one) => attempt.reaches(one, targets)));
  return new Set(reached.map(({ name }) => name));
}

export async function execute(hostile: Hostile, calls: readonly Call[]) {
  const output = await hostile.run(({ execute: run }: Kit, program: string) => run(program), programOf(calls));
  return readOutput(calls, output);
}

async function linesAfter(hostile: Hostile, before: number): Promise<string[]> {
  const end = Date.now() + 20_000;
  while (!hostile.output().slice(before).includes('end-of-attempt\n')) {
    if (Date.now() > end) throw new Error('The line never came.');
    await new Promise((resolve) => setImmediate(resolve));
  }
  return hostile.output().slice(before).split('\n');
}

/** The lines as the log of an installation keeps them. */
async function stored(lines: readonly string[]): Promise<SeenLine[]> {
  const folder = mkdtempSync(join(tmpdir(), 'pt-escape-'));
  const silent = () => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const clock = { now: () => new Date(), elapsed: () => 0, after: () => silent };
  const store = openLogStore(folder, clock, log);
  const intake = createLogIntake(store.writer('hostile'));
  const stream = new PassThrough();
  intake.take(stream, 'stdout');
  stream.end(lines.join('\n'));
  await intake.ended();
  const { items } = await store.read('hostile', { limit: 100 });
  rmSync(folder, { recursive: true });
  return items;
}
