// Runs test files under node's test runner, each in a process of its own, in the order given. `scripts/run-tests.ts`
// starts this in a process group of its own; the last lines say what was slow.
import { closeSync, openSync, rmSync } from 'node:fs';
import * as path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { readUsages, recordDurations, slowestTable } from './durations.ts';
import { readAllowedSkips, type Skip, skipsNotAllowed } from './skips.ts';
import { USAGE_FILE } from './usage.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface RunRequest {
  /** From the root of the checkout. */
  readonly files: readonly string[];
  /** Files at a time. */
  readonly concurrency: number;
  /** Options of `node --test` for the files, such as `--test-name-pattern=…`. */
  readonly options: readonly string[];
  /** Milliseconds for one test that names no limit of its own. */
  readonly testLimit: number;
  /** Whether what the files took becomes the record. */
  readonly record: boolean;
  /** Whether a skipped test that is not on the list of allowed skips fails the run. */
  readonly judgeSkips: boolean;
  /** A path where nothing is yet, for what the files write of their usage. */
  readonly usageFile: string;
}

export async function runFiles(request: RunRequest): Promise<boolean> {
  closeSync(openSync(request.usageFile, 'a'));
  process.env[USAGE_FILE] = request.usageFile;
  const usage = new URL('usage.ts', import.meta.url).href;
  const events = run({
    files: request.files.map((file) => path.join(root, file)),
    concurrency: request.concurrency,
    execArgv: [`--import=${usage}`, `--test-timeout=${request.testLimit}`, ...request.options],
    cwd: root,
  });
  let passed = true;
  const skips: Skip[] = [];
  events.on('test:fail', ({ todo }) => {
    if (todo === undefined || todo === false) passed = false;
  });
  events.on('test:pass', (event) => {
    if (event.skip === undefined || event.skip === false) return;
    // The file that node ran; `file` is where the test is declared, which may be a suite that several files share.
    const entry = 'entryFile' in event && typeof event.entryFile === 'string' ? event.entryFile : (event.file ?? '');
    skips.push({ file: path.relative(root, entry), test: event.name, said: event.skip });
  });
  const report = events.compose(spec());
  report.pipe(process.stdout, { end: false });
  await new Promise((resolve, reject) => report.once('end', resolve).once('error', reject));

  const usages = readUsages(request.usageFile, root);
  rmSync(request.usageFile);
  if (usages.length > 1) process.stdout.write(`\n${slowestTable(usages)}\n`);
  if (request.record) recordDurations(usages);
  const strangers = request.judgeSkips
    ? skipsNotAllowed(skips, readAllowedSkips(), process.getuid?.() === 0 ? 'root' : 'ordinary user')
    : [];
  for (const { file, test, said } of strangers)
    process.stdout.write(
      `Skipped, which tests/allowed-skips.json does not allow: ${file}: ${test}${said === true ? '' : ` (${said})`}\n`,
    );
  return passed && strangers.length === 0;
}

if (import.meta.main) {
  const request: RunRequest = JSON.parse(process.argv[2] ?? '');
  process.exitCode = (await runFiles(request)) ? 0 : 1;
}
