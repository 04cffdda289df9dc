// Runs test files under node's test runner, each in a process of its own, in the order given. `scripts/run-tests.ts`
// starts this in a process group of its own; the last lines say what was slow.
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { readUsages, recordDurations, slowestTable } from './durations.ts';
import { readAllowedSkips, type Skip, skipsNotAllowed } from './skips.ts';
import { USAGE_FILE } from './usage.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Batch {
  /** From the root of the checkout. */
  readonly files: readonly string[];
  /** Files at a time. */
  readonly concurrency: number;
}

export interface RunRequest {
  /** One after the other. */
  readonly batches: readonly Batch[];
  /** Options of `node --test` for the files, such as `--test-name-pattern=…`. */
  readonly options: readonly string[];
  /** Milliseconds for one test that names no limit of its own. */
  readonly testLimit: number;
  /** Files in which what the test files took is recorded. */
  readonly record: readonly string[];
  /** Whether a skipped test that is not on the list of allowed skips fails the run. */
  readonly judgeSkips: boolean;
  /** Whether files that failed run once more, alone, and pass the run when they pass then; both is reported. */
  readonly again: boolean;
  /** Lines for the end of the output: what the run did not try. */
  readonly leftOut: readonly string[];
  /** A file for those, and for the files that passed alone only. */
  readonly endFile?: string | undefined;
  /** A path where nothing is yet, for what the files write of their usage. */
  readonly usageFile: string;
}

/** Of the first account of a failure. */
const FAILURE_CHARACTERS = 2_000;

/** More that fail are no matter of what ran beside them. */
const MOST_AGAIN = 4;

export async function runFiles(request: RunRequest): Promise<boolean> {
  closeSync(openSync(request.usageFile, 'a'));
  process.env[USAGE_FILE] = request.usageFile;
  const skips: Skip[] = [];
  let failed = await runBatches(request.batches, request, skips);
  let passedAlone: string[] = [];
  if (request.again && failed.size > 0 && failed.size <= MOST_AGAIN) {
    const files = [...failed];
    say(['', `Once more, alone: ${files.join(', ')}`, '']);
    failed = await runBatches([{ files, concurrency: 1 }], request, skips);
    passedAlone = files.filter((one) => !failed.has(one));
  }

  const usages = readUsages(request.usageFile, root);
  rmSync(request.usageFile);
  if (usages.length > 1) say(['', slowestTable(usages)]);
  for (const record of request.record) recordDurations(record, usages);
  if (request.leftOut.length > 0) say(['', ...request.leftOut]);
  const strangers = request.judgeSkips
    ? skipsNotAllowed(skips, readAllowedSkips(), process.getuid?.() === 0 ? 'root' : 'ordinary user')
    : [];
  say(
    strangers.map(
      ({ file, test, said }) =>
        `Skipped, which tests/allowed-skips.json does not allow: ${file}: ${test}${said === true ? '' : ` (${said})`}`,
    ),
  );
  // Last of all, since the run may pass.
  const faults = passedAlone.map((file) => `Failed beside others and passed alone, as no test should: ${file}`);
  say(faults);
  if (request.endFile !== undefined)
    writeFileSync(request.endFile, [...request.leftOut, ...faults].map((line) => `${line}\n`).join(''));
  return failed.size === 0 && strangers.length === 0;
}

function say(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** Adds what was skipped to `skips`. Resolves with the files that failed, from the root of the checkout. */
async function runBatches(
  batches: readonly Batch[],
  { testLimit, options }: RunRequest,
  skips: Skip[],
): Promise<Set<string>> {
  const usage = new URL('usage.ts', import.meta.url).href;
  const failed = new Set<string>();
  const start = ({ files, concurrency }: Batch) => {
    const events = run({
      files: files.map((file) => path.join(root, file)),
      concurrency,
      execArgv: [`--import=${usage}`, `--test-timeout=${testLimit}`, ...options],
      cwd: root,
    });
    events.on('test:fail', (event) => {
      if (event.todo !== undefined && event.todo !== false) return;
      const file = fileOf(event);
      failed.add(file);
      // At once, since a run that somebody stops has no end; the report tells the whole there.
      say([`Failed in ${file}: ${event.name}`, inspect(event.details.error.cause).slice(0, FAILURE_CHARACTERS)]);
    });
    events.on('test:pass', (event) => {
      if (event.skip === undefined || event.skip === false) return;
      skips.push({ file: fileOf(event), test: event.name, said: event.skip });
    });
    return events;
  };
  // One report of all, so that what failed is named at its end.
  const report = Readable.from(eventsOf(batches, start)).compose(spec());
  report.pipe(process.stdout, { end: false });
  await new Promise((resolve, reject) => report.once('end', resolve).once('error', reject));
  return failed;
}

/** The file that node ran; `file` is where the test is declared, which may be a suite that several files share. */
function fileOf(event: { readonly name: string; readonly file?: string }): string {
  const entry = 'entryFile' in event && typeof event.entryFile === 'string' ? event.entryFile : event.file;
  return path.relative(root, entry ?? event.name);
}

/** The counts at the end of each batch, of which the report shows the sums. */
const COUNT = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/;

async function* eventsOf(
  batches: readonly Batch[],
  start: (batch: Batch) => ReturnType<typeof run>,
): AsyncGenerator<TestEvent> {
  const sums = new Map<string, number>();
  let last: TestEvent | undefined;
  for (const batch of batches.filter(({ files }) => files.length > 0)) {
    for await (const event of start(batch)) {
      const [, name, count] = (event.type === 'test:diagnostic' && COUNT.exec(event.data.message)) || [];
      if (name === undefined) yield event;
      else {
        last = event;
        sums.set(name, (sums.get(name) ?? 0) + Number(count));
      }
    }
  }
  if (last?.type !== 'test:diagnostic') return;
  for (const [name, sum] of sums) yield { ...last, data: { ...last.data, message: `${name} ${sum}` } };
}

if (import.meta.main) {
  const request: RunRequest = JSON.parse(process.argv[2] ?? '');
  process.exitCode = (await runFiles(request)) ? 0 : 1;
}
